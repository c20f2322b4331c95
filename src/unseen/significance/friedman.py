"""Friedman's test over many data sets with Nemenyi's or Holm's pairs after it (Friedman, 1937; Demsar, 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from operator import add
from typing import ClassVar, NamedTuple

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.estimate import check_level
from unseen.core.kinds import RankTest
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.significance.adjust import holm
from unseen.significance.ranking import Ranking

__all__ = ["Friedman", "FriedmanStatistics", "exact_p", "friedman"]

FEW_DATASETS = 10  # below it chi-square and F err, F towards too many findings
MOST_ORDERS = 720  # orders of six models
MOST_SUMS = 200_000  # steps a data set may cost


class FriedmanStatistics(NamedTuple):
    """Chi-square and its p-value, and the F form with its own."""

    chi2: float
    p: float
    f: float
    f_p: float


def friedman(ranks: Floats) -> FriedmanStatistics:
    """Return chi-square (corrected for ties) and its p-value, and Iman and Davenport's F with its own.

    Examples
    --------
    >>> chi2, p, f, f_p = friedman(np.array([[1.0, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]))
    >>> round(chi2, 4), round(p, 4), round(f, 4)
    (4.5, 0.1054, 3.8571)
    """
    from scipy.special import chdtrc, fdtrc

    n, k = ranks.shape
    between = np.square(ranks.sum(axis=0) - n * (k + 1) / 2).sum()
    squares = np.square(ranks).sum()
    spread = squares - n * k * (k + 1) ** 2 / 4
    if spread <= 0:
        return FriedmanStatistics(0.0, 1.0, 0.0, 1.0)
    chi2 = float((k - 1) * between / spread)
    p = float(chdtrc(k - 1, chi2))
    rest = n * (k - 1) - chi2
    if rest <= 1e-12:
        # F is infinite if all data sets order the models alike, which chance does too
        orders = factorial(k) // prod(factorial(int(t)) for t in np.unique(ranks[0], return_counts=True)[1])
        return FriedmanStatistics(chi2, p, float("inf"), float(orders ** (1.0 - n)))
    f = (n - 1) * chi2 / rest
    return FriedmanStatistics(chi2, p, float(f), float(fdtrc(k - 1, (k - 1) * (n - 1), f)))


def exact_p(ranks: Floats) -> float | None:
    """Return the chance of rank sums at least as far apart, over all ways to deal out the ranks of each data set.

    None if there are too many ways to go through; chi-square and F serve for as many data sets as that takes.

    Examples
    --------
    >>> round(1 / exact_p(np.array([[1.0, 2, 3]] * 4))), exact_p(np.array([[1.0, 2], [1, 2], [1, 2]]))
    (216, 0.25)
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    ways = [_orders(row) for row in doubled.tolist()]
    if any(w is None for w in ways):
        return None
    sums: dict[tuple[int, ...], float] = {tuple([0] * ranks.shape[1]): 1.0}
    for way in ways:
        assert way is not None
        if len(sums) * len(way) > MOST_SUMS:
            return None
        grown: dict[tuple[int, ...], float] = {}
        for total, chance in sums.items():
            for order in way:
                # models are exchangeable under chance, so only the set of sums matters
                key = tuple(sorted(map(add, total, order)))
                grown[key] = grown.get(key, 0.0) + chance / len(way)
        sums = grown
    seen = np.square(doubled.sum(axis=0)).sum()
    return min(1.0, sum(chance for total, chance in sums.items() if sum(v * v for v in total) >= seen))


def _orders(row: list[int]) -> list[tuple[int, ...]] | None:
    """Return the different orders of a row of ranks, ties among them; None if they are too many."""
    return sorted(set(permutations(row))) if factorial(len(row)) <= MOST_ORDERS else None


@register
@dataclass(frozen=True)
class Friedman(RankTest):
    """Ranks of the models within each data set against chance; data sets are the independent units, folds are not.

    With fewer than ten data sets, or two models, both p-values are exact over all orders, if these can be gone through:
    there chi-square and F err, F on the side of too many findings (three models, three data sets: 20% at nominal 5%).

    Parameters
    ----------
    posthoc : {"nemenyi", "holm"}
        All pairs after it: by the studentized range, with one critical difference; or normal tests adjusted by Holm.

    References
    ----------
    Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of variance. JASA
    32, 675-701. Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 1-30.

    Examples
    --------
    >>> errors = np.random.default_rng(0).random((12, 3)) * 0.1 + [0.1, 0.15, 0.3]
    >>> r = Friedman()(errors, ["svm", "tree", "dummy"])
    >>> [r.names[k] for k in r.order()], r.p < 0.001
    (['svm', 'tree', 'dummy'], True)
    """

    posthoc: str = "nemenyi"
    id: ClassVar[str] = "friedman"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009"})

    def __post_init__(self) -> None:
        if self.posthoc not in ("nemenyi", "holm"):
            raise InputError(f"posthoc is {self.posthoc!r}; give 'nemenyi' or 'holm'.")

    def __call__(self, errors: Floats, names: Sequence[str], *, level: float = 0.95) -> Ranking:
        """Return mean ranks, both forms of the test and all pairs, from a matrix data set x model of errors."""
        from scipy.stats import rankdata

        level, matrix = check_level(level), _check_errors(errors, names)
        n, k = matrix.shape
        ranks = rankdata(matrix, axis=1)
        means = ranks.mean(axis=0)
        unit = np.sqrt(k * (k + 1) / (6 * n))
        gaps = np.abs(np.subtract.outer(means, means)) / unit
        pairwise, critical = self._pairs(gaps, k, level)
        notes: tuple[Note, ...] = ()
        tests = friedman(ranks)
        if n < FEW_DATASETS or k == 2:
            exact = exact_p(ranks)
            if exact is not None:
                tests = tests._replace(p=exact, f_p=exact)
                if k == 2:  # the pair is the test, and no critical difference may contradict it
                    pairwise, critical = np.where(np.eye(2) > 0, 1.0, exact), None
        if n < FEW_DATASETS:
            which = "those of pairs are" if tests.p == tests.f_p else "p-values are"
            notes = (note("U009", f"only {n} data sets; {which} approximations that want {FEW_DATASETS} or more"),)
        return Ranking(
            names=tuple(names),
            mean_ranks=means,
            mean_errors=matrix.mean(axis=0),
            statistic=tests.chi2,
            p=tests.p,
            f_statistic=tests.f,
            f_p=tests.f_p,
            pairwise=pairwise,
            posthoc=self.posthoc,
            critical_difference=None if critical is None else critical * unit,
            n_datasets=n,
            level=level,
            notes=notes,
        )

    def _pairs(self, gaps: Floats, k: int, level: float) -> tuple[Floats, float | None]:
        from scipy.special import ndtr
        from scipy.stats import studentized_range

        above = np.triu_indices(k, 1)
        p = np.ones((k, k))
        if self.posthoc == "holm":
            p[above] = holm(2 * ndtr(-gaps[above]))
            critical = None
        else:
            p[above] = studentized_range.sf(gaps[above] * np.sqrt(2), k, np.inf)
            critical = float(studentized_range.ppf(level, k, np.inf) / np.sqrt(2))
        p.T[above] = p[above]
        return p, critical


def _check_errors(errors: Floats, names: Sequence[str]) -> Floats:
    try:
        matrix = np.asarray(errors, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("errors must be a table of numbers, one row per data set and one column per model.") from error
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise InputError(
            f"errors must be a table data set x model with {len(names)} columns; its shape is {matrix.shape}."
        )
    if matrix.shape[1] < 2 or len(matrix) < 2:
        raise InputError(f"friedman needs at least 2 models and 2 data sets; the table is {matrix.shape}.")
    if len(set(names)) < len(names):
        raise InputError(f"model names must differ: {', '.join(map(str, names))}.")
    if not np.all(np.isfinite(matrix)):
        raise InputError("errors has a missing or infinite value; leave that data set out for all models.")
    return matrix
