"""Five times two-fold cross-validation t (Dietterich, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, t_interval
from unseen.core.registry import register
from unseen.designs.cv5x2 import Cv5x2
from unseen.estimators.unit_mean import split_values

__all__ = ["Cv5x2T"]


@register
@dataclass(frozen=True)
class Cv5x2T(TableMethod):
    """The first of ten half-sample errors, with the mean of (p1 - p2)^2 / 2 over five replications as its variance.

    Centred on the first error, as the test is: the mean of all ten would not have this variance.

    References
    ----------
    Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
    algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="5x2cv", random_state=0)
    >>> e.df, e.n_fits, str(e.target)
    (5.0, 10, 'the algorithm trained on 284 rows')
    """

    id: ClassVar[str] = "5x2cv"
    designs: ClassVar[frozenset[str]] = frozenset({"5x2cv"})
    not_recommended: ClassVar[str] = "95% intervals covered .90 to .95 with 100 rows"
    by_split: ClassVar[bool] = True

    def default_design(self, data: Data) -> Cv5x2:
        """Return five replications of two folds."""
        return Cv5x2()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the first half-sample error and its t interval with 5 degrees of freedom."""
        level = check_table(self, table, level)
        errors = split_values(table).reshape(-1, 2)
        if not np.isfinite(errors).all():
            raise InputError(f"{self.id} needs all ten fits; {int(np.isnan(errors).sum())} of them failed.")
        se = float(np.sqrt(np.mean(np.square(errors[:, 0] - errors[:, 1]) / 2)))
        return t_interval(self, table, float(errors[0, 0]), se, level, float(len(errors)))
