"""A random number; the control that shows the noise floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net

__all__ = ["RandomOrder"]


@register
@dataclass(frozen=True)
class RandomOrder(Measure):
    """A uniform random number that depends on the seed and the weights, so that networks get different ones.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> RandomOrder()(sample_net("conv")).value != RandomOrder()(sample_net("conv"), random_state=1).value
    True
    """

    id: ClassVar[str] = "random-order"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cost: ClassVar[str] = "weights only"
    default_draws: ClassVar[int] = 1

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Draw it."""
        start = float(torch.rand(1, generator=generator, dtype=torch.float64))
        first = next((float(p.detach().flatten()[0]) for p in net.module.parameters() if p.numel()), 0.0)
        return (start + 1e6 * abs(first)) % 1.0
