"""Proportion of variance explained: the squared correlation of predictions and targets (Hutton, 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register

__all__ = ["Pov"]


@register
@dataclass(frozen=True)
class Pov:
    """Squared correlation: what a straight line through the predictions would explain; 0 for a constant.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> Pov().of_set(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """

    id: ClassVar[str] = "pov"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    needs_score: ClassVar[bool] = False

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return the squared correlation of a set of predictions."""
        weight = np.ones(len(y)) if weight is None else weight
        dy, dv = y - np.average(y, weights=weight), value - np.average(value, weights=weight)
        spread = float(weight @ dy**2) * float(weight @ dv**2)
        return min(1.0, float(weight @ (dy * dv)) ** 2 / spread) if spread > 0 else 0.0
