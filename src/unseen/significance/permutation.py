"""Paired permutation test: the two models' losses of a unit change places at random (Fisher, 1935)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.estimate import Target
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.core.rng import stream
from unseen.designs.holdout import Holdout
from unseen.significance.mcnemar import pooled_folds
from unseen.significance.paired import check_pair, comparison_of, without_interval

__all__ = ["Permutation", "sign_flip_p"]

EXACT_UP_TO = 20  # a million sign flips
CELLS_AT_ONCE = 4_000_000  # 4 MB of signs at a time


def sign_flip_p(totals: Floats, n_resamples: int, rng: np.random.Generator) -> tuple[float, str]:
    """Return the share of sign flips with a sum at least as far from 0 as observed, and how it was found.

    Exact by enumeration for up to 20 nonzero values, exact by the binomial distribution if all are of one size,
    else (1 + hits)/(1 + n_resamples). Ties count, and no p-value is 0.

    Examples
    --------
    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]), 99, np.random.default_rng(0))
    (0.25, '8 sign flips')
    """
    sizes = np.abs(totals[totals != 0])
    observed = abs(float(totals.sum()))
    if len(sizes) == 0:
        return 1.0, "no differences"
    slack = 1e-9 * float(sizes.sum())
    if np.ptp(sizes) <= 1e-12 * sizes.max():
        from scipy.special import bdtr

        plus = (totals > 0).sum()
        least = min(int(plus), len(sizes) - int(plus))
        return min(1.0, 2 * float(bdtr(least, len(sizes), 0.5))), f"binomial({len(sizes)}, 1/2)"
    if len(sizes) <= EXACT_UP_TO:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums - size, sums + size])
        return float(np.mean(np.abs(sums) >= observed - slack)), f"{len(sums)} sign flips"
    hits, done = 0, 0
    while done < n_resamples:
        count = min(n_resamples - done, max(1, CELLS_AT_ONCE // len(sizes)))
        signs = rng.integers(0, 2, (count, len(sizes)), dtype=np.int8)
        sums = 2.0 * (signs @ sizes) - sizes.sum()
        hits += int((np.abs(sums) >= observed - slack).sum())
        done += count
    return (1 + hits) / (1 + n_resamples), f"{n_resamples} random sign flips"


@register
@dataclass(frozen=True)
class Permutation(PairedTest):
    """Mean difference against all exchanges of the two models' losses within units; a group is exchanged as a whole.

    Parameters
    ----------
    n_resamples : int
        Random exchanges, if there are too many to list.

    References
    ----------
    Fisher, R. A. (1935). The design of experiments, section 21. Phipson, B. and Smyth, G. K. (2010). Permutation
    p-values should never be zero. Statistical Applications in Genetics and Molecular Biology 9, 39.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.dummy import DummyRegressor
    >>> c = unseen.compare(LinearRegression(), DummyRegressor(), X, y, test="permutation", random_state=0)
    >>> c.pairs[0].p
    0.0001
    """

    n_resamples: int = 9999
    id: ClassVar[str] = "permutation"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout", "kfold", "loo"})
    target: ClassVar[Target] = Target.MODEL
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the mean difference and the p-value."""
        difference, level = check_pair(self, a, b, level)
        rows, values = difference.test.row, difference.test.value
        weight = difference.row_weights(rows)
        units = difference.data.units[rows]
        totals = np.asarray(np.bincount(units, weight * values, difference.data.n_units), dtype=float)
        rng = stream(difference.source[0].seed, self.id, difference.plan.fingerprint)
        p, reference = sign_flip_p(totals, self.n_resamples, rng)
        value = float(np.average(values, weights=weight))
        estimate = without_interval(self, difference, value, pooled_folds(difference))
        return comparison_of(difference, estimate, level, statistic=float(totals.sum()), reference=reference, p=p)
