"""Convolutions of many nets as batched matrix products: patches become rows, each net's filters a matrix.

A grouped convolution of a GPU library reaches a few percent of what the card does in matrix products. Written as such, with the channels last in memory so
that patches are copied in whole lines, the same layer is bound by the memory that its patches take, not by the arithmetic.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["as_products", "convolve_by_products"]

Pair = tuple[int, int]


def as_products(layer: nn.Module) -> bool:
    """Say whether a layer has a form as matrix products here: two dimensions, no dilation, padding by a number, filters over all channels."""
    return (
        isinstance(layer, nn.Conv2d)
        and layer.groups == 1
        and layer.dilation == (1, 1)
        and not isinstance(layer.padding, str)
    )


def convolve_by_products(x: Tensor, weight: Tensor, bias: Tensor | None, stride: Pair, padding: Pair) -> Tensor:
    """Return (S, B, O, H', W') from images (S, B, C, H, W), filters (S, O, C, h, w) and biases (S, O), channels last in memory.

    Examples
    --------
    >>> x, w = torch.ones(2, 1, 1, 3, 3), torch.ones(2, 1, 1, 3, 3) * torch.tensor([1.0, 2.0])[:, None, None, None, None]
    >>> convolve_by_products(x, w, None, (1, 1), (0, 0)).flatten().tolist()
    [9.0, 18.0]
    """
    out: Tensor = _Products.apply(x, weight, bias, tuple(stride), tuple(padding))  # type: ignore[no-untyped-call]
    return out


def _patches(x: Tensor, kernel: Pair, stride: Pair, padding: Pair) -> tuple[Tensor, Pair]:
    """Return rows (S, B * H' * W', h * w * C), one per place of the filter, and (H', W')."""
    nets, batch = x.shape[:2]
    lines = x.permute(0, 1, 3, 4, 2).flatten(0, 1)
    if padding != (0, 0):
        lines = F.pad(lines, (0, 0, padding[1], padding[1], padding[0], padding[0]))
    views = lines.unfold(1, kernel[0], stride[0]).unfold(2, kernel[1], stride[1]).permute(0, 1, 2, 4, 5, 3)
    size = (views.shape[1], views.shape[2])
    return views.reshape(nets, batch * size[0] * size[1], -1), size


class _Products(torch.autograd.Function):
    """The convolution and its derivative; patches are kept between the two."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Pair, padding: Pair) -> Tensor:
        kernel = (weight.shape[3], weight.shape[4])
        rows, size = _patches(x, kernel, stride, padding)
        matrix = weight.permute(0, 3, 4, 2, 1).flatten(1, 3)
        out = torch.bmm(rows, matrix) if bias is None else torch.baddbmm(bias.unsqueeze(1), rows, matrix)
        ctx.save_for_backward(rows, weight)
        ctx.geometry = (x.shape, kernel, stride, padding, bias is not None)
        return out.unflatten(1, (x.shape[1], *size)).permute(0, 1, 4, 2, 3)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        grad = grads[0]
        rows, weight = ctx.saved_tensors
        shape, kernel, stride, padding, biased = ctx.geometry
        flat = grad.permute(0, 1, 3, 4, 2).flatten(1, 3)
        of_weight = torch.bmm(rows.transpose(1, 2), flat).unflatten(1, (*kernel, shape[2])).permute(0, 4, 3, 1, 2)
        of_x = None
        if ctx.needs_input_grad[0]:
            close = stride == (1, 1) and all(p < k for p, k in zip(padding, kernel))
            of_x = _turned(grad, weight, padding) if close else _scattered(flat, weight, shape, stride, padding)
        return of_x, of_weight.contiguous(), flat.sum(1) if biased else None, None, None


def _turned(grad: Tensor, weight: Tensor, padding: Pair) -> Tensor:
    """Return the derivative in the images where the step is 1: a convolution of the gradient with the filters turned round."""
    kernel = (weight.shape[3], weight.shape[4])
    rows, size = _patches(grad, kernel, (1, 1), (kernel[0] - 1 - padding[0], kernel[1] - 1 - padding[1]))
    matrix = weight.flip(3, 4).permute(0, 3, 4, 1, 2).flatten(1, 3)
    return torch.bmm(rows, matrix).unflatten(1, (grad.shape[1], *size)).permute(0, 1, 4, 2, 3)


def _scattered(flat: Tensor, weight: Tensor, shape: torch.Size, stride: Pair, padding: Pair) -> Tensor:
    """Return the derivative in the images by adding each filter place to the pixels it has read."""
    nets, batch, channels, height, width = shape
    h, w = weight.shape[3], weight.shape[4]
    high, wide = height + 2 * padding[0], width + 2 * padding[1]
    size = ((high - h) // stride[0] + 1, (wide - w) // stride[1] + 1)
    matrix = weight.permute(0, 3, 4, 2, 1).flatten(1, 3)
    parts = torch.bmm(flat, matrix.transpose(1, 2)).unflatten(1, (batch, *size)).unflatten(-1, (h, w, channels))
    whole = flat.new_zeros(nets, batch, high, wide, channels)
    for i in range(h):
        for j in range(w):
            down, across = slice(i, i + stride[0] * size[0], stride[0]), slice(j, j + stride[1] * size[1], stride[1])
            whole[:, :, down, across] += parts[:, :, :, :, i, j]
    inner = whole[:, :, padding[0] : padding[0] + height, padding[1] : padding[1] + width]
    return inner.permute(0, 1, 4, 2, 3)
