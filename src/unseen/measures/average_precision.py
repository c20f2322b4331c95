"""Average precision: the area under the precision-recall steps (Davis & Goadrich, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._curves import FromCurve, Sweep

__all__ = ["AveragePrecision"]


@register
@dataclass(frozen=True)
class AveragePrecision(FromCurve):
    """Precision at each threshold, weighted by the gain in sensitivity it brings; guessing gives the prevalence.

    References
    ----------
    Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC curves. International Conference
    on Machine Learning, 233-240.

    Examples
    --------
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(AveragePrecision().of_set(y, y, score[:, None]), 4)
    0.9167
    """

    id: ClassVar[str] = "average-precision"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = True

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the sum over thresholds of the gain in sensitivity times precision; no interpolation between them."""
        return np.asarray((np.diff(curve.hit_rate, axis=1) * curve.precision[:, 1:]).sum(axis=1))
