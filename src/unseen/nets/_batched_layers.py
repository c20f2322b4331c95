"""Layers of many nets at once: grouped convolution, batched matrix product, masked batch normalisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unseen.nets._layers import SeededDropout
from unseen.nets._values import GROUPED, SHARED, STACKED, Unbatchable, Value

__all__ = ["Run", "layer_of"]

CONVOLUTIONS = {nn.Conv1d: F.conv1d, nn.Conv2d: F.conv2d, nn.Conv3d: F.conv3d}
POOLS = (
    nn.MaxPool1d, nn.MaxPool2d, nn.AvgPool1d, nn.AvgPool2d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d,
    nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.ZeroPad2d, nn.Upsample,
)  # fmt: skip
ELEMENTWISE = (
    nn.ReLU, nn.ReLU6, nn.Tanh, nn.Sigmoid, nn.GELU, nn.SiLU, nn.ELU, nn.SELU, nn.CELU, nn.LeakyReLU, nn.Softplus,
    nn.Softsign, nn.Hardtanh, nn.Hardsigmoid, nn.Hardswish, nn.Mish, nn.LogSigmoid, nn.Identity,
)  # fmt: skip


@dataclass
class Run:
    """One pass: weights of all nets, whether they train, and which examples of each net's batch count."""

    params: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]
    nets: int
    train: bool
    valid: Tensor | None = None
    convolution: str = "grouped"

    def weight(self, path: str, name: str = "weight") -> Any:
        """Return a stacked parameter of the layer at `path`, or None where the layer has none."""
        return self.params.get(f"{path}.{name}" if path else name)


def _linear(run: Run, layer: nn.Linear, path: str, value: Value) -> Value:
    weight, bias = run.weight(path), run.weight(path, "bias")
    x = value.stacked()
    flat = x.reshape(x.shape[0], -1, x.shape[-1])
    right = weight.transpose(1, 2)
    out = torch.bmm(flat, right) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, right)
    return value.like(out.reshape(*x.shape[:-1], out.shape[-1]), STACKED)


def _convolution(run: Run, layer: Any, path: str, value: Value) -> Value:
    if layer.padding_mode != "zeros":
        raise Unbatchable(f"{type(layer).__name__} with padding_mode={layer.padding_mode!r}")
    weight, bias = run.weight(path), run.weight(path, "bias")
    convolve = CONVOLUTIONS[type(layer)]
    shape = (layer.stride, layer.padding, layer.dilation)
    if run.convolution == "looped":
        rows, weights = value.stacked().unbind(0), weight.unbind(0)
        biases = [None] * run.nets if bias is None else bias.unbind(0)
        outs = [convolve(x, w, b, *shape, layer.groups) for x, w, b in zip(rows, weights, biases)]
        return value.like(torch.stack(outs), STACKED)
    flat = weight.reshape(-1, *weight.shape[2:])
    flat_bias = None if bias is None else bias.reshape(-1)
    if value.layout == SHARED and layer.groups == 1:
        return value.like(convolve(value.tensor, flat, flat_bias, *shape), GROUPED)
    out = convolve(value.grouped(), flat, flat_bias, *shape, run.nets * layer.groups)
    return value.like(out, GROUPED)


def _spatial(run: Run, layer: nn.Module, path: str, value: Value) -> Value:
    return spatial(layer, value)


def spatial(operation: Callable[[Tensor], Tensor], value: Value) -> Value:
    """Apply an operation that treats examples and channels alike."""
    if value.layout != STACKED:
        return value.like(operation(value.tensor))
    out = operation(value.tensor.flatten(0, 1))
    return value.like(out.unflatten(0, (value.nets, -1)))


def _elementwise(run: Run, layer: nn.Module, path: str, value: Value) -> Value:
    if getattr(layer, "inplace", False):
        return value.like(layer(value.tensor.clone()))
    return value.like(layer(value.tensor))


def _flatten(run: Run, layer: nn.Flatten, path: str, value: Value) -> Value:
    return flatten(value, layer.start_dim, layer.end_dim)


def flatten(value: Value, start: int = 0, end: int = -1) -> Value:
    """Flatten axes of each net's examples."""
    if start == 0:
        raise Unbatchable("flattening the examples into one axis")
    return value.like(value.stacked().flatten(start + 1 if start > 0 else start, end + 1 if end > 0 else end), STACKED)


def _unflatten(run: Run, layer: nn.Unflatten, path: str, value: Value) -> Value:
    if not isinstance(layer.dim, int) or layer.dim == 0:
        raise Unbatchable("Unflatten over the examples")
    dim = layer.dim + 1 if layer.dim > 0 else layer.dim
    return value.like(value.stacked().unflatten(dim, layer.unflattened_size), STACKED)


def _softmax(run: Run, layer: Any, path: str, value: Value) -> Value:
    if layer.dim is None or layer.dim == 0:
        raise Unbatchable(f"{type(layer).__name__} without a dim of its own")
    function = torch.log_softmax if isinstance(layer, nn.LogSoftmax) else torch.softmax
    return value.like(function(value.stacked(), layer.dim + 1 if layer.dim > 0 else layer.dim), STACKED)


