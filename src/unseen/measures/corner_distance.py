"""Distance from the perfect corner to the ROC curve along the minor diagonal (Hutton, 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._curves import FromCurve, Sweep, corner_distance

__all__ = ["CornerDistance"]


@register
@dataclass(frozen=True)
class CornerDistance(FromCurve):
    """0 for a perfect curve, 0.7071 for chance; what Hutton calls d', under a name of its own (see `d-prime`).

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(CornerDistance().of_set(y, y, score[:, None]), 4)
    0.4714
    """

    id: ClassVar[str] = "corner-distance"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, float(np.sqrt(2)))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = float(np.sqrt(0.5))
    needs_score: ClassVar[bool] = True

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the distance for each weighting of a sweep."""
        return corner_distance(curve.hit_rate, curve.alarm_rate)
