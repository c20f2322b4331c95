"""Bias-corrected and accelerated bootstrap interval for any measure on held-out units (Efron, 1987)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.method import check_table
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators._resample import no_variation, resampled, with_interval

__all__ = ["Bca", "bca_ends"]


def bca_ends(value: float, draws: Floats, left_out: Floats, level: float) -> tuple[float, float]:
    """Return the ends: quantiles of the draws, moved by their median bias and by the skewness of the jackknife values.

    Examples
    --------
    >>> draws = np.linspace(0.0, 1.0, 1001)
    >>> [round(end, 2) for end in bca_ends(0.5, draws, np.linspace(0.4, 0.6, 11), 0.9)]
    [0.05, 0.95]
    """
    from scipy.special import ndtr, ndtri

    below = (np.sum(draws < value) + 0.5 * np.sum(draws == value)) / len(draws)
    bias = float(ndtri(np.clip(below, 1 / (2 * len(draws)), 1 - 1 / (2 * len(draws)))))
    gap = left_out.mean() - left_out
    spread = np.square(gap).sum()
    skew = float(np.sum(gap**3) / (6 * spread**1.5)) if spread > 0 else 0.0
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + float(ndtri(tail))
        shares.append(float(ndtr(bias + z / max(1 - skew * z, 1e-9))))
    low, high = np.quantile(draws, shares)
    return float(low), float(high)


@register
@dataclass(frozen=True)
class Bca:
    """A measure of one model on held-out units, with the bootstrap interval that allows for bias and skewness.

    Parameters
    ----------
    measure : str
        Any measure, such as auc, f1 or pov, reported as it is (higher may be better); "auto" is the mean loss.
    n_bootstrap : int
        Resamples.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> e = unseen.estimate(LinearRegression(), X, y, method="bca", measure="pov", random_state=0)
    >>> e.loss, 0.3 < e.interval.low < e.value < e.interval.high < 0.7
    ('pov', True)
    """

    measure: str = "auto"
    n_bootstrap: int = 2000
    id: ClassVar[str] = "bca"
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
        """Return the measure and its BCa interval."""
        level = check_table(self, table, level)
        r = resampled(self, table, self.n_bootstrap)
        ends = None if no_variation(r) else bca_ends(r.value, r.draws, r.left_out, level)
        return with_interval(self, table, r, ends, level)
