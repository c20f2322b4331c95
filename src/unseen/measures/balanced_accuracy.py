"""Balanced accuracy: the mean over classes of their shares found (Brodersen et al., 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import FromTable, divided

__all__ = ["BalancedAccuracy"]


@register
@dataclass(frozen=True)
class BalancedAccuracy(FromTable):
    """Mean of the classes' sensitivities; guessing gives one over the number of classes whatever the prevalence.

    References
    ----------
    Brodersen, K. H., Ong, C. S., Stephan, K. E. and Buhmann, J. M. (2010). The balanced accuracy and its posterior
    distribution. International Conference on Pattern Recognition, 3121-3124.

    Examples
    --------
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(BalancedAccuracy().of_set(y, said), 4)
    0.5833
    """

    id: ClassVar[str] = "balanced-accuracy"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the mean of the diagonal over the row sums; classes without a case do not count."""
        there = tables.sum(axis=-1)
        each = divided(np.diagonal(tables, axis1=-2, axis2=-1), there)
        return divided(np.nan_to_num(each).sum(axis=-1), (there > 0).sum(axis=-1).astype(float))
