"""Pal-score: accuracy under the mildest mixing over accuracy under the strongest, inputs mixed with others of another class (Schiff and others, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures.pal_score import PalScore

__all__ = ["PalScoreBetween"]


@register
@dataclass(frozen=True)
class PalScoreBetween(PalScore):
    """As `pal-score`, but every input is mixed with one of another class.

    Parameters
    ----------
    n : int
        Training inputs per draw.

    References
    ----------
    Y. Schiff, B. Quanz, P. Das, P.-Y. Chen (2021). Predicting deep neural network generalization with perturbation response curves. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PalScoreBetween()(sample_net("conv"), draws=2).value > 0
    True
    """

    id: ClassVar[str] = "pal-score-between"
    within: ClassVar[bool] = False
