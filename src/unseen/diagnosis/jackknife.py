"""`unseen.jackknife`: a statistic with its jackknife bias and standard error (Efron, 1982)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Interval, Target, check_level
from unseen.core.result import Result

__all__ = ["Jackknife", "jackknife"]


@dataclass(frozen=True)
class Jackknife(Result):
    """A statistic with its jackknife bias and standard error.

    Parameters
    ----------
    estimate : Estimate
        The statistic with its standard error and normal interval.
    bias : float
        Jackknife estimate of its bias, (n - 1) (mean of leave-one-out values - value).
    """

    estimate: Estimate
    bias: float

    @property
    def corrected(self) -> float:
        """The statistic less its bias."""
        return self.estimate.value - self.bias

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row of `frame()`."""
        return [{**self.estimate.row(), "bias": self.bias, "corrected": self.corrected}]

    def __str__(self) -> str:
        return f"{self.estimate}; bias {self.bias:.4g}, corrected {self.corrected:.4g}"


def jackknife(statistic: Callable[..., float], *arrays: Any, level: float = 0.95, name: str = "statistic") -> Jackknife:
    """Return a statistic of rows with jackknife bias and standard error.

    Parameters
    ----------
    statistic : callable
        Function of the arrays, such as the training error of a model fitted on them.
    *arrays : array-like
        Arrays with one row per unit; each is left out once.
    level : float
        Confidence level of the normal interval.
    name : str
        What the statistic is called.

    References
    ----------
    Efron, B. (1982). The jackknife, the bootstrap, and other resampling plans. SIAM.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0, 9.0])
    >>> j = jackknife(np.var, x)
    >>> bool(np.isclose(j.corrected, np.var(x, ddof=1)))
    True
    """
    from scipy.special import ndtri

    check_level(level)
    parts = [np.asarray(a) for a in arrays]
    if not parts or len({len(p) for p in parts}) > 1 or len(parts[0]) < 2:
        raise InputError("the jackknife needs arrays of the same length, with at least 2 rows.")
    n = len(parts[0])
    value = float(statistic(*parts))
    left = np.array([float(statistic(*(np.delete(p, k, axis=0) for p in parts))) for k in range(n)])
    se = float(np.sqrt((n - 1) * left.var()))
    half = float(ndtri((1 + level) / 2)) * se
    made = Estimate(
        value=value,
        std_error=se,
        interval=Interval(value - half, value + half, level),
        df=None,
        method="jackknife",
        target=Target.MODEL,
        loss=name,
        n_units=n,
        n_fits=0,
    )
    return Jackknife(made, (n - 1) * float(left.mean() - value))
