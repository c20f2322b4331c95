"""Distance of the weights from where training began (Nagarajan and Kolter, 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets._weight_layers import left_out, weight_layers

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
        for name in left_out(net.module):
            layers.skip(name, "neither dense nor convolution")
        total = 0.0
        for name, layer in weight_layers(net.module).items():
            key = f"{name}.weight" if name else "weight"
            if key not in (net.initial or {}):
                raise InputError(
                    f"the initial weights lack {key!r}; give the state of the same module before training."
                )
            layers.use(name)
            start = net.initial[key].to(layer.weight)  # type: ignore[index]
            total += float((layer.weight.detach() - start).double().square().sum())
        return math.sqrt(total)
