"""Training loss at the end; a control that any measure should beat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net

__all__ = ["TrainingLoss"]


@register
@dataclass(frozen=True)
class TrainingLoss(Measure):
    """Mean cross-entropy on the training data when training stopped.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> TrainingLoss()(sample_net("conv")).value > 0
    True
    """

    id: ClassVar[str] = "training-loss"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"
    needs: ClassVar[frozenset[str]] = frozenset({"train_loss"})

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return it."""
        return float(net.train_loss)  # type: ignore[arg-type]
