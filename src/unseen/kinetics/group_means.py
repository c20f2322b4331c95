"""Means over subjects: two-stage, inverse-variance and random effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import minimize_scalar

from unseen.core.errors import InputError
from unseen.core.estimate import Interval
from unseen.core.result import Result
from unseen.kinetics.intervals import cut_at_zero

__all__ = ["FEWEST", "GroupMean", "group_mean", "mean_interval"]

# subjects that an interval of their mean needs: with two, Student's factor is 12.7, and the interval says less than the two values
FEWEST = 3


@dataclass(frozen=True, kw_only=True)
class GroupMean(Result):
    """A quantity averaged over subjects in three ways.

    Attributes
    ----------
    name : str
    n : int
        Subjects.
    mean, std_error : float
        Two-stage: mean over subjects and standard deviation over root n.
    interval : Interval or None
        Of the two-stage mean, by Student's t with n - 1 degrees of freedom; None for fewer than three subjects.
    spread : tuple of float
        Smallest and largest value of a subject.
    weighted_mean, weighted_error : float
        Weights one over the squared standard error of each subject; the error is that of the mean of these very subjects and
        leaves out differences between subjects.
    random_mean, random_error : float
        Random effects, between-subject variance by restricted maximum likelihood.
    between_sd : float
        Standard deviation between subjects beyond the error of the fits.

    Examples
    --------
    >>> str(group_mean([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], "k21"))
    'k21: 2 +- 0.58 (n = 3, between-subject sd 0.99)'
    """

    name: str
    n: int
    mean: float
    std_error: float
    interval: Interval | None
    spread: tuple[float, float]
    weighted_mean: float
    weighted_error: float
    random_mean: float
    random_error: float
    between_sd: float

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        return [
            {
                "quantity": self.name,
                "n": self.n,
                "mean": self.mean,
                "std_error": self.std_error,
                "lower": None if self.interval is None else self.interval.low,
                "upper": None if self.interval is None else self.interval.high,
                "smallest": self.spread[0],
                "largest": self.spread[1],
                "weighted_mean": self.weighted_mean,
                "weighted_error": self.weighted_error,
                "random_mean": self.random_mean,
                "random_error": self.random_error,
                "between_sd": self.between_sd,
            }
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.mean:.4g} +- {self.std_error:.2g} (n = {self.n}, between-subject sd {self.between_sd:.2g})"


def group_mean(
    values: ArrayLike,
    errors: ArrayLike,
    name: str = "",
    level: float = 0.95,
    *,
    relative: bool = False,
    positive: bool = False,
) -> GroupMean:
    """Average a quantity that was estimated in each subject.

    Parameters
    ----------
    values, errors : array_like
        Estimate and standard error of each subject.
    name : str
    level : float
    relative : bool
        Whether errors grow with the values, as those of rates, pools and fluxes do. Weights then come from each subject's relative error at the
        common mean; taken as they are, the errors would give small values most weight and draw the mean down.
    positive : bool
        Whether the quantity cannot be negative. The interval of the mean then is symmetric on the log scale (the error of the logarithm of a
        mean is its relative error) if all values are positive, and else begins at zero if it would begin below.

    Returns
    -------
    GroupMean

    References
    ----------
    Viechtbauer, W. (2005), Journal of Educational and Behavioral Statistics 30, 261-293 (restricted maximum likelihood).

    Examples
    --------
    >>> g = group_mean([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], "k")
    >>> g.mean, round(g.std_error, 4), round(g.between_sd, 4)      # 1 - 0.1**2 is the variance between
    (2.0, 0.5774, 0.995)
    >>> group_mean([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], "k", relative=True).weighted_mean       # all known to a tenth: the plain mean
    2.0
    >>> student, never_negative = (group_mean([1, 2, 6], [0.1] * 3, positive=p).interval for p in (False, True))
    >>> [round(end, 2) for end in (*student, *never_negative)]
    [-3.57, 9.57, 0.34, 26.83]
    >>> group_mean([1, 6], [0.1] * 2).interval is None, group_mean([1, 6], [0.1] * 2).spread
    (True, (1.0, 6.0))
    """
    y, se = np.asarray(values, float), np.asarray(errors, float)
    if y.shape != se.shape or y.ndim != 1 or y.size == 0:
        raise InputError(f"values and errors must be two columns of the same length; got {y.shape} and {se.shape}.")
    n = y.size
    if n == 1:
        nan = float("nan")
        return GroupMean(
            name=name,
            n=1,
            mean=float(y[0]),
            std_error=nan,
            interval=None,
            spread=(float(y[0]), float(y[0])),
            weighted_mean=float(y[0]),
            weighted_error=float(se[0]),
            random_mean=float(y[0]),
            random_error=float(se[0]),
            between_sd=nan,
        )
    mean, error = float(y.mean()), float(y.std(ddof=1) / np.sqrt(n))
    if relative:
        if not (np.all(y > 0) or np.all(y < 0)):
            raise InputError(
                f"values run from {y.min():.4g} to {y.max():.4g}; relative errors need values of one sign."
            )
        se = se * abs(mean) / np.abs(y)
    variance = np.maximum(se, 1e-12 * max(abs(mean), 1e-300)) ** 2
    tau2 = _between(y, variance)
    fixed, fixed_error = _weighted_mean(y, 1 / variance)
    mixed, mixed_error = _weighted_mean(y, 1 / (variance + tau2))
    between = float(np.sqrt(tau2))
    return GroupMean(
        name=name,
        n=n,
        mean=mean,
        std_error=error,
        interval=mean_interval(y, level, positive),
        spread=(float(y.min()), float(y.max())),
        weighted_mean=fixed,
        weighted_error=fixed_error,
        random_mean=mixed,
        random_error=mixed_error,
        between_sd=between,
    )


def mean_interval(values: ArrayLike, level: float, positive: bool) -> Interval | None:
    """Student's interval of a mean; for a quantity that cannot be negative on the log scale, or at least not below zero.

    Parameters
    ----------
    values : array_like
        One value per subject.
    level : float
    positive : bool
        As in :func:`group_mean`.

    Returns
    -------
    Interval or None
        None for fewer than three subjects.

    Examples
    --------
    >>> low, high = mean_interval([1.0, 2.0, 3.0], 0.95, positive=True)
    >>> round(low * high, 6)                                      # symmetric in the logarithm around the mean
    4.0
    """
    y = np.asarray(values, float)
    if y.size < FEWEST:
        return None
    mean, error = float(y.mean()), float(y.std(ddof=1) / np.sqrt(y.size))
    half = float(special.stdtrit(y.size - 1, 0.5 + level / 2)) * error
    if positive and (y > 0).all():
        factor = float(np.exp(min(half / mean, 700.0)))
        return Interval(mean / factor, mean * factor, level)
    low, high = mean - half, mean + half
    return cut_at_zero(low, high, level) if positive else Interval(low, high, level)


def _weighted_mean(y: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    return float(np.sum(w * y) / w.sum()), float(1 / np.sqrt(w.sum()))


def _between(y: np.ndarray, variance: np.ndarray) -> float:
    """Between-subject variance by restricted maximum likelihood."""

    def loss(tau2: float) -> float:
        w = 1 / (variance + tau2)
        centre = np.sum(w * y) / w.sum()
        return float(np.sum(np.log(variance + tau2)) + np.log(w.sum()) + np.sum(w * (y - centre) ** 2))

    top = max(10 * float(np.var(y, ddof=1)), 1e-300)
    found = minimize_scalar(loss, bounds=(0.0, top), method="bounded", options={"xatol": 1e-10 * top})
    return float(found.x) if loss(found.x) < loss(0.0) else 0.0
