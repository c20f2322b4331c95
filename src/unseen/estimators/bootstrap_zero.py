"""The zero bootstrap: mean out-of-bag error of the replicates (Efron, 1983)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import register
from unseen.designs.bootstrap import Bootstrap
from unseen.estimators.plain_means import mean_distinct_units

__all__ = ["BootstrapZero"]


@register
@dataclass(frozen=True)
class BootstrapZero(TableMethod):
    """Mean over bootstrap samples of the error on the rows each left out; `bootstrap-loo` averages over rows instead.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. Journal of the
    American Statistical Association 78, 316-331.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="bootstrap-zero", random_state=0).n_fits
    100
    """

    id: ClassVar[str] = "bootstrap-zero"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    point_only: ClassVar[bool] = True

    def default_design(self, data: Data) -> Bootstrap:
        """Return 100 bootstrap samples."""
        return Bootstrap(100)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean of the replicates' out-of-bag errors."""
        check_table(self, table, level)
        value = float(table.split_means().mean())
        return point_estimate(self, table, value, n_train=mean_distinct_units(table.data.n_units))
