"""Score interval for a held-out error rate (Wilson, 1927)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators.rate import rate_estimate

__all__ = ["Wilson", "score_ends", "wilson_interval"]


def wilson_interval(share: float, size: float, level: float) -> tuple[float, float]:
    """Return the rates whose score test does not reject the observed share.

    Examples
    --------
    >>> [round(v, 4) for v in wilson_interval(0.1, 100, 0.95)]
    [0.0552, 0.1744]
    """
    from scipy.special import ndtri

    return score_ends(share, size, float(ndtri((1 + level) / 2)))


def score_ends(share: float, size: float, quantile: float) -> tuple[float, float]:
    """Return both ends of the score interval for a quantile of the reference distribution; 0 or 1 if the share is.

    Examples
    --------
    >>> [round(v, 4) for v in score_ends(0.0, 20, 2.0)]
    [0.0, 0.1667]
    """
    z2 = quantile**2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    low = 0.0 if share <= 0 else float(centre - half)
    return low, 1.0 if share >= 1 else float(centre + half)


@register
@dataclass(frozen=True)
class Wilson(TableMethod):
    """Error rate on the held-out rows with the score interval; with groups, rows count as their effective number.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="wilson", random_state=0)
    >>> 0 < e.interval.low < e.value < e.interval.high < 1
    True
    """

    id: ClassVar[str] = "wilson"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the rate, its standard error and the score interval."""
        return rate_estimate(self, table, level, lambda rate, level: wilson_interval(rate.share, rate.size, level))
