"""Posterior-probability error on the training data (Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["PosteriorMeasure"]


@register
@dataclass(frozen=True)
class PosteriorMeasure(Measure):
    """Mean over training inputs of one minus the softmax probability of the class assigned.

    References
    ----------
    P. Ghane (2022). Dissertation, Texas A&M University, section 2.2.2.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= PosteriorMeasure()(sample_net("conv")).value <= 1
    True
    """

    id: ClassVar[str] = "posterior"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean."""
        return float(1 - net.logits(net.X_train).double().softmax(1).amax(1).mean())
