"""Layers of many nets at once: grouped convolution, batched matrix product, masked batch normalisation, and the layout of their tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unseen.nets.training.dropout import SeededDropout, key_of_use

__all__ = ["Activations", "ForwardPass", "Unbatchable", "layer_of"]


SHARED, STACKED, GROUPED = "shared", "stacked", "grouped"


class Unbatchable(Exception):
    """A layer or operation that has no batched form here; the text says which."""


@dataclass(frozen=True, eq=False)
class Activations:
    """A batch of activations of S nets.

    Layouts: `shared` (B, ...) one batch that all nets see; `stacked` (S, B, ...); `grouped` (B, S * C, ...), what a
    grouped convolution reads and writes.
    """

    tensor: Tensor
    layout: str
    nets: int

    def stack(self) -> Tensor:
        """Return (S, B, ...)."""
        t = self.tensor
        if self.layout == STACKED:
            return t
        if self.layout == SHARED:
            return t.unsqueeze(0).expand(self.nets, *t.shape)
        return t.reshape(t.shape[0], self.nets, t.shape[1] // self.nets, *t.shape[2:]).transpose(0, 1)

    def group(self) -> Tensor:
        """Return (B, S * C, ...)."""
        if self.layout == GROUPED:
            return self.tensor
        t = self.stack().transpose(0, 1)
        return t.reshape(t.shape[0], t.shape[1] * t.shape[2], *t.shape[3:])

    def like(self, tensor: Tensor, layout: str = "") -> Activations:
        """Return another tensor of the same nets, in the same layout unless named."""
        return Activations(tensor, layout or self.layout, self.nets)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape that one net would see."""
        if self.layout == SHARED:
            return tuple(self.tensor.shape)
        if self.layout == STACKED:
            return tuple(self.tensor.shape[1:])
        return (self.tensor.shape[0], self.tensor.shape[1] // self.nets, *self.tensor.shape[2:])


CONVOLUTIONS = {nn.Conv1d: F.conv1d, nn.Conv2d: F.conv2d, nn.Conv3d: F.conv3d}
POOLS = (
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.AvgPool1d,
    nn.AvgPool2d,
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveMaxPool1d,
    nn.AdaptiveMaxPool2d,
    nn.ZeroPad2d,
    nn.Upsample,
)
ELEMENTWISE = (
    nn.ReLU,
    nn.ReLU6,
    nn.Tanh,
    nn.Sigmoid,
    nn.GELU,
    nn.SiLU,
    nn.ELU,
    nn.SELU,
    nn.CELU,
    nn.LeakyReLU,
    nn.Softplus,
    nn.Softsign,
    nn.Hardtanh,
    nn.Hardsigmoid,
    nn.Hardswish,
    nn.Mish,
    nn.LogSigmoid,
    nn.Identity,
)


@dataclass(kw_only=True)
class ForwardPass:
    """One pass: weights of all nets, whether they train, and which examples of each net's batch count.

    `valid` is (nets, examples), or (nets, 1) if no example only pads and a net trains or does not.
    """

    params: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]
    nets: int
    train: bool
    valid: Tensor | None = None
    convolution: str = "grouped"
    uses: Counter[str] = field(default_factory=Counter)

    def weight(self, path: str, name: str = "weight") -> Any:
        """Return a stacked parameter of the layer at `path`, or None if the layer has none."""
        return self.params.get(f"{path}.{name}" if path else name)


def _linear(run: ForwardPass, layer: nn.Linear, path: str, value: Activations) -> Activations:
    weight, bias = run.weight(path), run.weight(path, "bias")
    x = value.stack()
    flat = x.reshape(x.shape[0], -1, x.shape[-1])
    right = weight.transpose(1, 2)
    out = torch.bmm(flat, right) if bias is None else torch.baddbmm(bias.unsqueeze(1), flat, right)
    return value.like(out.reshape(*x.shape[:-1], out.shape[-1]), STACKED)


def _convolution(run: ForwardPass, layer: Any, path: str, value: Activations) -> Activations:
    if layer.padding_mode != "zeros":
        raise Unbatchable(f"{type(layer).__name__} with padding_mode={layer.padding_mode!r}")
    weight, bias = run.weight(path), run.weight(path, "bias")
    convolve = CONVOLUTIONS[type(layer)]
    shape = (layer.stride, layer.padding, layer.dilation)
    if run.convolution == "looped":
        rows, weights = value.stack().unbind(0), weight.unbind(0)
        biases = [None] * run.nets if bias is None else bias.unbind(0)
        outs = [convolve(x, w, b, *shape, layer.groups) for x, w, b in zip(rows, weights, biases)]
        return value.like(torch.stack(outs), STACKED)
    flat = weight.reshape(-1, *weight.shape[2:])
    flat_bias = None if bias is None else bias.reshape(-1)
    if value.layout == SHARED and layer.groups == 1:
        return value.like(convolve(value.tensor, flat, flat_bias, *shape), GROUPED)
    out = convolve(value.group(), flat, flat_bias, *shape, run.nets * layer.groups)
    return value.like(out, GROUPED)


