"""Area under the ROC curve (Hanley & McNeil, 1982)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.registry import register

__all__ = ["Auc"]


@register
@dataclass(frozen=True)
class Auc:
    """Chance that a random positive case scores higher than a random negative one, ties counted half.

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
        if score is None:
            raise InputError("auc needs scores; make the table with run(..., scores=True) and a model that gives them.")
        if y.max(initial=0) > 1 or score.shape[1] > 2:
            raise NotApplicable("auc is for two classes.")
        column = score[:, positive] if score.shape[1] == 2 else (score[:, 0] if positive == 1 else -score[:, 0])
        order = np.argsort(column, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], np.diff(column[order]) > 0]))
        hits = (y == positive)[order]
        sorted_weights = weights[:, order]
        plus = np.add.reduceat(sorted_weights * hits, starts, axis=1)
        minus = np.add.reduceat(sorted_weights * ~hits, starts, axis=1)
        below = np.cumsum(minus, axis=1) - minus / 2
        with np.errstate(invalid="ignore"):
            return np.asarray((plus * below).sum(axis=1) / (plus.sum(axis=1) * minus.sum(axis=1)))
