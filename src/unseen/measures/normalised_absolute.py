"""Mean absolute error over the mean absolute deviation from the median (Laur, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers, weighted_median

__all__ = ["NormalisedAbsolute"]


@register
@dataclass(frozen=True)
class NormalisedAbsolute(FromNumbers):
    """1 for guessing the median, 0 for perfect predictions.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(NormalisedAbsolute().of_set(y, f), 4)
    0.5
    """

    id: ClassVar[str] = "normalised-absolute"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = 1.0
    needs_score: ClassVar[bool] = False

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the ratio for each weighting; NaN where the target does not vary."""
        error = weights @ np.abs(y - value)
        spread = np.array([w @ np.abs(y - weighted_median(y, w)) for w in weights])
        return np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
