"""The classical d': the distance of two normal distributions that gives these rates (Green & Swets, 1966)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import NotApplicable
from unseen.core.registry import register
from unseen.measures._tables import FromTable, divided

__all__ = ["DPrime"]


@register
@dataclass(frozen=True)
class DPrime(FromTable):
    """z(hit rate) - z(false-alarm rate) at the decisions made; rates of 0 and 1 count as half a case short of them.

    Not to be confused with `corner-distance`, which Hutton (1992) calls d'.

    References
    ----------
    Green, D. M. and Swets, J. A. (1966). Signal detection theory and psychophysics. Wiley. Macmillan, N. A. and Kaplan,
    H. L. (1985). Detection theory analysis of group data. Psychological Bulletin 98, 185-199 (rates of 0 and 1).

    Examples
    --------
    >>> y, said = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(DPrime().of_set(y, said), 4)
    0.4307
    """

    id: ClassVar[str] = "d-prime"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0
    needs_score: ClassVar[bool] = False

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the difference of the normal quantiles; NaN where a class is missing."""
        from scipy.special import ndtri

        if tables.shape[-1] > 2:
            raise NotApplicable("d-prime is for two classes.")
        there = tables.sum(axis=-1)
        said = divided(tables[..., positive], there)
        edge = divided(np.full_like(there, 0.5), there)
        z = ndtri(np.clip(said, edge, 1 - edge))
        return np.asarray(z[..., positive] - z[..., 1 - positive])
