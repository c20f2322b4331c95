"""A whole plan answered by algebra: shortcuts are asked, what they leave is refitted, and the table is made in one piece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import Failure, Predictions
from unseen.core.model import Model
from unseen.core.plan import Plan, RowParts
from unseen.core.registry import classes_in
from unseen.engine.chunk import Outcome, Wants
from unseen.engine.fits import ManyAnswers, ManyFits, TrainingParts, count_rows, count_rows_beside

__all__ = ["Together", "answer_together"]

MOST_REFITTED = 0.5  # if more fits than this need refitting, all are refitted: the algebra saves too little


@dataclass(eq=False)
class _Part:
    """One part of the table to be: test rows, training rows, or all rows under the fit on all rows."""

    split: Ints
    row: Ints
    count: Ints | None = None
    value: Array | None = None
    score: Floats | None = None

    def put(self, j: int, value: Array, score: Floats | None) -> None:
        """Overwrite the predictions of one split."""
        assert self.value is not None
        here = slice(*np.searchsorted(self.split, [j, j + 1]))
        self.value[here] = value
        if self.score is not None and score is not None:
            self.score[here] = score

    def without(self, splits: Iterable[int]) -> Predictions:
        """Return the predictions of all splits but these."""
        assert self.value is not None
        made = Predictions(split=self.split, row=self.row, value=self.value, score=self.score, count=self.count)
        lost = list(splits)
        return made.where(~np.isin(self.split, lost)) if lost else made


@dataclass(eq=False, kw_only=True)
class Together:
    """Predictions of all fits at once, but for those that must be refitted.

    Parameters
    ----------
    refit : frozenset of int
        First split of each fit that must be refitted; the number of splits stands for the fit on all rows.
    score_kind : str or None
        What the scores are.
    """

    test: _Part
    train: _Part | None
    full: _Part | None
    refit: frozenset[int]
    score_kind: str | None
    failures: tuple[Failure, ...] = ()

    def put(self, outcome: Outcome, n_splits: int) -> None:
        """Take the outcome of a split that was refitted."""
        if outcome.reason:
            self.failures = (*self.failures, Failure(outcome.index, outcome.reason))
            return
        if outcome.index == n_splits:
            assert self.full is not None
            assert outcome.train is not None
            self.full.put(n_splits, outcome.train, outcome.train_score)
            return
        assert outcome.test is not None
        self.test.put(outcome.index, outcome.test, outcome.test_score)
        if self.train is not None:
            assert outcome.train is not None
            self.train.put(outcome.index, outcome.train, outcome.train_score)


def answer_together(model: Model, data: Data, plan: Plan, wants: Wants, full: bool) -> Together | None:
    """Ask every shortcut for all fits of a plan; None if none knows the model."""
    for cls in classes_in("exact").values():
        shortcut = cls()
        if shortcut.knows(model, data):
            made = _answer_by(shortcut, model, data, plan, wants, full)
            if made is not None:
                return made
    return None


def _answer_by(shortcut: Any, model: Model, data: Data, plan: Plan, wants: Wants, full: bool) -> Together | None:
    fits, parts, order = _ask(data, plan, wants)
    answer: ManyAnswers | None = shortcut.fit_many(model, fits)
    if answer is None or (wants.scores and answer.scores is None):
        return None
    unsafe = np.flatnonzero(~answer.safe).tolist()
    if len(unsafe) > MOST_REFITTED * len(fits):
        return None
    _distribute(answer, list(parts.values()), order)
    refit = {plan.fits[j][0] if plan.shares_fits else j for j in unsafe}
    whole = None
    if full:
        everything, first = np.arange(data.n), np.zeros(data.n, dtype=np.int64)
        whole = _Part(np.full(data.n, len(plan), dtype=np.int64), everything)
        nothing = RowParts.of([first[:0]])
        one = ManyFits(data=data, train=[everything], fit=first, row=everything, scores=wants.scores, held_out=nothing)
        last: ManyAnswers | None = shortcut.fit_many(model, one)
        if last is None or (wants.scores and last.scores is None):
            return None
        _distribute(last, [whole], None)
        if not last.safe[0]:
            refit.add(len(plan))
    kind = answer.score_kind if wants.scores else None
    return Together(test=parts["test"], train=parts.get("train"), full=whole, refit=frozenset(refit), score_kind=kind)


def _ask(data: Data, plan: Plan, wants: Wants) -> tuple[ManyFits, Mapping[str, _Part], Ints | None]:
    """Return what to ask, the parts of the table in the order in which they were joined, and how they were sorted."""
    shared, tests = plan.shares_fits, plan.tests
    train: Sequence[Ints] = TrainingParts([plan.splits[g[0]] for g in plan.fits] if shared else plan.splits)
    parts = {"test": _Part(tests.part, tests.row)}
    fit, row, order = tests.part, tests.row, None
    if shared or wants.train:
        fit_of = np.arange(len(plan))
        for k, group in enumerate(plan.fits if shared else ()):
            fit_of[list(group)] = k
        if wants.train:
            counted = count_rows_beside(tests, data.n) if plan.complementary else count_rows(train, data.n)
            counts = counted[fit_of] if shared else counted
            split, learnt = np.nonzero(counts)
            times = counts[split, learnt].astype(np.int64)
            parts["train"] = _Part(split, learnt, times if times.max(initial=1) > 1 else None)
        fit = np.concatenate([fit_of[p.split] for p in parts.values()])
        row = np.concatenate([p.row for p in parts.values()])
        order = np.argsort(fit, kind="stable")
        fit, row = fit[order], row[order]
    held_out = tests if plan.complementary else None
    return ManyFits(data=data, train=train, fit=fit, row=row, scores=wants.scores, held_out=held_out), parts, order


def _distribute(answer: ManyAnswers, parts: list[_Part], order: Ints | None) -> None:
    """Give each part its predictions."""
    values, scores = answer.values, answer.scores
    if order is not None:
        values, scores = _unsort(values, order), None if scores is None else _unsort(scores, order)
    start = 0
    for part in parts:
        stop = start + len(part.row)
        part.value = values[start:stop]
        part.score = None if scores is None else scores[start:stop]
        start = stop


def _unsort(values: Array, order: Ints) -> Array:
    out = np.empty_like(values)
    out[order] = values
    return out
