"""A net cut at a named layer: features up to it, and what the rest makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unseen.core.errors import InputError, NotApplicable, nearest
from unseen.nets.modules.logits import LogitFunction

__all__ = ["Cut", "cut_at", "last_linear", "linear_rule"]

SHOWN = 200  # layer names in a message


@dataclass(frozen=True, eq=False)
class Cut:
    """A net in two parts.

    Parameters
    ----------
    name : str
        "input", or the layer whose output is the space between the parts.
    head : function
        Inputs to features.
    tail : function
        (features, inputs) to logits; the inputs serve parts of the net that go around the layer.
    rest : nn.Module or None
        The module behind `tail`, if it is one.
    """

    name: str
    head: Callable[[torch.Tensor], torch.Tensor]
    tail: Callable[[torch.Tensor, Any], torch.Tensor]
    rest: nn.Module | None


def cut_at(function: LogitFunction, layer: str | None) -> Cut:
    """Cut a net behind a layer named as in `module.named_modules()`; None or "input" leaves it whole.

    Examples
    --------
    >>> from unseen.nets.modules.logits import logit_function
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    >>> function, X = logit_function(net, torch.ones(5, 2))
    >>> cut = cut_at(function, "1")
    >>> cut.head(X).shape, bool(torch.allclose(cut.tail(cut.head(X), X), net(X)))
    (torch.Size([5, 3]), True)
    """
    if layer in (None, "input"):
        return Cut("input", lambda X: X, lambda features, X: function.logits(features), function.module)
    if function.module is None:
        raise NotApplicable(f"layer is {layer!r}, but this model shows no torch module to look into; leave layer=None.")
    names = [name for name, _ in function.module.named_modules() if name]
    if layer not in names:
        close = f" Did you mean {' or '.join(map(repr, near))}?" if (near := nearest(layer, names)) else ""
        raise InputError(f"unknown layer {layer!r}; the net's layers are: {', '.join(names[:SHOWN])}.{close}")
    rest = _behind(function.module, layer.split("."))
    if rest is not None:
        front, back = rest
        after = LogitFunction(
            raw=back,
            module=back,
            device=function.device,
            dtype=function.dtype,
            probabilities=function.probabilities,
            classes=function.classes,
        )
        return Cut(layer, front, lambda features, X: after.logits(features), back)
    return _by_hooks(function, function.module.get_submodule(layer), layer)


def _behind(module: nn.Module, path: list[str]) -> tuple[nn.Module, nn.Module] | None:
    """Return what comes before and behind a layer if only plain sequences lead to it, else None."""
    if not path:
        return module, nn.Identity()
    if type(module) is not nn.Sequential:
        return None
    names, parts = zip(*module.named_children())
    k = names.index(path[0])
    inner = _behind(parts[k], path[1:])
    if inner is None:
        return None
    return nn.Sequential(*parts[:k], inner[0]), nn.Sequential(inner[1], *parts[k + 1 :])


def _by_hooks(function: LogitFunction, part: nn.Module, layer: str) -> Cut:
    def run(X: torch.Tensor, put: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        seen: list[torch.Tensor] = []

        def hook(_: nn.Module, __: Any, output: Any) -> Any:
            if not isinstance(output, torch.Tensor):
                raise NotApplicable(
                    f"layer {layer!r} returns a {type(output).__name__}; kernels need a layer with one tensor."
                )
            seen.append(output.clone())
            return put

        handle = part.register_forward_hook(hook)
        try:
            logits = function.logits(X)
        finally:
            handle.remove()
        if len(seen) != 1:
            raise InputError(f"layer {layer!r} runs {len(seen)} times in one pass; name a layer that runs once.")
        return seen[0], logits

    return Cut(layer, lambda X: run(X, None)[0], lambda features, X: run(X, features)[1], None)


SILENT = (nn.Identity, nn.Flatten, nn.Dropout)  # change no decision of a net in evaluation mode
MONOTONE = (nn.Softmax, nn.LogSoftmax)


def linear_rule(module: nn.Module | None) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return (a, b), in float64, of a net that decides for its second class if a.x + b > 0; None for any other net.

    Examples
    --------
    >>> a, b = linear_rule(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))
    >>> a.shape, linear_rule(nn.Linear(4, 3)) is None
    (torch.Size([4]), True)
    """
    if module is None or not all(type(m) in (nn.Sequential, nn.Linear, *SILENT, *MONOTONE) for m in module.modules()):
        return None
    leaves = [m for m in module.modules() if not isinstance(m, (nn.Sequential, *SILENT))]
    if not leaves or not isinstance(leaves[0], nn.Linear) or any(isinstance(m, nn.Linear) for m in leaves[1:]):
        return None
    linear = leaves[0]
    weight = linear.weight.detach().double()
    bias = torch.zeros(len(weight)).to(weight) if linear.bias is None else linear.bias.detach().double()
    if len(weight) == 1 and len(leaves) == 1:
        return weight[0], bias[0]
    return (weight[1] - weight[0], bias[1] - bias[0]) if len(weight) == 2 else None


@torch.no_grad()
def last_linear(module: nn.Module, X: torch.Tensor) -> str:
    """Return the name of the linear layer that runs last on inputs like `X`; what flows into it is what the net knows of a point.

    Examples
    --------
    >>> last_linear(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)), torch.zeros(1, 2))
    '2'
    """
    ran: list[str] = []
    named = [(name, part) for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    handles = [part.register_forward_pre_hook(lambda *_, name=name: ran.append(name)) for name, part in named]
    try:
        module(X[:2])
    finally:
        for handle in handles:
            handle.remove()
    if not ran:
        raise NotApplicable(f"{type(module).__name__} has no linear layer; a last-layer method needs one.")
    return ran[-1]
