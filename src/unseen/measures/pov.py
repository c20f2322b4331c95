"""Proportion of variance explained: the squared correlation of predictions and targets (Hutton, 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers, moments

__all__ = ["Pov"]


@register
@dataclass(frozen=True)
class Pov(FromNumbers):
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
    neutral: ClassVar[float | None] = 0.0
    needs_score: ClassVar[bool] = False

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the squared correlation for each weighting; 0 where either does not vary."""
        dy, dv = np.asarray(y - np.mean(y), dtype=float), np.asarray(value - np.mean(value), dtype=float)
        total = weights.sum(axis=1)
        means = weights @ dy / total, weights @ dv / total
        spread = moments(dy, weights)[1] * moments(dv, weights)[1]
        joint = weights @ (dy * dv) / total - means[0] * means[1]
        return np.minimum(1.0, np.divide(joint**2, spread, out=np.zeros_like(spread), where=spread > 0))
