"""Mean loss on what came next, with an interval for dependent losses (Lazarus, Lewis, Stock & Watson, 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, t_interval
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.time_ordered import TimeOrdered, units_in_time
from unseen.estimators.plain_means import mean_over_tested

__all__ = ["TimeOrderedError", "bartlett_variance", "cosine_count", "cosine_variance", "newey_west_lags"]

FEW_UNITS = 20  # below it the rule gives at most two cosines, so two degrees of freedom


@register
@dataclass(frozen=True)
class TimeOrderedError(TableMethod):
    """Mean over the tested units; its standard error allows for correlation between losses near in time.

    The default variance averages squared cosine projections of the losses and refers to t with as many degrees of
    freedom as there are cosines (0.41 T^(2/3) for T tested units): it cannot be negative, and covers better than the
    Newey-West form, whose normal reference is too narrow when losses are dependent. With strong dependence and few
    units it still covers too little: squared losses with correlation .5 to .8 from one time to the next, 15 to 100
    tested units, .82 to .89 instead of .95 (.94 without dependence). On a difference of two models this is the
    Diebold-Mariano test.

    Parameters
    ----------
    spread : {"cosine", "newey-west"}
        How the variance of the mean is estimated.
    count : int or None
        Number of cosines or of lags; None takes the usual rule.

    References
    ----------
    Lazarus, E., Lewis, D. J., Stock, J. H. and Watson, M. W. (2018). HAR inference: recommendations for practice.
    Journal of Business & Economic Statistics 36, 541-559.
    Newey, W. K. and West, K. D. (1987). A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix. Econometrica 55, 703-708.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> e = unseen.estimate(LinearRegression(), X, y, method="time-ordered", time=np.arange(442), random_state=0)
    >>> e.n_fits, e.df, e.value in e.interval
    (10, 14, True)
    """

    spread: str = "cosine"
    count: int | None = None
    id: ClassVar[str] = "time-ordered"
    designs: ClassVar[frozenset[str]] = frozenset({"time-ordered"})
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009"})

    def __post_init__(self) -> None:
        if self.spread not in ("cosine", "newey-west"):
            raise InputError(f"{self.id}: spread is {self.spread!r}; it is 'cosine' or 'newey-west'.")
        if self.count is not None and self.count < 1:
            raise InputError(f"{self.id}: count is {self.count!r}; at least one cosine or lag is needed.")

    def default_design(self, data: Data) -> TimeOrdered:
        """Return ten blocks after the first half, or as many as the distinct times allow."""
        if data.order is None:
            return TimeOrdered()
        times = units_in_time(data)[1]
        later = len(np.unique(times[round(len(times) * TimeOrdered.start) :]))
        return TimeOrdered(n_splits=max(1, min(TimeOrdered.n_splits, later - 1)))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean and its interval."""
        level = check_table(self, table, level)
        value = mean_over_tested(table)
        series = _influence_in_time(table, value)
        if len(series) < 2:
            raise InputError(f"{self.id} needs at least 2 tested units to see a spread; there is {len(series)}.")
        variance, df = self._variance(series)
        notes = (note("U009", f"only {len(series)} units were tested"),) if len(series) < FEW_UNITS else ()
        return t_interval(self, table, value, float(np.sqrt(variance / len(series))), level, df, notes)

    def _variance(self, series: Floats) -> tuple[float, int]:
        n = len(series)
        if self.spread == "cosine":
            count = cosine_count(n) if self.count is None else min(self.count, n - 1)
            return cosine_variance(series, count), count
        lags = newey_west_lags(n) if self.count is None else min(self.count, n - 1)
        return bartlett_variance(series, lags), n - 1


def _influence_in_time(table: LossTable, value: float) -> Floats:
    """Return each tested unit's pull on the mean, in the order of time; they add up to nothing."""
    rows = table.test.row
    weight = table.row_weights(rows)
    units, size = table.data.units[rows], table.data.n_units
    share = np.bincount(units, weight, size)
    pull = np.bincount(units, weight * (table.test.value - value), size)
    order = units_in_time(table.data)[0]
    order = order[share[order] > 0]
    return np.asarray(pull[order] / share[order].mean())


def cosine_count(n: int) -> int:
    """Return the number of cosine weights 0.41 n^(2/3) that Lazarus, Lewis, Stock & Watson (2018) recommend.

    Examples
    --------
    >>> cosine_count(100), cosine_count(4)
    (8, 1)
    """
    return max(1, min(n - 1, int(0.41 * n ** (2 / 3))))


def cosine_variance(series: Floats, count: int) -> float:
    """Return the long-run variance of a centred series by equal-weighted cosines.

    The mean of `count` squared projections on cosines; relative to the truth it is asymptotically chi-square with
    that many degrees of freedom, which makes a t reference right under dependence.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal(4000)
    >>> abs(cosine_variance(x - x.mean(), 400) - 1) < 0.25
    True
    """
    from scipy.fft import dct

    projections = dct(series, type=2, norm="ortho")[1 : count + 1]
    return float(np.mean(np.square(projections)))


def newey_west_lags(n: int) -> int:
    """Return the number of lags floor(4 (n / 100)^(2/9)) of the usual rule.

    Examples
    --------
    >>> newey_west_lags(100), newey_west_lags(1000)
    (4, 6)
    """
    return min(n - 1, int(np.floor(4 * (n / 100) ** (2 / 9))))


def bartlett_variance(series: Floats, lags: int) -> float:
    """Return Newey and West's long-run variance of a centred series: autocovariances with falling weights.

    Examples
    --------
    >>> bartlett_variance(np.array([1.0, -1.0, 1.0, -1.0]), 1)
    0.25
    """
    n = len(series)
    total = float(series @ series) / n
    for lag in range(1, lags + 1):
        total += 2 * (1 - lag / (lags + 1)) * float(series[lag:] @ series[:-lag]) / n
    return total
