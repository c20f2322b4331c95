"""Which of two estimators is nearer the truth: paired tests on squared deviations of the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.significance.adjust import adjusted

__all__ = ["PairTest", "adjusted_pairs", "paired"]

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """Mean squared deviation of estimator a minus that of b over the samples both were given.

    Parameters
    ----------
    population, model, n
        Which samples.
    a, b : str
        The estimators; a negative difference favours a.
    replications : int
        Samples both have a result for.
    difference, error : float
        Difference of the mean squared deviations and its standard error.
    p, p_adjusted : float or None
        Two-sided p-value of a paired t test, and adjusted for all pairs of the study; None without any spread.
    """

    population: str
    model: str
    n: int
    a: str
    b: str
    replications: int
    difference: float
    error: float
    p: float | None
    p_adjusted: float | None = None

    @property
    def verdict(self) -> str:
        """What may be said at 5%."""
        p = self.p_adjusted if self.p_adjusted is not None else self.p
        if p is None or p >= ALPHA or self.difference == 0:
            return "no difference shown"
        return f"{self.a if self.difference < 0 else self.b} is nearer the truth"

    def row(self) -> dict[str, Any]:
        """Return all fields and the verdict."""
        return {**self.__dict__, "verdict": self.verdict}


def paired(place: tuple[str, str, int], deviations: Mapping[str, tuple[Ints, Floats]]) -> list[PairTest]:
    """Compare every two estimators of one place, each given as replications and deviations.

    Examples
    --------
    >>> reps = np.arange(4)
    >>> near, far = np.array([0.1, -0.1, 0.1, -0.1]), np.array([0.3, -0.3, 0.4, -0.2])
    >>> one = paired(("p", "m", 20), {"near": (reps, near), "far": (reps, far)})[0]
    >>> round(one.difference, 3), one.p < 0.1
    (-0.085, True)
    """
    out = []
    for a, b in combinations(deviations, 2):
        shared, at_a, at_b = np.intersect1d(deviations[a][0], deviations[b][0], assume_unique=True, return_indices=True)
        if len(shared) < 2:
            continue
        gap = deviations[a][1][at_a] ** 2 - deviations[b][1][at_b] ** 2
        mean, error = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
        population, model, n = place
        p = _p(mean, error, len(gap) - 1)
        out.append(
            PairTest(
                population=population,
                model=model,
                n=n,
                a=a,
                b=b,
                replications=len(gap),
                difference=mean,
                error=error,
                p=p,
            )
        )
    return out


def _p(mean: float, error: float, df: int) -> float | None:
    from scipy.special import stdtr

    if error <= 0:
        return None
    return float(2 * stdtr(df, -abs(mean) / error))


def adjusted_pairs(pairs: Sequence[PairTest]) -> tuple[PairTest, ...]:
    """Return the pairs with p-values adjusted for their number."""
    return tuple(replace(one, p_adjusted=p) for one, p in zip(pairs, adjusted([one.p for one in pairs], "holm")))
