"""Negative predictive value: how often a negative call is right (Altman & Bland, 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import Share

__all__ = ["NegativePredictiveValue"]


@register
@dataclass(frozen=True)
class NegativePredictiveValue(Share):
    """Share of the negative calls that are right, at the prevalence of these data.

    References
    ----------
    Altman, D. G. and Bland, J. M. (1994). Diagnostic tests 2: predictive values. BMJ 309, 102.

    Examples
    --------
    >>> import numpy as np
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(NegativePredictiveValue().of_set(y, said), 4)
    0.5
    """

    id: ClassVar[str] = "negative-predictive-value"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def share(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> tuple[Floats, Floats]:
        """Return TN and TN + FN; the share is NaN where nothing is called negative."""
        return rejections, rejections + misses
