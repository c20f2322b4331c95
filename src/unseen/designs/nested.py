"""Nested cross-validation: every pair of folds is left out too (Bates, Hastie & Tibshirani, 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import (
    check_count,
    lacks_class,
    make_plan,
    redraw_note,
    rows_of,
    scarce_note,
    shuffled_folds,
)

__all__ = ["Nested"]


@register
@dataclass(frozen=True)
class Nested(Design):
    """Several shuffles into folds; outer splits leave one fold out, inner ones an outer fold and one fold more.

    A split with `part` -1 is an outer one: fold `fold` is tested by the model trained on all the others. A split with
    `part` k lives in the data without fold k: fold `fold` is tested by the model trained on what then remains.

    Parameters
    ----------
    n_folds, n_repeats : int
        Folds K of a shuffle (at least 3), and shuffles; a shuffle costs K + K (K - 1) / 2 fits, since the model trained
        without folds i and j serves both inner splits that leave the two out.
    stratify : bool or "auto"
        Spread classes evenly over the folds; "auto" does so for classes without groups.

    References
    ----------
    Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do
    it? Journal of the American Statistical Association 119, 1434-1445.

    Examples
    --------
    >>> import unseen
    >>> plan = Nested(5, 1).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(plan), len(plan.fits), sorted({(s.part == -1, len(s.train)) for s in plan})
    (25, 15, [(False, 90), (True, 120)])
    """

    n_folds: int = 5
    n_repeats: int = 10
    stratify: bool | str = "auto"
    id: ClassVar[str] = "nested"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return, shuffle by shuffle, the outer splits and then the inner ones."""
        check_count(self.id, "n_folds", self.n_folds, 3)
        check_count(self.id, "n_repeats", self.n_repeats)
        if data.n_units < self.n_folds:
            raise InputError(
                f"{self.id}: n_folds is {self.n_folds}, but there are only {data.n_units} units; use at most that many."
            )
        splits: list[Split] = []
        redrawn = 0
        for repeat in range(self.n_repeats):
            draw = partial(self._round, data, repeat=repeat)
            one, again = shuffled_folds(data, self.n_folds, self.stratify, rng, draw)
            splits += one
            redrawn += again
        scarce = scarce_note(sum(lacks_class(data, s.train) for s in splits), len(splits))
        return make_plan(self, data, splits, (*redraw_note(redrawn, len(splits)), *scarce))

    def _round(self, data: Data, fold: Ints, repeat: int) -> list[Split]:
        test = [rows_of(data, np.flatnonzero(fold == k)) for k in range(self.n_folds)]
        outer = [
            Split(rows_of(data, np.flatnonzero(fold != k)), test[k], repeat=repeat, fold=k, part=-1)
            for k in range(self.n_folds)
        ]
        inner = [
            Split(rows_of(data, np.flatnonzero((fold != k) & (fold != f))), test[f], repeat=repeat, fold=f, part=k)
            for k in range(self.n_folds)
            for f in range(self.n_folds)
            if f != k
        ]
        return outer + inner
