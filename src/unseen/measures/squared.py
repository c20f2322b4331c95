"""Squared error, the default loss of regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register

__all__ = ["Squared"]


@register
@dataclass(frozen=True)
class Squared:
    """Squared error; its mean is the mean squared error.

    Examples
    --------
    >>> Squared().per_example(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [0.0, 4.0]
    """

    id: ClassVar[str] = "squared"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return (y - value)^2."""
        return np.square(y - value)

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all pairs, by the moments: var y + var f + (mean y - mean f)^2."""
        return float(y.var() + value.var() + (y.mean() - value.mean()) ** 2)
