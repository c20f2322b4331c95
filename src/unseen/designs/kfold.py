"""k-fold cross-validation, shuffled, stratified for classes (Stone, 1974; Kohavi, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.notes import Note
from unseen.core.plan import Design, Plan, Rests, RowParts
from unseen.core.registry import register
from unseen.designs.drawing import (
    check_count,
    lack_class,
    make_plan,
    redraw_note,
    scarce_note,
    shuffled_folds,
)

__all__ = ["KFold", "full_rounds", "one_round"]


def one_round(data: Data, fold: Ints, n_folds: int, repeat: int = 0) -> Rests:
    """Return the splits of one round of k-fold cross-validation, given the fold of each unit."""
    fold = fold[data.units] if data.grouped else fold
    starts = np.zeros(n_folds + 1, dtype=np.int64)
    np.cumsum(np.bincount(fold, minlength=n_folds), out=starts[1:])
    tests = RowParts(fold.argsort(kind="stable"), starts)
    return Rests(data.n, tests, np.full(n_folds, repeat), np.arange(n_folds))


def _join_rounds(rounds: list[Rests]) -> Rests:
    """Return the splits of rounds one after the other."""
    if len(rounds) == 1:
        return rounds[0]
    starts = np.concatenate([[0], *(one.tests.starts[1:] + k * one.n for k, one in enumerate(rounds))])
    tests = RowParts(np.concatenate([one.tests.row for one in rounds]), starts)
    repeat, fold = (np.concatenate([getattr(one, name) for one in rounds]) for name in ("repeat", "fold"))
    return Rests(rounds[0].n, tests, repeat, fold)


def full_rounds(
    design: str, data: Data, n_folds: int, n_repeats: int, stratify: bool | str, rng: np.random.Generator
) -> tuple[Rests, tuple[Note, ...]]:
    """Return the splits of several rounds, with notes on rounds shuffled again and on classes too small for it."""
    rounds: list[Rests] = []
    redrawn = 0
    for repeat in range(check_count(design, "n_repeats", n_repeats)):
        draw = partial(one_round, data, n_folds=n_folds, repeat=repeat)
        one, again = shuffled_folds(data, n_folds, stratify, rng, draw)
        rounds.append(one)
        redrawn += again
    splits = _join_rounds(rounds)
    scarce = scarce_note(int(lack_class(data, splits).sum()), len(splits))
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
