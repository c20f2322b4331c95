"""Mean squared error over the population variance of the target (Laur, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers, moments

__all__ = ["NormalisedSquared"]


@register
@dataclass(frozen=True)
class NormalisedSquared(FromNumbers):
    """1 for guessing the mean, 0 for perfect predictions; 1 - R^2.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(NormalisedSquared().of_set(y, f), 4)
    0.3571
    """

    id: ClassVar[str] = "normalised-squared"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = 1.0
    needs_score: ClassVar[bool] = False

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return E_m / s_t^2 for each weighting; NaN where the target does not vary."""
        spread = moments(np.asarray(y, dtype=float), weights)[1]
        error = weights @ np.square(y - value) / weights.sum(axis=1)
        return np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
