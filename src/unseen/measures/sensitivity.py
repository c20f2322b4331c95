"""Sensitivity, the share of positive cases that are found (Hutton, 1992, table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import Share

__all__ = ["Sensitivity"]


@register
@dataclass(frozen=True)
class Sensitivity(Share):
    """Share of the positive cases that are called positive (recall, true positive ratio).

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Sensitivity().of_set(y, said), 4)
    0.6667
    """

    id: ClassVar[str] = "sensitivity"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def share(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> tuple[Floats, Floats]:
        """Return TP and TP + FN; the share is NaN where no case is positive."""
        return hits, hits + misses