def _dropout(run: Run, layer: SeededDropout, path: str, value: Value) -> Value:
    if not run.train:
        return value
    prefix = f"{path}." if path else ""
    scale = layer.scale(run.buffers[f"{prefix}key"], run.buffers[f"{prefix}rate"], value.shape, value.tensor.dtype)
    if value.layout == GROUPED:
        full = scale.transpose(0, 1)
        return value.like(value.tensor * full.reshape(full.shape[0], -1, *full.shape[3:]))
    return value.like(value.stacked() * scale, STACKED)


def _layer_norm(run: Run, layer: nn.LayerNorm, path: str, value: Value) -> Value:
    x = F.layer_norm(value.stacked(), layer.normalized_shape, eps=layer.eps)
    return value.like(_affine(x, run, path, len(layer.normalized_shape)), STACKED)


def _group_norm(run: Run, layer: nn.GroupNorm, path: str, value: Value) -> Value:
    x = value.stacked()
    flat = F.group_norm(x.flatten(0, 1), layer.num_groups, eps=layer.eps).unflatten(0, x.shape[:2])
    weight, bias = run.weight(path), run.weight(path, "bias")
    if weight is not None:
        each = (value.nets, 1, -1, *([1] * (x.dim() - 3)))
        flat = torch.addcmul(bias.reshape(each), flat, weight.reshape(each))
    return value.like(flat, STACKED)


def _affine(x: Tensor, run: Run, path: str, tail: int) -> Tensor:
    weight, bias = run.weight(path), run.weight(path, "bias")
    each = (run.nets, *([1] * (x.dim() - 1 - tail)))
    if weight is not None:
        x = x * weight.reshape(*each, *weight.shape[1:])
    return x if bias is None else x + bias.reshape(*each, *bias.shape[1:])


def _batch_norm(run: Run, layer: Any, path: str, value: Value) -> Value:
    """Normalise by each net's own batch, leaving out padded examples; keep each net's own running statistics."""
    if layer.momentum is None or not layer.track_running_stats:
        raise Unbatchable(f"{type(layer).__name__} without exponentially averaged statistics")
    prefix = f"{path}." if path else ""
    mean, var = run.buffers[f"{prefix}running_mean"], run.buffers[f"{prefix}running_var"]
    x = value.grouped() if len(value.shape) > 2 else value.stacked().transpose(0, 1)
    x4 = x.reshape(x.shape[0], value.nets, mean.shape[1], -1)
    if run.train:
        seen = (
            torch.ones(x.shape[0], value.nets, dtype=x.dtype, device=x.device)
            if run.valid is None
            else run.valid.T.to(x.dtype)
        )
        weight = seen[:, :, None, None]
        count = seen.sum(0)[:, None] * x4.shape[3]
        now_mean = (x4 * weight).sum((0, 3)) / count.clamp(min=1)
        now_var = ((x4 - now_mean[:, :, None]).square() * weight).sum((0, 3)) / count.clamp(min=1)
        _remember(layer, run.buffers, prefix, now_mean.detach(), now_var.detach(), count)
        mean, var = now_mean, now_var
    out = (x4 - mean[:, :, None]) * torch.rsqrt(var + layer.eps)[:, :, None]
    if layer.affine:
        out = torch.addcmul(run.weight(path, "bias")[:, :, None], out, run.weight(path)[:, :, None])
    if len(value.shape) > 2:
        return value.like(out.reshape(x.shape), GROUPED)
    return value.like(out.squeeze(3).transpose(0, 1), STACKED)


def _remember(layer: Any, buffers: Mapping[str, Tensor], prefix: str, mean: Tensor, var: Tensor, count: Tensor) -> None:
    step = (count > 0).to(mean.dtype) * layer.momentum
    unbiased = var * count / (count - 1).clamp(min=1)
    buffers[f"{prefix}running_mean"].lerp_(mean, step.expand_as(mean))
    buffers[f"{prefix}running_var"].lerp_(unbiased, step.expand_as(var))
    buffers[f"{prefix}num_batches_tracked"].add_((count[:, 0] > 0).to(torch.int64))


def layer_of(layer: nn.Module) -> Callable[[Run, Any, str, Value], Value]:
    """Return the batched form of a layer, or say that there is none."""
    kind = type(layer)
    known: dict[type, Callable[[Run, Any, str, Value], Value]] = {
        nn.Linear: _linear, nn.Flatten: _flatten, nn.Unflatten: _unflatten, nn.Softmax: _softmax,
        nn.LogSoftmax: _softmax, SeededDropout: _dropout, nn.LayerNorm: _layer_norm, nn.GroupNorm: _group_norm,
        nn.BatchNorm1d: _batch_norm, nn.BatchNorm2d: _batch_norm, nn.BatchNorm3d: _batch_norm,
        **dict.fromkeys(CONVOLUTIONS, _convolution), **dict.fromkeys(POOLS, _spatial),
        **dict.fromkeys(ELEMENTWISE, _elementwise),
    }  # fmt: skip
    if kind not in known:
        raise Unbatchable(f"the layer {kind.__name__}")
    return known[kind]
