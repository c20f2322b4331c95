"""Epochs until training stopped; a control (slow training goes with large gaps: Hardt, Recht and Singer, 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net

__all__ = ["Epochs"]


@register
@dataclass(frozen=True)
class Epochs(Measure):
    """Passes over the training data until the stop rule was met.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Epochs()(sample_net("conv")).value == 30.0
    True
    """

    id: ClassVar[str] = "epochs"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"
    needs: ClassVar[frozenset[str]] = frozenset({"epochs"})

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return it."""
        return float(net.epochs)  # type: ignore[arg-type]
