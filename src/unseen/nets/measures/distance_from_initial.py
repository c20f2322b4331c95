"""Distance of the weights from where training began (Nagarajan and Kolter, 2019)."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.utils import parametrize

from unseen.core.errors import InputError
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net
from unseen.nets.modules.weight_layers import other_layers, weight_layers

__all__ = ["DistanceFromInitial"]


@register
@dataclass(frozen=True)
class DistanceFromInitial(Measure):
    """Euclidean distance between the trained and the initial weights of all dense and convolution layers, biases left out.

    References
    ----------
    V. Nagarajan, J. Z. Kolter (2019). Generalization in deep networks: the role of distance from initialization. arXiv:1901.01672.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> DistanceFromInitial()(sample_net("conv")).value > 0
    True
    """

    id: ClassVar[str] = "distance-from-initial"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"
    needs: ClassVar[frozenset[str]] = frozenset({"initial"})

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the distance."""
        for name in other_layers(net.module):
            layers.skip(name, "neither dense nor convolution")
        total = 0.0
        for name, layer in weight_layers(net.module).items():
            start = _first_weight(name, layer, net.initial or {}).to(layer.weight)
            layers.use(name)
            total += float((layer.weight.detach() - start).double().square().sum())
        return math.sqrt(total)


def _first_weight(name: str, layer: nn.Module, initial: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the weight that acted before training; of a parametrized layer it is made of other tensors of the state."""
    start = f"{name}." if name else ""
    if f"{start}weight" in initial:
        return initial[f"{start}weight"]
    own = {key.removeprefix(start): value for key, value in initial.items() if key.startswith(start)}
    if parametrize.is_parametrized(layer, "weight"):
        before = copy.deepcopy(layer)
        if not before.load_state_dict(own, strict=False).missing_keys:
            return before.weight.detach()
    raise InputError(f"the initial weights lack '{start}weight'; give the state of the same module before training.")
