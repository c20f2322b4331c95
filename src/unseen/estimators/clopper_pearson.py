"""Exact interval for a held-out error rate (Clopper & Pearson, 1934)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators.rate import rate_estimate

__all__ = ["ClopperPearson", "clopper_pearson_interval"]


def clopper_pearson_interval(errors: float, size: float, level: float) -> tuple[float, float]:
    """Return the rates under which neither tail of the observed count falls below (1 - level)/2.

    Examples
    --------
    >>> [round(v, 4) for v in clopper_pearson_interval(0, 10, 0.95)]
    [0.0, 0.3085]
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if errors <= 0 else float(betaincinv(errors, size - errors + 1, tail))
    return low, 1.0 if errors >= size else float(betaincinv(errors + 1, size - errors, 1 - tail))


@register
@dataclass(frozen=True)
class ClopperPearson(TableMethod):
    """Error rate on the held-out rows with an interval that covers at least as often as it says.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
    binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="clopper-pearson", random_state=0)
    >>> w = unseen.estimate(GaussianNB(), X, y, method="wilson", random_state=0)
    >>> e.value == w.value, e.interval.width > w.interval.width
    (True, True)
    """

    id: ClassVar[str] = "clopper-pearson"
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
        """Return the rate, its standard error and the exact interval."""
        return rate_estimate(
            self, table, level, lambda rate, level: clopper_pearson_interval(rate.share * rate.size, rate.size, level)
        )
