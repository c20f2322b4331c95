"""Leave-one-out bootstrap error with an interval (Efron & Tibshirani, 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.bootstrap import Bootstrap
from unseen.estimators._jackknife import out_of_bag
from unseen.estimators.plain_means import mean_distinct_units

__all__ = ["MIN_REPLICATES", "OutOfBagInterval", "check_replicates"]

MIN_REPLICATES = 200  # with fewer the standard error is mostly Monte-Carlo noise
MIN_COMPLETED = 150  # of 200 planned: a few failed fits cost little, more may fail for a reason that matters


def check_replicates(
    method: str, table: LossTable, samples: str = "bootstrap samples", design: str = "Bootstrap(500)"
) -> tuple[Note, ...]:
    """Refuse too few samples for a standard error; return notes on units that all of them hold."""
    done, planned = len(table.completed), len(table.plan)
    if planned >= MIN_REPLICATES > done >= MIN_COMPLETED:
        done = planned  # a note of the table counts the failed fits
    if done < MIN_REPLICATES:
        raise InputError(
            f"{method} needs at least {MIN_REPLICATES} {samples}, or its interval is mostly Monte-Carlo noise; "
            f"there are {done}. Use design={design}."
        )
    missed = int((table.times_tested() == 0).sum())
    return (note("U012", f"{missed} rows were in every {samples.removesuffix('s')}"),) if missed else ()


@register
@dataclass(frozen=True)
class OutOfBagInterval(TableMethod):
    """Mean over units of their out-of-bag errors, with a standard error from the same bootstrap samples.

    A bootstrap sample holds about 63% of the units, so the error is that of a smaller training set: too large. As a test
    of a difference it rejects too often for models that follow single rows (.09 to .11 at .05 for trees grown to pure leaves): copies
    of a row weigh on them as nothing else does. `subsampling` has no copies and keeps its size.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92, 548-560,
    section 5.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> design = unseen.designs.Bootstrap(200)
    >>> e = unseen.estimate(GaussianNB(), X, y, method="out-of-bag", design=design, random_state=0)
    >>> e.n_fits, e.value in e.interval
    (200, True)
    """

    id: ClassVar[str] = "out-of-bag"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    weighted: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})

    def default_design(self, data: Data) -> Bootstrap:
        """Return 500 bootstrap samples."""
        return Bootstrap(n_splits=500)

    def difference_design(self, data: Data) -> Bootstrap:
        """Return 200 bootstrap samples: what two models share cancels, so that fewer are enough."""
        return Bootstrap(n_splits=MIN_REPLICATES)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the out-of-bag error and its normal interval."""
        level = check_table(self, table, level)
        notes = check_replicates(self.id, table)
        result = out_of_bag(table)
        size = mean_distinct_units(table.data.n_units)
        return normal_interval(self, table, result.value, result.std_error, level, notes, size)
