"""Hold-out error: one split, one model, its error on units it did not see (Highleyman, 1962)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import register
from unseen.designs.holdout import Holdout

__all__ = ["HoldoutError"]


@register
@dataclass(frozen=True)
class HoldoutError(TableMethod):
    """Mean loss of one model on held-out units; `wilson` and `clopper-pearson` add intervals.

    Its target is the one model that was trained on the training part, not the one a user would train on all units.

    References
    ----------
    Highleyman, W. H. (1962). The design and analysis of pattern recognition experiments. Bell System Technical
    Journal 41, 723-744.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="holdout", random_state=0)
    >>> e.n_fits, str(e.target)
    (1, 'this model trained on 100 rows')
    """

    id: ClassVar[str] = "holdout"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    point_only: ClassVar[bool] = True

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean loss over the held-out rows."""
        check_table(self, table, level)
        value = np.average(table.test.value, weights=table.row_weights(table.test.row))
        return replace(
            point_estimate(self, table, float(value)),
            target=self.target.at_share(table.data, table.plan.mean_sizes()[1]),
        )
