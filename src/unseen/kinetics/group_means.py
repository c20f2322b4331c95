"""Means over subjects: two-stage, inverse-variance and random effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import minimize_scalar

from unseen.core.errors import InputError
from unseen.core.estimate import Interval
from unseen.core.result import Result

__all__ = ["GroupMean", "group_mean"]


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
    interval : Interval
        Of the two-stage mean, by Student's t with n - 1 degrees of freedom.
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
    interval: Interval
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
                "lower": self.interval.low,
                "upper": self.interval.high,
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
    values: ArrayLike, errors: ArrayLike, name: str = "", level: float = 0.95, *, relative: bool = False
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
    """
    y, se = np.asarray(values, float), np.asarray(errors, float)
    if y.shape != se.shape or y.ndim != 1 or y.size == 0:
        raise InputError(f"values and errors must be two columns of the same length; got {y.shape} and {se.shape}.")
    n = y.size
    if n == 1:
        only = Interval(float("nan"), float("nan"), level)
        nan = float("nan")
        return GroupMean(
            name=name,
            n=1,
            mean=float(y[0]),
            std_error=nan,
            interval=only,
            weighted_mean=float(y[0]),
            weighted_error=float(se[0]),
            random_mean=float(y[0]),
            random_error=float(se[0]),
            between_sd=nan,
        )
    mean, error = float(y.mean()), float(y.std(ddof=1) / np.sqrt(n))
    half = float(stats.t.ppf(0.5 + level / 2, n - 1)) * error
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
        interval=Interval(mean - half, mean + half, level),
        weighted_mean=fixed,
        weighted_error=fixed_error,
        random_mean=mixed,
        random_error=mixed_error,
        between_sd=between,
    )


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
