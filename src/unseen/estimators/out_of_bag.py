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


def check_replicates(method: str, table: LossTable) -> tuple[Note, ...]:
    """Refuse too few bootstrap samples for a standard error; return notes on units never out of bag."""
    if len(table.completed) < MIN_REPLICATES:
        raise InputError(
            f"{method} needs at least {MIN_REPLICATES} bootstrap samples, or its interval is mostly Monte-Carlo noise; "
            f"there are {len(table.completed)}. Use design=Bootstrap(500)."
        )
    missed = int((table.times_tested() == 0).sum())
    return (note("U012", f"{missed} rows were in every bootstrap sample"),) if missed else ()


@register
@dataclass(frozen=True)
class OutOfBagInterval(TableMethod):
    """Mean over units of their out-of-bag errors, with a standard error from the same bootstrap samples.

    A bootstrap sample holds about 63% of the units, so the error is that of a smaller training set: too large.

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

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the out-of-bag error and its normal interval."""
        level = check_table(self, table, level)
        notes = check_replicates(self.id, table)
        result = out_of_bag(table)
        size = mean_distinct_units(table.data.n_units)
        return normal_interval(self, table, result.value, result.std_error, level, notes, size)
