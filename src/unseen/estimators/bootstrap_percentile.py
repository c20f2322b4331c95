"""Percentile bootstrap interval for any measure on held-out units (Efron, 1979)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.method import check_table
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators._resample import no_variation, resampled, with_interval

__all__ = ["BootstrapPercentile"]


@register
@dataclass(frozen=True)
class BootstrapPercentile:
    """A measure of one model on held-out units, with quantiles of its values on resampled units; `bca` is usually better.

    Parameters
    ----------
    measure : str
        Any measure, such as auc, f1 or pov, reported as it is (higher may be better); "auto" is the mean loss.
    n_bootstrap : int
        Resamples.

    References
    ----------
    Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7, 1-26.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="bootstrap-percentile", measure="auc", random_state=0)
    >>> e.loss, 0.9 < e.interval.low < e.value < e.interval.high <= 1
    ('auc', True)
    """

    measure: str = "auto"
    n_bootstrap: int = 2000
    id: ClassVar[str] = "bootstrap-percentile"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    needs: ClassVar[frozenset[str]] = frozenset({"test", "predictions"})
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = False
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the measure and its percentile interval."""
        level = check_table(self, table, level)
        r = resampled(self, table, self.n_bootstrap)
        if no_variation(r):
            return with_interval(self, table, r, None, level)
        low, high = np.quantile(r.draws, [(1 - level) / 2, (1 + level) / 2])
        return with_interval(self, table, r, (low, high), level)
