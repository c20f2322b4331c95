"""k-fold cross-validation, shuffled, stratified for classes (Stone, 1974; Kohavi, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.notes import Note
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

__all__ = ["KFold", "full_rounds", "one_round"]


def one_round(data: Data, fold: Ints, n_folds: int, repeat: int = 0) -> list[Split]:
    """Return the splits of one round of k-fold cross-validation, given the fold of each unit."""
    if data.grouped:
        parts = [
            (rows_of(data, np.flatnonzero(fold != k)), rows_of(data, np.flatnonzero(fold == k))) for k in range(n_folds)
        ]
    else:
        parts = [((fold != k).nonzero()[0], (fold == k).nonzero()[0]) for k in range(n_folds)]
    return [Split(train, test, repeat=repeat, fold=k) for k, (train, test) in enumerate(parts)]


def full_rounds(
    design: str, data: Data, n_folds: int, n_repeats: int, stratify: bool | str, rng: np.random.Generator
) -> tuple[list[Split], tuple[Note, ...]]:
    """Return the splits of several rounds, with notes on rounds shuffled again and on classes too small for it."""
    splits: list[Split] = []
    redrawn = 0
    for repeat in range(check_count(design, "n_repeats", n_repeats)):
        draw = partial(one_round, data, n_folds=n_folds, repeat=repeat)
        one, again = shuffled_folds(data, n_folds, stratify, rng, draw)
        splits += one
        redrawn += again
    scarce = scarce_note(sum(lacks_class(data, s.train) for s in splits), len(splits))
    return splits, (*redraw_note(redrawn, len(splits)), *scarce)


@register
@dataclass(frozen=True)
class KFold(Design):
    """Every unit is tested once by a model trained on the other folds.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    stratify : bool or "auto"
        Spread classes evenly over the folds; "auto" does so for classes without groups.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("iris")
    >>> len(KFold(5).plan(data, np.random.default_rng(0)))
    5
    """

    n_folds: int = 10
    stratify: bool | str = "auto"
    id: ClassVar[str] = "kfold"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return one shuffled partition."""
        check_count(self.id, "n_folds", self.n_folds, 2)
        splits, notes = full_rounds(self.id, data, self.n_folds, 1, self.stratify, rng)
        return make_plan(self, data, splits, notes, complementary=True)
