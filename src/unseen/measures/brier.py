"""Brier score of class probabilities (Brier, 1950)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.measure import Loss
from unseen.core.registry import register

__all__ = ["Brier"]


@register
@dataclass(frozen=True)
class Brier(Loss):
    """Squared distance between the probability vector and the true class, over all classes (0 to 2).

    Examples
    --------
    >>> Brier().per_example(np.array([1]), np.array([1]), np.array([[0.2, 0.8]])).round(4).tolist()
    [0.08]
    """

    id: ClassVar[str] = "brier"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    needs_score: ClassVar[bool] = True

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the sum over classes of (p_k - [y = k])^2."""
        assert score is not None
        result: Floats = np.square(score).sum(axis=1) - 2.0 * score[np.arange(len(y)), y] + 1.0
        return result

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all pairs, from class shares and moments of the probabilities."""
        assert score is not None
        share = np.bincount(y, minlength=score.shape[1]) / len(y)
        return float(np.square(score).sum(axis=1).mean() - 2.0 * share @ score.mean(axis=0) + 1.0)
