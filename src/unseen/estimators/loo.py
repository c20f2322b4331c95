"""Leave-one-out cross-validation error (Lachenbruch & Mickey, 1968)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.loo import LeaveOneOut
from unseen.estimators._means import mean_over_rows

__all__ = ["LeaveOneOutError"]


@register
@dataclass(frozen=True)
class LeaveOneOutError:
    """Mean over all units, each tested by the model trained on all the others: hardly biased, but variable.

    References
    ----------
    Lachenbruch, P. A. and Mickey, M. R. (1968). Estimation of error rates in discriminant analysis. Technometrics
    10, 1-11.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="loo", random_state=0).n_fits
    150
    """

    id: ClassVar[str] = "loo"
    designs: ClassVar[frozenset[str]] = frozenset({"loo"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data: Data) -> LeaveOneOut:
        """Return leave-one-out."""
        return LeaveOneOut()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean loss over all rows."""
        return mean_over_rows(self, table, level)
