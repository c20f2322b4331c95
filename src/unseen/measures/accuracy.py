"""Accuracy, the share of cases that are classified right (Hutton, 1992, table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import FromTable, divided

__all__ = ["Accuracy"]


@register
@dataclass(frozen=True)
class Accuracy(FromTable):
    """Share of the cases that are classified right; 1 - the zero-one loss.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Accuracy().of_set(y, said), 4)
    0.6
    """

    id: ClassVar[str] = "accuracy"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the trace over the total."""
        return divided(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))
