"""Corrected resampled t interval (Nadeau & Bengio, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, count_of
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, split_freedom, t_interval
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.monte_carlo import MonteCarlo

__all__ = ["CorrectedT", "few_errors", "large_share", "small_test_parts"]

LARGE_TEST_SHARE = 0.25  # from here on training parts are so small that the error is that of another training size
SMALL_TEST_SHARE = 0.2  # below it tests of two unstable models rejected a true null in 9% of cases instead of 5%
FEW_ERRORS = 10  # with fewer the interval should be skewed, and this one is symmetric
RARE_CLASS = 0.3  # below it intervals of F1 and its like covered .78 to .86 instead of .95


def large_share(share: float) -> tuple[Note, ...]:
    """Return the note on test parts so large that training parts show the error of another training size."""
    return (note("U015", f"{share:.0%} of the units are tested in each split"),) if share >= LARGE_TEST_SHARE else ()


def small_test_parts(share: float) -> tuple[Note, ...]:
    """Return the note on test parts so small that the test of a difference does not keep its size."""
    if share >= SMALL_TEST_SHARE:
        return ()
    text = f"{share:.0%} of the units are tested in each split; two unstable models then differ too often (.09 at .05), so test 30%"
    return (note("U016", text),)


def few_errors(table: LossTable) -> tuple[Note, ...]:
    """Return the note on an error rate that rests on fewer than ten errors, or right answers, if it does."""
    if table.by_split or not np.all(np.isin(table.test.value, table.range)):
        return ()
    low, high = table.range
    by_row = (table.by_row() - low) / (high - low)
    seen = by_row[np.isfinite(by_row)]
    wrong = float(seen.mean())
    count = min(wrong, 1 - wrong) * len(seen)
    if not 0 < count < FEW_ERRORS:
        return ()
    what = "wrong" if wrong <= 0.5 else "right"
    rows = f"{len(seen)} tested rows"
    if table.data.grouped:
        units = len(np.unique(table.data.units[np.isfinite(by_row)]))
        rows += f" (in {count_of(units, table.data.unit)})"
    text = f"about {count:.2g} of {rows} were {what}; a 95% interval from so few covered .88 to .92 at worst"
    return (note("U009", text),)


def _rare_in_sets(table: LossTable) -> tuple[Note, ...]:
    """Return the note on F1, sensitivity and their like of a rare class: how often a model names it depends on all its training data."""
    if not getattr(table, "pooled", False) or table.data.classes is None:
        return ()
    share = np.bincount(table.data.codes).min() / table.data.n
    if share >= RARE_CLASS:
        return ()
    text = f"the rarest class has {share:.0%} of the rows; 95% intervals of such measures then covered .78 to .86, those of conservative-z .97"
    return (note("U016", text),)


@register
@dataclass(frozen=True)
class CorrectedT(TableMethod):
    """Mean over splits, random or of folds; its variance (1/J + n2/n1) S^2 allows for the overlap of training sets.

    The interval is symmetric, which a rate near 0 or 1 is not: if fewer than ten errors are seen a note says so.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="corrected-t", random_state=0)
    >>> e.n_fits, e.df, e.value in e.interval
    (25, 24, True)
    """

    id: ClassVar[str] = "corrected-t"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-out", "monte-carlo", "repeated-kfold"})
    by_split: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009", "U015", "U016"})
    version: ClassVar[int] = 3

    def default_design(self, data: Data) -> MonteCarlo:
        """Return 25 random 90/10 splits."""
        return MonteCarlo(fraction=0.1, n_splits=25)

    def difference_design(self, data: Data) -> MonteCarlo:
        """Return 25 random 70/30 splits: a share at which the test of a difference keeps its size.

        Two unstable models trained on 90% of 100 units reject a true null in about 9% of cases at nominal 5%: their
        differences on small test parts are more correlated than n2/n allows for (see the study in the documentation).
        """
        return MonteCarlo(fraction=0.3, n_splits=25)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean and its corrected t interval with J - 1 degrees of freedom, or one less than the units if these are fewer."""
        level = check_table(self, table, level)
        means = table.contributions()
        if means.size < 2:
            raise InputError(f"{self.id} needs at least 2 completed splits to see a spread; there is {means.size}.")
        n_test, n_train = table.plan.mean_sizes()
        share = n_test / (n_test + n_train)
        notes = (
            small_test_parts(share)
            if table.is_difference
            else (*large_share(share), *few_errors(table), *_rare_in_sets(table))
        )
        se = float(means.std(ddof=1) * np.sqrt(1 / means.size + n_test / n_train))
        df = split_freedom(table, means.size)
        return t_interval(self, table, float(means.mean()), se, level, df=df, notes=notes)
