"""Logarithmic loss of class probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.measure import Loss
from unseen.core.registry import register

__all__ = ["LogLoss"]


@register
@dataclass(frozen=True)
class LogLoss(Loss):
    """Minus the logarithm of the probability given to the true class.

    Parameters
    ----------
    floor : float
        Probabilities below it count as it, so that one confident mistake stays finite.

    Examples
    --------
    >>> LogLoss().per_example(np.array([1]), np.array([1]), np.array([[0.5, 0.5]])).round(4).tolist()
    [0.6931]
    """

    floor: float = float(np.finfo(float).eps)
    id: ClassVar[str] = "log-loss"
    aliases: ClassVar[tuple[str, ...]] = (
        "log_loss",
        "neg_log_loss",
        "cross-entropy",
    )
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    needs_score: ClassVar[bool] = True

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return -log p(true class)."""
        assert score is not None
        return -np.log(np.clip(score[np.arange(len(y)), y], self.floor, 1.0))

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all pairs, from class shares and mean log probabilities."""
        assert score is not None
        share = np.bincount(y, minlength=score.shape[1]) / len(y)
        return float(-share @ np.log(np.clip(score, self.floor, 1.0)).mean(axis=0))
