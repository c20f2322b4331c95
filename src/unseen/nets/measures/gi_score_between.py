"""Gi-score: how fast accuracy decays as training inputs are mixed with others of another class (Schiff and others, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures.gi_score import GiScore

__all__ = ["GiScoreBetween"]


@register
@dataclass(frozen=True)
class GiScoreBetween(GiScore):
    """As `gi-score`, but every input is mixed with one of another class.

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
    >>> 0 <= GiScoreBetween()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "gi-score-between"
    within: ClassVar[bool] = False
