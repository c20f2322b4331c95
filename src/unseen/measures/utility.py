"""Utility of decisions by any matrix of gains (Hutton, 1992, equation 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._costs import cost_matrix
from unseen.measures._tables import FromTable, divided

__all__ = ["Utility"]


@register
@dataclass(frozen=True)
class Utility(FromTable):
    """U = k sum n_ij U_ij with k = 1/n, i the true class and j the one assigned.

    Parameters
    ----------
    gains : nested sequence of float, optional
        Truth by row and decision by column, classes in sorted order; by default 1 on the diagonal and 0 off it, which
        makes the utility the accuracy. A cost is a negative gain.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, said = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0])
    >>> Utility().of_set(y, said), Utility(((1, -1), (-5, 2))).of_set(y, said)
    (0.75, -0.25)
    """

    gains: Any = None
    id: ClassVar[str] = "utility"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.gains is not None:
            matrix = cost_matrix(self.gains)
            object.__setattr__(self, "gains", tuple(map(tuple, matrix.tolist())))

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the mean gain of each confusion matrix."""
        size = tables.shape[-1]
        gains = np.eye(size) if self.gains is None else cost_matrix(self.gains, size)
        return divided((tables * gains).sum(axis=(-2, -1)), tables.sum(axis=(-2, -1)))
