"""Variance of the mean of a dependent series, two ways."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Floats

__all__ = ["bartlett_variance", "cosine_count", "cosine_variance", "newey_west_lags"]


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