def _spatial(run: ForwardPass, layer: nn.Module, path: str, value: Activations) -> Activations:
    return spatial(layer, value)


def spatial(operation: Callable[[Tensor], Tensor], value: Activations) -> Activations:
    """Apply an operation that treats examples and channels alike."""
    if value.layout != STACKED:
        return value.like(operation(value.tensor))
    out = operation(value.tensor.flatten(0, 1))
    return value.like(out.unflatten(0, (value.nets, -1)))


def _elementwise(run: ForwardPass, layer: nn.Module, path: str, value: Activations) -> Activations:
    if getattr(layer, "inplace", False):
        return value.like(layer(value.tensor.clone()))
    return value.like(layer(value.tensor))


def _flatten(run: ForwardPass, layer: nn.Flatten, path: str, value: Activations) -> Activations:
    return flatten(value, layer.start_dim, layer.end_dim)


def flatten(value: Activations, start: int = 0, end: int = -1) -> Activations:
    """Flatten axes of each net's examples."""
    if start == 0:
        raise Unbatchable("flattening the examples into one axis")
    return value.like(value.stack().flatten(start + 1 if start > 0 else start, end + 1 if end > 0 else end), STACKED)


def _unflatten(run: ForwardPass, layer: nn.Unflatten, path: str, value: Activations) -> Activations:
    if not isinstance(layer.dim, int) or layer.dim == 0:
        raise Unbatchable("Unflatten over the examples")
    dim = layer.dim + 1 if layer.dim > 0 else layer.dim
    return value.like(value.stack().unflatten(dim, layer.unflattened_size), STACKED)


def _softmax(run: ForwardPass, layer: Any, path: str, value: Activations) -> Activations:
    if layer.dim is None or layer.dim == 0:
        raise Unbatchable(f"{type(layer).__name__} without a dim of its own")
    function = torch.log_softmax if isinstance(layer, nn.LogSoftmax) else torch.softmax
    return value.like(function(value.stack(), layer.dim + 1 if layer.dim > 0 else layer.dim), STACKED)


def _dropout(run: ForwardPass, layer: SeededDropout, path: str, value: Activations) -> Activations:
    if not run.train:
        return value
    prefix = f"{path}." if path else ""
    run.uses[path] += 1
    key = key_of_use(run.buffers[f"{prefix}key"], run.uses[path])
    scale = layer.scale(key, run.buffers[f"{prefix}rate"], value.shape, value.tensor.dtype)
    if value.layout == GROUPED:
        full = scale.transpose(0, 1)
        return value.like(value.tensor * full.reshape(full.shape[0], -1, *full.shape[3:]))
    return value.like(value.stack() * scale, STACKED)


def _layer_norm(run: ForwardPass, layer: nn.LayerNorm, path: str, value: Activations) -> Activations:
    x = F.layer_norm(value.stack(), layer.normalized_shape, eps=layer.eps)
    return value.like(_affine(x, run, path, len(layer.normalized_shape)), STACKED)


def _group_norm(run: ForwardPass, layer: nn.GroupNorm, path: str, value: Activations) -> Activations:
    weight, bias = run.weight(path), run.weight(path, "bias")
    if value.layout == GROUPED:  # channels of all nets lie side by side: more groups, one fused kernel
        scale, shift = (None, None) if weight is None else (weight.reshape(-1), bias.reshape(-1))
        return value.like(F.group_norm(value.tensor, run.nets * layer.num_groups, scale, shift, layer.eps))
    x = value.stack()
    out = F.group_norm(x.flatten(0, 1), layer.num_groups, eps=layer.eps).unflatten(0, x.shape[:2])
    if weight is not None:
        each = (value.nets, 1, -1, *([1] * (x.dim() - 3)))
        out = torch.addcmul(bias.reshape(each), out, weight.reshape(each))
    return value.like(out, STACKED)


def _affine(x: Tensor, run: ForwardPass, path: str, tail: int) -> Tensor:
    weight, bias = run.weight(path), run.weight(path, "bias")
    each = (run.nets, *([1] * (x.dim() - 1 - tail)))
    if weight is not None:
        x = x * weight.reshape(*each, *weight.shape[1:])
    return x if bias is None else x + bias.reshape(*each, *bias.shape[1:])


