"""All fits of a run at once: what a shortcut is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.plan import RowParts, Split

__all__ = ["Changes", "ManyAnswers", "ManyFits", "TrainingParts", "count_rows", "count_rows_beside"]


def count_rows(train: Sequence[Ints], n: int) -> Array:
    """Return how often each training part has each of n rows, as a (parts, n) array.

    Examples
    --------
    >>> count_rows([np.array([0, 1]), np.array([1, 1, 2])], 3).tolist()
    [[1, 1, 0], [0, 2, 1]]
    """
    out = np.zeros((len(train), n), dtype=np.uint8)
    for one, rows in zip(out, train):
        one[rows] = 1
    sizes = np.fromiter(map(len, train), np.int64, len(train))
    repeating = np.flatnonzero(np.count_nonzero(out, axis=1) != sizes).tolist()
    if repeating:
        many = [np.bincount(train[j], minlength=n) for j in repeating]
        if max(int(m.max()) for m in many) > np.iinfo(np.uint8).max:
            out = out.astype(np.int64)
        out[repeating] = many
    return out


def count_rows_beside(held_out: RowParts, n: int) -> Array:
    """Return the same for parts that have all of n rows once but those held out.

    Examples
    --------
    >>> count_rows_beside(RowParts.of([np.array([2]), np.array([0, 1])]), 3).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    out = np.ones((len(held_out), n), dtype=np.uint8)
    out[held_out.part, held_out.row] = 0
    return out


