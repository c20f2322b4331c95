"""Which layers a module has, in the order they run, and what flows out of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unseen.core.errors import NotApplicable

__all__ = [
    "Layer",
    "capture_features",
    "convolution_layers",
    "eval_mode",
    "first_hidden_layer",
    "first_input",
    "layers_of",
    "weighted_layers",
]

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)


@dataclass(frozen=True)
class Layer:
    """One leaf of a module that ran: its name, itself, and the shapes of its input and output for one example."""

    name: str
    module: nn.Module
    shape_in: tuple[int, ...]
    shape_out: tuple[int, ...]

    @property
    def is_weighted(self) -> bool:
        """Whether it is a dense or convolution layer."""
        return isinstance(self.module, (nn.Linear, *CONVOLUTIONS))

    @property
    def is_convolution(self) -> bool:
        """Whether it is a convolution."""
        return isinstance(self.module, CONVOLUTIONS)

    @property
    def has_strides(self) -> bool:
        """Whether it moves a window: a convolution or a pooling layer."""
        return isinstance(self.module, (*CONVOLUTIONS, *POOLS))


def first_input(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return what a layer is called with first, by place or by name.

    Examples
    --------
    >>> first_input((), {"input": 3})
    3
    """
    return args[0] if args else next(iter(named.values()), None)


@torch.no_grad()
def layers_of(module: nn.Module, X: torch.Tensor) -> tuple[Layer, ...]:
    """Return the leaf layers of a module in the order in which they run on inputs like `X`.

    A layer that runs more than once is listed at its first run. Layers that never run are not listed. The module should
    be in evaluation mode (`eval_mode`), or batch normalisation would learn from the trial.

    Examples
    --------
    >>> m = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> [layer.name for layer in layers_of(m, torch.zeros(1, 2, 2)) if layer.is_weighted]
    ['1', '3']
    """
    found: dict[str, Layer] = {}

    def hook(name: str) -> Any:
        def record(layer: nn.Module, args: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
            given = first_input(args, named)
            if name not in found and isinstance(output, torch.Tensor) and isinstance(given, torch.Tensor):
                found[name] = Layer(name, layer, tuple(given.shape[1:]), tuple(output.shape[1:]))

        return record

    # a layer whose weights are parametrized (weight norm, spectral norm) has children and is a layer all the same
    leaves = [
        (name, m)
        for name, m in module.named_modules()
        if isinstance(m, (nn.Linear, *CONVOLUTIONS)) or not any(True for _ in m.children())
    ]
    handles = [m.register_forward_hook(hook(name), with_kwargs=True) for name, m in leaves]
    try:
        module(X[:2])
    finally:
        for handle in handles:
            handle.remove()
    return tuple(found.values())


def weighted_layers(module: nn.Module, X: torch.Tensor) -> tuple[Layer, ...]:
    """Return the dense and convolution layers in the order in which they run."""
    return tuple(layer for layer in layers_of(module, X) if layer.is_weighted)


def convolution_layers(module: nn.Module, X: torch.Tensor) -> tuple[Layer, ...]:
    """Return the convolution layers in the order in which they run."""
    return tuple(layer for layer in layers_of(module, X) if layer.is_convolution)


def first_hidden_layer(module: nn.Module, X: torch.Tensor) -> Layer:
    """Return the first dense or convolution layer; there must be another one behind it."""
    found = weighted_layers(module, X)
    if len(found) < 2:
        raise NotApplicable(
            f"the module has {len(found)} dense or convolution layers; a hidden layer needs at least 2 of them."
        )
    return found[0]


@contextmanager
def capture_features(
    module: nn.Module, outputs: tuple[str, ...] = (), inputs: tuple[str, ...] = ()
) -> Iterator[dict[str, Any]]:
    """Record what flows out of (or into) named layers while the context is open; the hooks are removed at its end.

    With gradients enabled, ``torch.autograd.grad(f, kept[name])`` is the gradient at that place.

    Examples
    --------
    >>> m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True), nn.Linear(3, 1))
    >>> with capture_features(m, outputs=("0",), inputs=("2",)) as kept:
    ...     out = m(torch.ones(5, 2))
    >>> kept["0"].shape, kept["2"].shape
    (torch.Size([5, 3]), torch.Size([5, 3]))
    >>> torch.autograd.grad(out.sum(), kept["2"])[0].equal(m[2].weight.detach().expand(5, 3))
    True
    """
    kept: dict[str, Any] = {}

    def keep(name: str, value: torch.Tensor) -> torch.Tensor:
        needs = torch.is_grad_enabled() and not value.requires_grad
        kept[name] = value.detach().requires_grad_(True) if needs else value
        # the clone keeps the record safe from an in-place activation behind it
        return kept[name].clone()

    def after(name: str) -> Any:
        return lambda layer, given, output: keep(name, output)

    def before(name: str) -> Any:
        def enter(layer: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            if args:
                return (keep(name, args[0]), *args[1:]), named
            first = next(iter(named))
            return args, {**named, first: keep(name, named[first])}

        return enter

    named = dict(module.named_modules())
    handles = [named[name].register_forward_hook(after(name)) for name in outputs]
    handles += [named[name].register_forward_pre_hook(before(name), with_kwargs=True) for name in inputs]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def eval_mode(*modules: nn.Module | None) -> Iterator[None]:
    """Put modules in evaluation mode (no dropout, fixed batch statistics), and give every part its own mode back at the end.

    Parameters
    ----------
    *modules : nn.Module or None
        Modules; None is passed over.

    Examples
    --------
    >>> m = nn.Dropout().train()
    >>> with eval_mode(m):
    ...     m.training
    False
    >>> m.training
    True
    """
    modes = [(part, part.training) for module in modules if module is not None for part in module.modules()]
    try:
        for part, _ in modes:
            part.training = False
        yield
    finally:
        for part, mode in modes:
            part.training = mode
