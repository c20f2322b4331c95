"""How an error estimator does over many samples: bias, deviation variance and RMS, with their Monte-Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.core.errors import InputError
from unseen.core.result import Result

__all__ = ["Summary", "summarize", "variance_error"]

LEAST_FOR_FOURTH = 4  # the fourth k-statistic divides by n - 3


@dataclass(frozen=True, kw_only=True)
class Summary(Result):
    """Deviation of an estimator from the true error over replications, in the terms of Braga-Neto & Dougherty (2004).

    Parameters
    ----------
    estimator : str
        What was estimated with.
    n : int
        Number of replications.
    bias, bias_error : float
        Mean of estimate minus true error, and its Monte-Carlo error.
    variance, variance_error : float
        Variance of the deviation (divided by n - 1), and its Monte-Carlo error from the fourth moment; see `variance_error`.
    rms, rms_error : float
        Root of the mean squared deviation, and its Monte-Carlo error by the delta method.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> s = summarize([0.1, 0.3, 0.2, 0.2], [0.2, 0.2, 0.2, 0.2], "resub")
    >>> abs(s.bias) < 1e-12, round(s.variance, 6), round(s.rms, 6)
    (True, 0.006667, 0.070711)
    """

    estimator: str
    n: int
    bias: float
    bias_error: float
    variance: float
    variance_error: float
    rms: float
    rms_error: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of all figures."""
        return [self.to_dict()]

    def __str__(self) -> str:
        return (
            f"{self.estimator or 'estimator'}: bias {self.bias:+.4f} ({self.bias_error:.4f}), variance {self.variance:.5f} "
            f"({self.variance_error:.5f}), rms {self.rms:.4f} ({self.rms_error:.4f}) over {self.n} replications"
        )


def summarize(
    estimates: npt.ArrayLike, truth: npt.ArrayLike, estimator: str = "", strata: npt.ArrayLike | None = None
) -> Summary:
    """Return bias, deviation variance and RMS of estimates against the true errors of the same replications.

    Parameters
    ----------
    estimates, truth : array-like
        One pair per replication; pairs with an estimate that is not finite are refused.
    estimator : str
        Name kept in the record.
    strata : array-like, optional
        Group of each replication (data set, rule); Monte-Carlo errors then come from the spread within groups, because the
        groups themselves are fixed.

    Returns
    -------
    Summary

    Examples
    --------
    >>> round(summarize([0.25, 0.35], [0.2, 0.3]).bias, 12)
    0.05
    """
    deviation = np.asarray(estimates, dtype=float) - np.asarray(truth, dtype=float)
    if deviation.ndim != 1 or len(deviation) < 2:
        raise InputError(f"a summary needs at least 2 replications in one dimension; given: shape {deviation.shape}.")
    if not np.all(np.isfinite(deviation)):
        raise InputError(f"{int(np.sum(~np.isfinite(deviation)))} of {len(deviation)} deviations are not finite.")
    n = len(deviation)
    groups = np.zeros(n, dtype=np.int64) if strata is None else np.unique(np.asarray(strata), return_inverse=True)[1]
    centred = deviation - deviation.mean()
    squares = deviation**2
    mean_square = float(squares.mean())
    rms = float(np.sqrt(mean_square))
    return Summary(
        estimator=estimator,
        n=n,
        bias=float(deviation.mean()),
        bias_error=_mean_error(deviation, groups),
        variance=float(centred @ centred / (n - 1)),
        variance_error=variance_error(deviation) if strata is None else _mean_error(centred**2, groups),
        rms=rms,
        rms_error=_mean_error(squares, groups) / (2 * rms) if rms > 0 else 0.0,
    )


def variance_error(values: npt.NDArray[np.float64]) -> float:
    """Return the standard error of a variance with divisor n - 1.

    Its square is the unbiased estimate (2 n k2^2 + (n - 1) k4) / (n (n + 1)) from the k-statistics, at least the variance of the
    squared deviations over n, which alone is a quarter too small at n = 10; normal values are taken for granted below n = 4.

    References
    ----------
    Kenney, J. F. and Keeping, E. S. (1951). Mathematics of Statistics, part 2, 2nd edition. Van Nostrand, section 7.

    Examples
    --------
    >>> round(variance_error(np.array([0.0, 1.0])), 4)  # s^2 = 1/2, times sqrt(2/3)
    0.4082
    """
    n = len(values)
    squares = (values - values.mean()) ** 2
    m2, m4 = float(squares.mean()), float((squares**2).mean())
    k2 = m2 * n / (n - 1)
    if n < LEAST_FOR_FOURTH:
        return float(np.sqrt(2 / (n + 1)) * k2)
    k4 = n**2 * ((n + 1) * m4 - 3 * (n - 1) * m2**2) / ((n - 1) * (n - 2) * (n - 3))
    unbiased = (2 * n * k2**2 + (n - 1) * k4) / (n * (n + 1))
    return float(np.sqrt(max(unbiased, float(squares.var(ddof=1)) / n)))


def _mean_error(values: npt.NDArray[np.float64], groups: npt.NDArray[np.int64]) -> float:
    """Standard error of the mean of values whose groups are fixed."""
    size = np.bincount(groups)
    mean = np.bincount(groups, values) / size
    within = np.bincount(groups, (values - mean[groups]) ** 2)
    free = len(values) - len(size)
    if free <= 0:
        return float("nan")
    inner = np.where(size > 1, within / np.maximum(size - 1, 1), within.sum() / free)
    return float(np.sqrt(np.sum(size * inner)) / len(values))
