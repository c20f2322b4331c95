"""The .632 bootstrap (Efron, 1983)."""

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
from unseen.estimators.plain_means import mean_over_tested, untested_note

__all__ = ["B632"]

SHARE = 0.632  # 1 - 1/e: the share of distinct units in a bootstrap sample


@register
@dataclass(frozen=True)
class B632(TableMethod):
    """0.368 times the training error of the full model plus 0.632 times the leave-one-out bootstrap error.

    Too small for models that memorise their training set; `632plus` mends that.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. Journal of the
    American Statistical Association 78, 316-331.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> low, high = (unseen.estimate(KNeighborsClassifier(1), X, y, method=m, random_state=0).value
    ...              for m in ("632", "bootstrap-loo"))
    >>> round(low / high, 6)
    0.632
    """

    id: ClassVar[str] = "632"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    needs: ClassVar[frozenset[str]] = frozenset({"test", "full"})
    point_only: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})

    def default_design(self, data: Data) -> Bootstrap:
        """Return 100 bootstrap samples."""
        return Bootstrap(100)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the weighted mean of the two errors."""
        check_table(self, table, level)
        value = (1 - SHARE) * table.full_error() + SHARE * mean_over_tested(table)
        return point_estimate(self, table, value, notes=untested_note(table), n_train=table.data.n_units)
