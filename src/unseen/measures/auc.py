"""Area under the ROC curve (Hanley & McNeil, 1982)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._curves import score_column

__all__ = ["Auc"]


@register
@dataclass(frozen=True)
class Auc:
    """Chance that a random positive case scores higher than a random negative one, ties counted half.

    With more than two classes the mean over classes, each against the rest; classes without a case are left out.

    References
    ----------
    Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic (ROC)
    curve. Radiology 143, 29-36.

    Examples
    --------
    >>> Auc().of_set(np.array([0, 0, 1, 1]), np.zeros(4), np.array([[0.1], [0.4], [0.4], [0.8]]))
    0.875
    """

    id: ClassVar[str] = "auc"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.5
    needs_score: ClassVar[bool] = True

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return the area of a set of predictions; NaN where a class is missing."""
        weights = np.ones((1, len(y))) if weight is None else weight[None]
        return float(self.of_weights(y, value, score, weights, positive)[0])

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the areas of many weightings of one set (a row of `weights` each), sorting once."""
        if score is not None and score.shape[1] > 2:
            there = [k for k in range(score.shape[1]) if np.any(y == k)]
            each = [self.of_weights((y == k).astype(int), value, score[:, [k]], weights) for k in there]
            return np.asarray(np.mean(each, axis=0))
        column = score_column(y, score, positive, self.id)
        plus, minus = np.flatnonzero(y == positive), np.flatnonzero(y != positive)
        minus = minus[np.argsort(column[minus], kind="stable")]
        # weight of the negatives below each positive, from running sums; ties count half
        below = np.searchsorted(column[minus], column[plus], side="left")
        upto = np.searchsorted(column[minus], column[plus], side="right")
        sums = np.zeros((len(weights), len(minus) + 1))
        np.cumsum(np.take(weights, minus, axis=1), axis=1, out=sums[:, 1:])
        height = np.take(sums, below, axis=1)
        if not np.array_equal(below, upto):
            height = (height + np.take(sums, upto, axis=1)) / 2
        own = np.take(weights, plus, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.einsum("ij,ij->i", own, height) / (own.sum(axis=1) * sums[:, -1]))
