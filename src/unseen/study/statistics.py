"""Means, shares, variances and correlations over replications, each with its Monte-Carlo error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.summary import variance_error

__all__ = ["Measured", "correlation_of", "coverage_of", "mean_of", "share_of", "variance_of"]

LEAST_PAIRS = 4  # the error divides by n - 3


@dataclass(frozen=True)
class Measured:
    """A number from a simulation and its Monte-Carlo error.

    Examples
    --------
    >>> str(Measured(0.125, 0.0125))
    '0.125 (0.013)'
    """

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.error:.2g})"


def mean_of(values: Floats) -> Measured:
    """Return a mean.

    Examples
    --------
    >>> mean_of(np.array([1.0, 3.0]))
    Measured(value=2.0, error=1.0)
    """
    return Measured(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def share_of(flags: Array) -> Measured:
    """Return a share; half a count is added to both sides in its error, so that 0 and 1 have one too.

    Examples
    --------
    >>> round(share_of(np.array([True] * 99)).error, 4)
    0.0071
    """
    n, hits = len(flags), int(np.sum(flags))
    near = (hits + 0.5) / (n + 1)
    return Measured(hits / n, float(np.sqrt(near * (1 - near) / n)))


def variance_of(values: Floats) -> Measured:
    """Return a variance (divisor n - 1), its error from the fourth moment.

    Examples
    --------
    >>> variance_of(np.array([0.0, 1.0, 2.0])).value
    1.0
    """
    return Measured(float(values.var(ddof=1)), variance_error(values))


def correlation_of(x: Floats, y: Floats) -> Measured | None:
    """Return a correlation, its error from the influence of each pair; None if one side does not vary, or below 4 pairs.

    Three pairs are counted off, as in the variance 1 / (n - 3) of Fisher's z.

    Examples
    --------
    >>> round(correlation_of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])).value, 3)
    0.8
    """
    sd_x, sd_y = x.std(), y.std()
    if len(x) < LEAST_PAIRS or not (
        sd_x > 1e-12 * np.abs(x).max(initial=0.0) and sd_y > 1e-12 * np.abs(y).max(initial=0.0)
    ):
        return None
    u, v = (x - x.mean()) / sd_x, (y - y.mean()) / sd_y
    r = float(np.clip(np.mean(u * v), -1.0, 1.0))
    influence = u * v - r * (u**2 + v**2) / 2
    return Measured(r, float(influence.std(ddof=1) / np.sqrt(len(x) - 3)))


def coverage_of(lower: Floats, upper: Floats, target: Floats, kind: str) -> Measured:
    """Return how often intervals hold their target.

    A target of kind "model" moves with the sample, and each interval is compared with its own. A target of kind
    "algorithm" is one number, the mean of `target`; how far coverage changes within the Monte-Carlo error of that mean
    counts in the error.

    Examples
    --------
    >>> low, high = np.zeros(4), np.array([1.0, 1.0, 1.0, 0.1])
    >>> coverage_of(low, high, np.array([0.2, 0.3, 2.0, 0.05]), "model").value
    0.75
    >>> coverage_of(low, high, np.array([0.2, 0.3, 0.2, 0.1]), "algorithm").value
    0.75
    """
    if kind == "model":
        return share_of((lower <= target) & (target <= upper))
    risk = mean_of(target)

    def at(value: float) -> Any:
        return (lower <= value) & (value <= upper)

    exact = share_of(at(risk.value))
    moved = [abs(float(at(risk.value + s * risk.error).mean()) - exact.value) for s in (-1, 1)]
    return Measured(exact.value, float(np.hypot(exact.error, max(moved))))
