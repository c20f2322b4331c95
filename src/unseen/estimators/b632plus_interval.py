"""Interval of the .632+ bootstrap (Efron & Tibshirani, 1997, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.bootstrap import Bootstrap
from unseen.estimators._jackknife import out_of_bag
from unseen.estimators.b632plus import B632Plus
from unseen.estimators.out_of_bag import check_replicates

__all__ = ["B632PlusInterval"]

# docs/tables/one_error.md has the tree
PERFECT_FIT = "its 95% interval covered .62 for one nearest neighbour and .17 for a fully grown tree, which fit their training rows perfectly"


@register
@dataclass(frozen=True)
class B632PlusInterval(TableMethod):
    """The .632+ error; its standard error is that of the out-of-bag error, scaled by the ratio of the two.

    Needs at least 200 bootstrap samples: with fewer the standard error is mostly Monte-Carlo noise. Scaling suits models whose training
    error is near their true one. It does not suit models that fit their training rows perfectly: for one nearest neighbour the interval
    covered .62 instead of .95, for a fully grown tree .17, so the method counts as liberal.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92, 548-560.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run(GaussianNB(), X, y, design=unseen.designs.Bootstrap(200), full=True, random_state=0)
    >>> e, outside = (unseen.estimate(t, method=m) for m in ("632plus-interval", "out-of-bag"))
    >>> round(e.std_error / outside.std_error, 10) == round(e.value / outside.value, 10)
    True
    """

    id: ClassVar[str] = "632plus-interval"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    needs: ClassVar[frozenset[str]] = frozenset({"test", "full", "predictions"})
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    liberal: ClassVar[bool] = True
    not_recommended: ClassVar[str] = "95% intervals covered .17 to .62 if the model overfits"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012", "U013"})

    def default_design(self, data: Data) -> Bootstrap:
        """Return 500 bootstrap samples."""
        return Bootstrap(n_splits=500)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the .632+ error and its normal interval."""
        level = check_table(self, table, level)
        notes = (*check_replicates(self.id, table), note("U013", PERFECT_FIT))
        outside = out_of_bag(table)
        value = B632Plus()(table, level=level).value
        ratio = value / outside.value if outside.value > 0 else 0.0
        return normal_interval(self, table, value, ratio * outside.std_error, level, notes, float(table.data.n_units))
