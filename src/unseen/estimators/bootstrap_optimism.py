"""Bootstrap estimate of the optimism of the training error (Efron, 1983; Harrell, Lee & Mark, 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import register
from unseen.designs.bootstrap import Bootstrap

__all__ = ["BootstrapOptimism", "errors_on_all_rows"]


def errors_on_all_rows(table: LossTable) -> Floats:
    """Return, for each completed split, the mean loss of its model on the original sample, each row once."""
    assert table.train is not None
    split = np.concatenate([table.test.split, table.train.split])
    weight = table.row_weights(np.concatenate([table.test.row, table.train.row]))
    value = np.concatenate([table.test.value, table.train.value])
    with np.errstate(invalid="ignore"):
        means = np.bincount(split, weight * value) / np.bincount(split, weight)
    return np.asarray(means[table.completed])


@register
@dataclass(frozen=True)
class BootstrapOptimism(TableMethod):
    """Training error of the full model plus the mean optimism seen in bootstrap samples.

    The optimism of a replicate is the error of its model on the original sample minus its error on the bootstrap
    sample it was trained on.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. Journal of the
    American Statistical Association 78, 316-331.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="bootstrap-optimism", random_state=0).n_fits
    101
    """

    id: ClassVar[str] = "bootstrap-optimism"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    needs: ClassVar[frozenset[str]] = frozenset({"test", "train", "full"})
    point_only: ClassVar[bool] = True

    def default_design(self, data: Data) -> Bootstrap:
        """Return 100 bootstrap samples."""
        return Bootstrap(100)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the corrected training error."""
        check_table(self, table, level)
        optimism = errors_on_all_rows(table) - table.train_errors()
        return point_estimate(self, table, table.full_error() + float(optimism.mean()), n_train=table.data.n_units)
