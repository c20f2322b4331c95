"""Measures that add up independent rates: balanced accuracy and d', with limits recovered from those of the rates."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.estimate import Estimate
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure_input import Judged
from unseen.evaluation.measure_intervals import estimate_of
from unseen.measures.agreement import DPrime

__all__ = ["balanced_estimate", "d_prime_estimate", "recovered"]


def recovered(values: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the limits of a sum of independent estimates from the limits of each (Donner & Zou, 2012).

    References
    ----------
    Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the normal mean and standard
    deviation. Statistical Methods in Medical Research 21, 347-359. Newcombe, R. G. (1998). Interval estimation for the
    difference between independent proportions. Statistics in Medicine 17, 873-890 (from Wilson's limits).

    Examples
    --------
    >>> recovered(np.array([1.0, 2.0]), np.array([-2.0, -2.0]), np.array([4.0, 6.0]))
    (-2.0, 8.0)
    """
    total = float(values.sum())
    down, up = np.sqrt(np.square(values - low).sum()), np.sqrt(np.square(high - values).sum())
    return total - float(down), total + float(up)


def balanced_estimate(j: Judged, level: float) -> Estimate | None:
    """Return the mean over classes of the share called right; cases must be independent."""
    rates = [_rate(j.value[j.y == k] == k, level) for k in np.unique(j.y)]
    value, low, high = np.array([one[:3] for one in rates]).T / len(rates)
    error = float(np.sqrt(np.sum([p * (1 - p) / n for p, _, _, n in rates]))) / len(rates)
    ends = np.clip(recovered(value, low, high), 0.0, 1.0)
    name = "balanced-accuracy"
    return estimate_of(j, name, float(value.sum()), error, (ends[0], ends[1]), level, "mover-wilson")


def d_prime_estimate(j: Judged, level: float) -> Estimate | None:
    """Return d'; without a miss, or without a false alarm, its interval has no upper end. Cases must be independent."""
    from scipy.special import ndtri

    positive, said = j.y == j.positive, j.value == j.positive
    if positive.all() or not positive.any():
        return None
    rates = np.array([_rate(called, level) for called in (said[positive], ~said[~positive])])
    near = np.clip(rates[:, 0], 0.5 / rates[:, 3], 1 - 0.5 / rates[:, 3])  # as DPrime counts rates of 0 and 1
    z, density = ndtri(near), np.exp(-np.square(ndtri(near)) / 2) / np.sqrt(2 * np.pi)
    error = float(np.sqrt(np.sum(near * (1 - near) / rates[:, 3] / density**2)))
    ends = recovered(z, ndtri(rates[:, 1]), ndtri(rates[:, 2]))
    return estimate_of(j, DPrime.id, float(z.sum()), error, ends, level, "mover-wilson")


def _rate(right: Array, level: float) -> tuple[float, float, float, float]:
    share = float(right.mean())
    return (share, *wilson_interval(share, len(right), level), float(len(right)))