def _batch_norm(run: ForwardPass, layer: Any, path: str, value: Activations) -> Activations:
    """Normalise by each net's own batch, leaving out padded examples; keep each net's own running statistics."""
    if layer.momentum is None or not layer.track_running_stats:
        raise Unbatchable(f"{type(layer).__name__} without exponentially averaged statistics")
    images = len(value.shape) > 2
    x = value.group() if images else value.stack().transpose(0, 1).flatten(1)
    padded = run.valid is not None and run.valid.shape[1] > 1
    out = (_normalise_masked if run.train and padded else _normalise)(run, layer, f"{path}." if path else "", x)
    return value.like(out, GROUPED) if images else value.like(out.unflatten(1, (run.nets, -1)).transpose(0, 1), STACKED)


def _normalise(run: ForwardPass, layer: Any, prefix: str, x: Tensor) -> Tensor:
    """Normalise channels of all nets by one fused kernel: by the whole batch while training, else by the running statistics."""
    scale, shift = (run.params[f"{prefix}{name}"].reshape(-1) if layer.affine else None for name in ("weight", "bias"))
    mean, var = (run.buffers[f"{prefix}running_{name}"] for name in ("mean", "var"))
    if not run.train:
        return F.batch_norm(x, mean.reshape(-1), var.reshape(-1), scale, shift, eps=layer.eps)
    out, now_mean, now_scale = torch.native_batch_norm(x, scale, shift, None, None, True, 0.0, layer.eps)
    count = torch.full_like(mean[:, :1], x.numel() // x.shape[1])
    if run.valid is not None:
        count = count * run.valid
    now_var = (now_scale.detach().reshape(mean.shape) ** -2 - layer.eps).clamp(min=0)
    _update_statistics(layer, run.buffers, prefix, now_mean.detach().reshape(mean.shape), now_var, count)
    return out


def _normalise_masked(run: ForwardPass, layer: Any, prefix: str, x: Tensor) -> Tensor:
    """Normalise by those examples of each net's batch that do not pad it."""
    assert run.valid is not None
    x4 = x.reshape(x.shape[0], run.nets, x.shape[1] // run.nets, -1)
    seen = run.valid.T[:, :, None, None]
    count = run.valid.sum(1, keepdim=True).to(x.dtype) * x4.shape[3]
    mean = torch.where(seen, x4, 0.0).sum((0, 3)) / count.clamp(min=1)
    # what pads is set to the mean: divided by the deviation of others, layer after layer, it would overflow
    centred = torch.where(seen, x4 - mean[:, :, None], 0.0)
    var = centred.square().sum((0, 3)) / count.clamp(min=1)
    _update_statistics(layer, run.buffers, prefix, mean.detach(), var.detach(), count)
    out = centred * torch.rsqrt(var + layer.eps)[:, :, None]
    if layer.affine:
        out = torch.addcmul(run.params[f"{prefix}bias"][:, :, None], out, run.params[f"{prefix}weight"][:, :, None])
    return out.reshape(x.shape)


def _update_statistics(
    layer: Any, buffers: Mapping[str, Tensor], prefix: str, mean: Tensor, var: Tensor, count: Tensor
) -> None:
    unbiased = var * count / (count - 1).clamp(min=1)
    for name, now in (("running_mean", mean), ("running_var", unbiased)):
        kept = buffers[f"{prefix}{name}"]
        kept.copy_(torch.where(count > 0, kept.lerp(now, layer.momentum), kept))
    buffers[f"{prefix}num_batches_tracked"].add_((count[:, 0] > 0).to(torch.int64))


def layer_of(layer: nn.Module) -> Callable[[ForwardPass, Any, str, Activations], Activations]:
    """Return the batched form of a layer, or say that there is none."""
    kind = type(layer)
    known: dict[type, Callable[[ForwardPass, Any, str, Activations], Activations]] = {
        nn.Linear: _linear,
        nn.Flatten: _flatten,
        nn.Unflatten: _unflatten,
        nn.Softmax: _softmax,
        nn.LogSoftmax: _softmax,
        SeededDropout: _dropout,
        nn.LayerNorm: _layer_norm,
        nn.GroupNorm: _group_norm,
        nn.BatchNorm1d: _batch_norm,
        nn.BatchNorm2d: _batch_norm,
        nn.BatchNorm3d: _batch_norm,
        **dict.fromkeys(CONVOLUTIONS, _convolution),
        **dict.fromkeys(POOLS, _spatial),
        **dict.fromkeys(ELEMENTWISE, _elementwise),
    }
    if kind not in known:
        raise Unbatchable(f"the layer {kind.__name__}")
    return known[kind]
