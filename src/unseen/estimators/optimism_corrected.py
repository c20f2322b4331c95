"""Training error of the full model plus the optimism seen in cross-validation (Efron, 1983)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import register
from unseen.designs.repeated_kfold import RepeatedKFold

__all__ = ["OptimismCorrected"]


@register
@dataclass(frozen=True)
class OptimismCorrected(TableMethod):
    """Error of the full model on its own training rows, plus the mean of test minus training error over splits.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. Journal of the
    American Statistical Association 78, 316-331.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="optimism-corrected", random_state=0).n_fits
    51
    """

    id: ClassVar[str] = "optimism-corrected"
    designs: ClassVar[frozenset[str]] = frozenset(
        {"kfold", "repeated-kfold", "loo", "leave-p-out", "leave-out", "monte-carlo"}
    )
    needs: ClassVar[frozenset[str]] = frozenset({"test", "train", "full"})
    point_only: ClassVar[bool] = True

    def default_design(self, data: Data) -> RepeatedKFold:
        """Return five rounds of 10 folds, or of as many as there are units."""
        return RepeatedKFold(n_folds=min(10, data.n_units))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the corrected training error."""
        check_table(self, table, level)
        value = table.full_error() + float(table.optimism().mean())
        return point_estimate(self, table, value, n_train=table.data.n_units)
