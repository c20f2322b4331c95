"""Conservative Z interval from random halves of the data (Nadeau & Bengio, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.split_halves import SplitHalves

__all__ = ["ConservativeZ"]

FEW_HALVINGS = 5  # a variance from four squares has a standard error of 70%, sqrt(2/4)


@register
@dataclass(frozen=True)
class ConservativeZ(TableMethod):
    """Mean over random splits; its variance is the mean of (m - m')^2 / 2 over disjoint random halves of the data.

    The halves are independent, so the variance is unbiased for half the sample, and too large for all of it.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="conservative-z", random_state=0)
    >>> e.n_fits, str(e.target)
    (105, 'the algorithm trained on 135 rows')
    """

    id: ClassVar[str] = "conservative-z"
    designs: ClassVar[frozenset[str]] = frozenset({"split-halves"})
    by_split: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009"})
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> SplitHalves:
        """Return 5 random 90/10 splits and 10 halvings with 5 splits in each half."""
        return SplitHalves(fraction=0.1, n_splits=5, n_halvings=10, inner_fraction=0.1, inner_splits=5)

    def half_differences(self, table: LossTable) -> Floats:
        """Return the difference of the two halves' mean errors, one for each halving both halves of which were fitted."""
        repeat = np.array([s.repeat for s in table.plan])
        part = np.array([s.part for s in table.plan])
        out = []
        for m in range(repeat[part >= 0].max(initial=-1) + 1):
            first, second = (table.contributions((repeat == m) & (part == h)) for h in (0, 1))
            if len(first) and len(second):
                out.append(first.mean() - second.mean())
        return np.array(out)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean over the splits of all data and its normal interval."""
        level = check_table(self, table, level)
        outer = np.array([s.part == -1 for s in table.plan])
        values = table.contributions(outer)
        differences = self.half_differences(table)
        if not len(values) or not len(differences):
            raise InputError(f"{self.id} needs a completed split of all units and both halves of at least one halving.")
        notes: tuple[Note, ...] = ()
        if len(differences) < FEW_HALVINGS:
            notes = (note("U009", f"the variance rests on {len(differences)} halvings; use at least {FEW_HALVINGS}"),)
        se = float(np.sqrt(np.mean(np.square(differences)) / 2))
        n_train = float(table.plan.sizes[outer, 1].mean())
        return normal_interval(self, table, float(values.mean()), se, level, notes, n_train)