@dataclass(frozen=True, eq=False)
class TrainingParts(Sequence[Ints]):
    """The training rows of splits, listed only when they are asked for.

    Examples
    --------
    >>> parts = TrainingParts([Split(np.array([0, 1]), np.array([2]))])
    >>> len(parts), parts[0].tolist()
    (1, [0, 1])
    """

    splits: Sequence[Split]

    def __len__(self) -> int:
        return len(self.splits)

    @overload
    def __getitem__(self, at: int) -> Ints: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Ints]: ...
    def __getitem__(self, at: int | slice) -> Ints | Sequence[Ints]:
        return TrainingParts(self.splits[at]) if isinstance(at, slice) else self.splits[at].train

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows of each, repeats counted."""
        return np.fromiter((s.n_train for s in self.splits), np.int64, len(self.splits))


@dataclass(frozen=True, eq=False)
class Changes:
    """How training parts differ from all rows taken once: fit, row, and how many copies more (or, below zero, fewer)."""

    fit: Ints
    row: Ints
    by: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class ManyFits:
    """Fits on parts of one sample, and the predictions wanted of them, in long form.

    Parameters
    ----------
    data : Data
        The sample.
    train : sequence of ndarray of int
        Rows that each fit learns; a bootstrap repeats rows.
    fit, row : ndarray of int
        Wanted predictions: number of the fit, in ascending order, and of the row.
    scores : bool
        Whether probabilities or decision values are wanted too.
    held_out : RowParts, optional
        Rows that each fit leaves out, if it learns all others once; only saves the time of finding that out.

    Examples
    --------
    >>> data = Data(np.zeros((3, 1)), np.array([0, 1, 0]), "classification", np.array([0, 1]))
    >>> two = ManyFits(data=data, train=[np.array([0, 1]), np.array([1, 1, 2])], fit=np.array([0, 1]), row=np.array([2, 0]))
    >>> two.counts.tolist()
    [[1, 1, 0], [0, 2, 1]]
    >>> two.changes.fit.tolist(), two.changes.row.tolist(), two.changes.by.tolist()
    ([0, 1, 1], [2, 0, 1], [-1, -1, 1])
    """

    data: Data
    train: Sequence[Ints]
    fit: Ints
    row: Ints
    scores: bool = False
    held_out: RowParts | None = None

    def __len__(self) -> int:
        return len(self.train)

    @cached_property
    def counts(self) -> Array:
        """How often each fit learns each row, as a (fits, rows) array."""
        if self.held_out is None:
            return count_rows(self.train, self.data.n)
        return count_rows_beside(self.held_out, self.data.n)

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows that each fit learns, copies counted."""
        if self.held_out is not None:
            return self.data.n - self.held_out.sizes
        if isinstance(self.train, TrainingParts):
            return self.train.sizes
        return np.fromiter(map(len, self.train), np.int64, len(self))

    def times(self, fit: Ints, row: Ints) -> Ints:
        """Return how often fits learn rows; both arrays have one shape, or broadcast to one."""
        if self.left_out is not None:
            return np.asarray(row != self.left_out[fit], dtype=np.int64)
        return np.asarray(self.counts[fit, row], dtype=np.int64)

    @cached_property
    def changes(self) -> Changes:
        """What must be added to or taken from all rows to get each training part."""
        if self.left_out is not None:
            J = len(self)
            return Changes(np.arange(J), self.left_out, np.full(J, -1))
        if self.held_out is not None:
            row = self.held_out.row
            return Changes(self.held_out.part, row, np.full(len(row), -1))
        flat = self.counts.ravel()
        at = np.flatnonzero(flat != 1)
        fit, row = np.divmod(at, self.data.n)
        return Changes(fit, row, flat[at].astype(np.int64) - 1)

    @cached_property
    def left_out(self) -> Ints | None:
        """The one row that each fit leaves out, if every fit leaves out exactly one and repeats none; else None."""
        n, J = self.data.n, len(self)
        if n < 2 or np.any(self.sizes != n - 1):
            return None
        if self.held_out is not None:
            return self.held_out.row
        rows = np.concatenate(self.train).reshape(J, n - 1)
        # if they ascend, none is repeated, and their sum gives the one that is missing
        if not np.all(rows[:, 1:] > rows[:, :-1]):
            return None
        return np.asarray(n * (n - 1) // 2 - rows.sum(axis=1), dtype=np.int64)

    @cached_property
    def class_counts(self) -> Ints:
        """How many rows of each class each fit learns, as a (fits, classes) array."""
        codes = self.data.codes
        assert self.data.classes is not None
        K = len(self.data.classes)
        if self.left_out is not None:
            out = np.repeat(np.bincount(codes, minlength=K)[:, None], len(self), axis=1)
            out[codes[self.left_out], np.arange(len(self))] -= 1
            return out.T
        changes = self.changes
        by = np.bincount(changes.fit * K + codes[changes.row], weights=changes.by, minlength=len(self) * K)
        return np.bincount(codes, minlength=K) + by.reshape(-1, K).astype(np.int64)

    @cached_property
    def one_each(self) -> bool:
        """Whether exactly one prediction is wanted of each fit."""
        return len(self.row) == len(self) and bool((self.fit == np.arange(len(self))).all())

    def per_prediction(self, values: Array) -> Array:
        """Return, for each wanted prediction, what belongs to its fit."""
        return values if self.one_each else values[self.fit]

    @cached_property
    def predicts_left_out(self) -> bool:
        """Whether each fit leaves one row out, and predictions are wanted of these rows only."""
        return self.left_out is not None and np.array_equal(self.per_prediction(self.left_out), self.row)

    @cached_property
    def starts(self) -> Ints:
        """Where the wanted predictions of each fit begin, and where the last ones end."""
        return np.searchsorted(self.fit, np.arange(len(self) + 1)).astype(np.int64)

    def wanted(self, j: int) -> slice:
        """Return the places of the predictions that are wanted of one fit."""
        return slice(int(self.starts[j]), int(self.starts[j + 1]))

    def wanted_together(self, most: int) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield fits of which equally many predictions are wanted: their numbers, the places of the predictions and their rows.

        The rows of a fit are a line of a matrix, of at most so many numbers, or of one line.
        """
        places = RowParts(np.arange(len(self.row)), self.starts)
        for which, place in places.of_one_length(most):
            yield which, place, self.row[place]

    def some(self, which: Ints) -> ManyFits:
        """Return these fits alone, with their wanted predictions."""
        number = np.full(len(self), -1, dtype=np.int64)
        number[which] = np.arange(len(which))
        keep = number[self.fit] >= 0
        fit, row = number[self.fit[keep]], self.row[keep]
        held_out = None if self.held_out is None else RowParts.of([self.held_out[j] for j in which.tolist()])
        parts = self.train
        train = (
            TrainingParts([parts.splits[j] for j in which])
            if isinstance(parts, TrainingParts)
            else [parts[j] for j in which]
        )
        return ManyFits(data=self.data, train=train, fit=fit, row=row, scores=self.scores, held_out=held_out)


@dataclass(frozen=True, eq=False, kw_only=True)
class ManyAnswers:
    """What a shortcut says of all fits.

    Parameters
    ----------
    values : ndarray
        One class code or number per wanted prediction, in their order.
    safe : ndarray of bool
        One per fit; where False, the algebra does not hold or a tie is too close to call, and the engine refits.
    scores : ndarray or None
        Probabilities (one column per class of the data) or decision values of the wanted predictions.
    score_kind : {"probability", "decision", None}
        What the scores are.
    """

    values: Array
    safe: Array
    scores: Floats | None = None
    score_kind: str | None = None
