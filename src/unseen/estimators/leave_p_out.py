"""Leave-p-out cross-validation error (Shao, 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.leave_p_out import LeavePOut
from unseen.estimators._means import mean_over_splits

__all__ = ["LeavePOutError"]

MOST_FITS = 1000


@register
@dataclass(frozen=True)
class LeavePOutError:
    """Mean over all ways, or many distinct ways, to leave p units out.

    References
    ----------
    Shao, J. (1993). Linear model selection by cross-validation. Journal of the American Statistical Association 88,
    486-494.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X[40:60], y[40:60], method="leave-p-out", random_state=0).n_fits
    190
    """

    id: ClassVar[str] = "leave-p-out"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-p-out"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data: Data) -> LeavePOut:
        """Return all pairs where there are at most 1,000 of them, else 1,000 distinct ones."""
        return LeavePOut(2, None if comb(data.n_units, 2) <= MOST_FITS else MOST_FITS)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean of the splits' mean losses."""
        return mean_over_splits(self, table, level)
