"""Positive predictive value: how often a positive call is right (Hutton, 1992, table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import Share

__all__ = ["PositivePredictiveValue"]


@register
@dataclass(frozen=True)
class PositivePredictiveValue(Share):
    """Share of the positive calls that are right (precision, selectivity), at the prevalence of these data.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(PositivePredictiveValue().of_set(y, said), 4)
    0.6667
    """

    id: ClassVar[str] = "positive-predictive-value"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def share(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> tuple[Floats, Floats]:
        """Return TP and TP + FP; the share is NaN where nothing is called positive."""
        return hits, hits + alarms
