"""Differences of groups feature by feature, judged by permutation of the subjects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureDifference", "differences", "smallest_p", "statistics"]


@dataclass(frozen=True, kw_only=True)
class FeatureDifference:
    """One rate or pool in two or more groups.

    Attributes
    ----------
    name : str
    means : dict
        Geometric mean of each group.
    statistic : float
        Welch's t of the logarithms for two groups, the F ratio for more.
    p_value, adjusted : float
        By permutation of the subjects; adjusted for looking at all features (largest statistic of each permutation).
    """

    name: str
    means: Mapping[str, float]
    statistic: float
    p_value: float
    adjusted: float


def differences(names: list[str], X: NDArray, labels: NDArray, orders: list[NDArray]) -> tuple[FeatureDifference, ...]:
    """Each feature by itself, by permutation, with the largest statistic of each permutation for adjustment."""
    observed = statistics(X, labels)
    null = np.array([np.abs(statistics(X, labels[o])) for o in orders])
    raw = (1 + np.sum(null >= np.abs(observed) - 1e-12, axis=0)) / (1 + len(orders))
    top = null.max(axis=1)
    adjusted = np.array([(1 + np.sum(top >= abs(s) - 1e-12)) / (1 + len(orders)) for s in observed])
    groups = np.unique(labels)
    return tuple(
        FeatureDifference(
            name=n,
            means={str(k): float(np.exp(X[labels == k, i].mean())) for k in groups},
            statistic=float(observed[i]),
            p_value=float(raw[i]),
            adjusted=float(adjusted[i]),
        )
        for i, n in enumerate(names)
    )


def statistics(X: NDArray, labels: NDArray) -> NDArray:
    """Return Welch's t of each column for two groups, the F ratio for more."""
    groups = np.unique(labels)
    parts = [X[labels == k] for k in groups]
    if len(parts) == 2:
        a, b = parts
        spread = a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b)
        return (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(np.maximum(spread, 1e-300))
    within = sum(((p - p.mean(axis=0)) ** 2).sum(axis=0) for p in parts)
    between = sum(len(p) * (p.mean(axis=0) - X.mean(axis=0)) ** 2 for p in parts)
    return (between / (len(parts) - 1)) / np.maximum(within / (len(X) - len(parts)), 1e-300)


def smallest_p(sizes: Sequence[int]) -> float:
    """Share of all ways to deal the subjects that part them as they are; groups of equal size may change their names."""
    ways = math.factorial(sum(sizes)) / math.prod(map(math.factorial, sizes))
    return math.prod(math.factorial(sizes.count(s)) for s in set(sizes)) / ways
