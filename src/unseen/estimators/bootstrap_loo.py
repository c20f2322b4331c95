"""The leave-one-out bootstrap: mean over units of their out-of-bag error (Efron, 1983; Efron & Tibshirani, 1997)."""

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
from unseen.estimators.plain_means import mean_distinct_units, mean_over_tested, untested_note

__all__ = ["BootstrapLoo"]


@register
@dataclass(frozen=True)
class BootstrapLoo(TableMethod):
    """Err1: each row's mean loss over the replicates that left it out, averaged over rows.

    Its target is the error after training on the 63.2% distinct units of a bootstrap sample, hence more than that at n.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. Journal of the
    American Statistical Association 92, 548-560.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="bootstrap-loo", random_state=0)
    >>> e.n_fits, e.notes
    (100, ())
    """

    id: ClassVar[str] = "bootstrap-loo"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    point_only: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})

    def default_design(self, data: Data) -> Bootstrap:
        """Return 100 bootstrap samples."""
        return Bootstrap(100)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean over rows of their mean out-of-bag loss."""
        check_table(self, table, level)
        size = mean_distinct_units(table.data.n_units)
        return point_estimate(self, table, mean_over_tested(table), notes=untested_note(table), n_train=size)
