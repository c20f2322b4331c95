"""F1, the harmonic mean of precision and sensitivity (van Rijsbergen, 1979)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import Averaged

__all__ = ["F1"]


@register
@dataclass(frozen=True)
class F1(Averaged):
    """2 TP / (2 TP + FP + FN) of the positive class, or a mean over classes; 0 where it is neither there nor predicted.

    References
    ----------
    van Rijsbergen, C. J. (1979). Information retrieval, 2nd edition. Butterworths.

    Examples
    --------
    >>> round(F1().of_set(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])), 3)
    0.5
    """

    id: ClassVar[str] = "f1"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def of_counts(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> Floats:
        """Return 2 TP / (2 TP + FP + FN), 0 for 0 / 0."""
        total = 2 * hits + misses + alarms
        return np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0)
