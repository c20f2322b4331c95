"""Absolute error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register

__all__ = ["Absolute"]


@register
@dataclass(frozen=True)
class Absolute:
    """Absolute error; its mean is the mean absolute error.

    Examples
    --------
    >>> Absolute().per_example(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [0.0, 2.0]
    """

    id: ClassVar[str] = "absolute"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the absolute difference `|y - value|`."""
        return np.abs(y - value)

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean `|y_i - f_j|` over all pairs in O(n log n), through sorted prefix sums."""
        points = np.sort(value)
        sums = np.concatenate([[0.0], np.cumsum(points)])
        below = np.searchsorted(points, y)
        total = y * below - sums[below] + (sums[-1] - sums[below]) - y * (len(points) - below)
        return float(total.mean() / len(points))
