"""Nets in the middle of training, for whoever looks at them after an epoch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import KindError

__all__ = ["Live", "looking"]


class Live(Mapping[int, nn.Module]):
    """The nets still in training by their number, each a plain module with weights of its own, made when it is asked for.

    Parameters
    ----------
    template : nn.Module
        A net of the architecture.
    nets : sequence of int
        Numbers of the nets, in the order of the stacked weights.
    alive : Tensor of bool
        Which of them are still in training.
    params, buffers : dict of str to Tensor
        Stacked weights and buffers.

    Examples
    --------
    >>> stacked = {"weight": torch.ones(2, 1, 3), "bias": torch.zeros(2, 1)}
    >>> live = Live(nn.Linear(3, 1), [4, 7], torch.tensor([False, True]), stacked, {})
    >>> list(live), live[7](torch.ones(1, 3)).item()
    ([7], 3.0)
    """

    def __init__(self, template: nn.Module, nets: Any, alive: Tensor, params: Any, buffers: Any) -> None:
        self._template, self._params, self._buffers = template, params, buffers
        self._place = {int(net): k for k, (net, on) in enumerate(zip(nets, alive.tolist())) if on}

    @torch.no_grad()
    def __getitem__(self, net: int) -> nn.Module:
        place = self._place[net]
        dtype = next(iter(self._params.values())).dtype
        module = copy.deepcopy(self._template).to(dtype)
        for held, values in ((module.named_parameters(), self._params), (module.named_buffers(), self._buffers)):
            for name, value in held:
                value.copy_(values[name][place])
        return module.eval()

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


def looking(after_epoch: Any, template: Callable[[], nn.Module]) -> Callable[[int, Any], Any] | None:
    """Return what training calls after an epoch with a group of nets, None where nobody looks."""
    if after_epoch is None:
        return None
    if not callable(after_epoch):
        raise KindError(f"after_epoch is a {type(after_epoch).__name__}; give a function of the epoch and the nets.")
    return lambda epoch, group: after_epoch(
        epoch, Live(template(), group.nets, group.alive, group.params, group.buffers)
    )
