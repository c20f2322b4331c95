"""Plain means over test parts, one for each design that tests units; none has an interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.kfold import KFold
from unseen.designs.leave_out import LeaveOut
from unseen.designs.leave_p_out import LeavePOut
from unseen.designs.loo import LeaveOneOut
from unseen.designs.monte_carlo import MonteCarlo
from unseen.designs.repeated_kfold import RepeatedKFold

__all__ = [
    "KFoldError",
    "LeaveOneOutError",
    "LeaveOutError",
    "LeavePOutError",
    "MeanOverRows",
    "MeanOverSplits",
    "MonteCarloError",
    "RepeatedKFoldError",
    "mean_distinct_units",
    "mean_over_tested",
    "untested_note",
]

FAMILY = ("kfold", "repeated-kfold", "loo", "leave-p-out", "leave-out", "monte-carlo")
MOST_FITS = 1000  # all pairs of 45 units; beyond that pairs are drawn


def untested_note(table: LossTable) -> tuple[Note, ...]:
    """Return the note on units that no completed split tested, if there are any."""
    tested = np.count_nonzero(np.bincount(table.data.units[table.test.row]))
    if tested == table.data.n_units:
        return ()
    return (note("U012", f"{table.data.n_units - tested} of {table.data.n_units} units were never tested"),)


def mean_over_tested(table: LossTable) -> float:
    """Return the mean over rows of each row's own mean test loss; rows that were never tested are left out."""
    losses = table.by_row()
    tested = np.flatnonzero(np.isfinite(losses))
    return float(np.average(losses[tested], weights=table.row_weights(tested)))


def mean_distinct_units(n: int) -> float:
    """Return how many of n units a bootstrap sample holds on average, (1 - (1 - 1/n)^n) n, to one decimal.

    Examples
    --------
    >>> mean_distinct_units(100)
    63.4
    """
    return round((1 - (1 - 1 / n) ** n) * n, 1)


class MeanOverRows(TableMethod):
    """Mean over all test losses, each as often as it was tested; for designs that test all rows alike."""

    point_only: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean loss over all tested rows."""
        check_table(self, table, level)
        value = np.average(table.test.value, weights=table.row_weights(table.test.row))
        return point_estimate(self, table, float(value), notes=untested_note(table))


class MeanOverSplits(TableMethod):
    """Mean of the splits' mean losses; of a measure of sets, its value on the pooled test parts."""

    point_only: ClassVar[bool] = True

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean of the splits' mean losses."""
        check_table(self, table, level)
        return point_estimate(self, table, float(table.contributions().mean()))


@register
@dataclass(frozen=True)
class KFoldError(MeanOverRows):
    """Mean over all units, each tested once by a model that did not see it; `cv-wald` and `nested-cv` add intervals.

    References
    ----------
    Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions. JRSS B 36, 111-147.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="kfold", random_state=0).n_fits
    10
    """

    id: ClassVar[str] = "kfold"
    designs: ClassVar[frozenset[str]] = frozenset({"kfold", "splits"})

    def default_design(self, data: Data) -> KFold:
        """Return 10 folds, or as many as there are units."""
        return KFold(n_folds=min(10, data.n_units))


@register
@dataclass(frozen=True)
class RepeatedKFoldError(MeanOverRows):
    """Mean over all units and rounds; less noise from the shuffle than one round of k-fold.

    References
    ----------
    Burman, P. (1989). A comparative study of ordinary cross-validation, v-fold cross-validation and the repeated
    learning-testing methods. Biometrika 76, 503-514.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="repeated-kfold", random_state=0).n_fits
    50
    """

    id: ClassVar[str] = "repeated-kfold"
    designs: ClassVar[frozenset[str]] = frozenset({"repeated-kfold"})

    def default_design(self, data: Data) -> RepeatedKFold:
        """Return five rounds of 10 folds, or of as many as there are units."""
        return RepeatedKFold(n_folds=min(10, data.n_units))


@register
@dataclass(frozen=True)
class LeaveOneOutError(MeanOverRows):
    """Mean over all units, each tested by the model trained on all the others: hardly biased, but variable.

    References
    ----------
    Lachenbruch, P. A. and Mickey, M. R. (1968). Estimation of error rates in discriminant analysis. Technometrics
    10, 1-11.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="loo", random_state=0).n_fits
    150
    """

    id: ClassVar[str] = "loo"
    designs: ClassVar[frozenset[str]] = frozenset({"loo"})

    def default_design(self, data: Data) -> LeaveOneOut:
        """Return leave-one-out."""
        return LeaveOneOut()


@register
@dataclass(frozen=True)
class LeavePOutError(MeanOverSplits):
    """Mean over all ways, or many distinct ways, to leave p units out.

    References
    ----------
    Shao, J. (1993). Linear model selection by cross-validation. Journal of the American Statistical Association 88,
    486-494.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X[40:60], y[40:60], method="leave-p-out", random_state=0).n_fits
    190
    """

    id: ClassVar[str] = "leave-p-out"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-p-out"})

    def default_design(self, data: Data) -> LeavePOut:
        """Return all pairs if there are at most 1,000 of them, else 1,000 distinct ones."""
        return LeavePOut(2, None if comb(data.n_units, 2) <= MOST_FITS else MOST_FITS)


@register
@dataclass(frozen=True)
class LeaveOutError(MeanOverSplits):
    """Mean over distinct random splits: the location of the leave-out distribution of the generalization error.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="leave-out", random_state=0).n_fits
    200
    """

    id: ClassVar[str] = "leave-out"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-out"})
    by_split: ClassVar[bool] = True
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> LeaveOut:
        """Return 200 distinct splits that leave a quarter out, or as many as there are."""
        return LeaveOut(0.25, min(200, comb(data.n_units, -(-data.n_units // 4))))


@register
@dataclass(frozen=True)
class MonteCarloError(MeanOverSplits):
    """Mean over splits, random or given by the user; `corrected-t` adds an interval.

    References
    ----------
    Picard, R. R. and Cook, R. D. (1984). Cross-validation of regression models. Journal of the American Statistical
    Association 79, 575-583.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="monte-carlo", random_state=0).n_fits
    25
    """

    id: ClassVar[str] = "monte-carlo"
    designs: ClassVar[frozenset[str]] = frozenset({"monte-carlo", "splits"})
    by_split: ClassVar[bool] = True
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> MonteCarlo:
        """Return 25 random 90/10 splits."""
        return MonteCarlo(fraction=0.1, n_splits=25)
