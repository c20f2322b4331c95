"""Exact intervals for the difference of two accuracies from labels of a sample of the points they disagree on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.estimate import Interval

__all__ = ["SHARE_FOR_P", "binomial_interval", "file_interval", "hypergeometric_interval", "population_interval"]

# part of the error allowance spent on p, which rests on far more points than the labels do
SHARE_FOR_P = 0.1


def binomial_interval(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a share.

    Examples
    --------
    >>> [round(v, 4) for v in binomial_interval(2, 10, 0.95)]
    [0.0252, 0.5561]
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    return low, 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))


def hypergeometric_interval(hits: int, sample: int, size: int, level: float) -> tuple[int, int]:
    """Return the numbers of marked units in a file of `size` that `hits` marked ones in a random sample do not reject.

    Parameters
    ----------
    hits, sample : int
        Marked units in the sample, and its size.
    size : int
        Units in the file.
    level : float
        Confidence level; each tail gets half of the rest.

    Examples
    --------
    >>> hypergeometric_interval(3, 10, 10, 0.95), hypergeometric_interval(0, 5, 100, 0.95)
    ((3, 3), (0, 51))
    """
    from scipy.stats import hypergeom

    tail = (1 - level) / 2
    least, most = hits, size - (sample - hits)
    # both tails are monotone in the number of marked units
    low = _first(lambda marked: hypergeom.sf(hits - 1, size, marked, sample) > tail, least, most)
    high = most - _first(lambda fewer: hypergeom.cdf(hits, size, most - fewer, sample) > tail, 0, most - least)
    return low, high


def _first(holds: Callable[[int], Any], low: int, high: int) -> int:
    """Return the smallest number from which on a condition holds; the last one is taken to hold."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def file_interval(
    first: int, second: int, labels: int, differ: int, n: int, level: float, two_classes: bool
) -> Interval:
    """Return the interval of A1 - A2 on the points of this file, of which only a random part was labelled.

    Two classes: exactly one of the classifiers is right where they disagree, so that the number W of points the first
    gets right decides all: A1 - A2 = (2 W - D) / n. More classes: both may be wrong, and the two counts are bounded
    each at half the error allowance (Bonferroni).
    """
    if two_classes:
        low, high = hypergeometric_interval(first, labels, differ, level)
        return Interval((2 * low - differ) / n, (2 * high - differ) / n, level)
    each = 1 - (1 - level) / 2
    plus = hypergeometric_interval(first, labels, differ, each)
    minus = hypergeometric_interval(second, labels, differ, each)
    # points already seen to be lost by a model cannot be won by it
    low = max(plus[0] - minus[1], plus[0] - (differ - plus[0]))
    high = min(plus[1] - minus[0], (differ - minus[0]) - minus[0])
    return Interval(low / n, high / n, level)


def population_interval(
    first: int, second: int, labels: int, differ: int, n: int, level: float, two_classes: bool
) -> Interval:
    """Return the interval of A1 - A2 for new points like these: binomial, with the error of the share p itself.

    The allowance 1 - level is split by Bonferroni: a tenth for p, the rest for what the labels say.
    """
    share = binomial_interval(differ, n, 1 - SHARE_FOR_P * (1 - level))
    rest = (1 - SHARE_FOR_P) * (1 - level)
    if two_classes:
        low, high = binomial_interval(first, labels, 1 - rest)
        ends = (2 * low - 1, 2 * high - 1)
    else:
        plus = binomial_interval(first, labels, 1 - rest / 2)
        minus = binomial_interval(second, labels, 1 - rest / 2)
        ends = (max(plus[0] - minus[1], 2 * plus[0] - 1), min(plus[1] - minus[0], 1 - 2 * minus[0]))
        # the two intervals can together exclude what is possible only by accident of rounding
        ends = (max(ends[0], -1.0), min(ends[1], 1.0))
    corners: Floats = np.array([p * delta for p in share for delta in ends])
    return Interval(float(corners.min()), float(corners.max()), level)
