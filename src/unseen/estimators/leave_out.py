"""Mean of the leave-out resampling errors (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.leave_out import LeaveOut
from unseen.estimators._means import mean_over_splits

__all__ = ["LeaveOutError"]


@register
@dataclass(frozen=True)
class LeaveOutError:
    """Mean over distinct random splits: the location of the leave-out distribution of the generalization error.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="leave-out", random_state=0).n_fits
    200
    """

    id: ClassVar[str] = "leave-out"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-out"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    by_split: ClassVar[bool] = True
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> LeaveOut:
        """Return 200 distinct splits that leave a quarter out, or as many as there are."""
        return LeaveOut(0.25, min(200, comb(data.n_units, -(-data.n_units // 4))))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean of the splits' mean losses."""
        return mean_over_splits(self, table, level)
