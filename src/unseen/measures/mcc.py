"""Matthews correlation coefficient (Matthews, 1975), for any number of classes (Gorodkin, 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._tables import FromTable

__all__ = ["Mcc"]


@register
@dataclass(frozen=True)
class Mcc(FromTable):
    """Correlation of truth and decision; 0 for guessing, and where either never varies.

    References
    ----------
    Matthews, B. W. (1975). Comparison of the predicted and observed secondary structure of T4 phage lysozyme. Biochimica
    et Biophysica Acta 405, 442-451. Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation
    coefficient. Computational Biology and Chemistry 28, 367-374.

    Examples
    --------
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Mcc().of_set(y, said), 4)
    0.1667
    """

    id: ClassVar[str] = "mcc"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0
    needs_score: ClassVar[bool] = False

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the covariance of the class indicators over the root of their variances."""
        total = tables.sum(axis=(-2, -1))
        true, said = tables.sum(axis=-1), tables.sum(axis=-2)
        covariance = np.trace(tables, axis1=-2, axis2=-1) * total - (true * said).sum(axis=-1)
        spread = (total**2 - (true**2).sum(axis=-1)) * (total**2 - (said**2).sum(axis=-1))
        return np.divide(covariance, np.sqrt(spread), out=np.zeros_like(covariance), where=spread > 0)
