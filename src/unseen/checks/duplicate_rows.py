"""U002: rows repeat the features of other rows, and splits may part them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.checks.registry import check
from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.estimate import count_of
from unseen.core.notes import Note, note
from unseen.datasets.copies import find_copies

__all__ = ["duplicate_rows"]


@check(
    "U002",
    "features",
    alarm=True,
    title="duplicate rows",
    sentence="The features of a row are exactly those of another row (of another group, if there are groups), splits may part them, and "
    "chance does not make such rows: pairs of equal rows are more frequent than pairs that differ in one feature. Copies that are kept "
    "together give `U035` instead, and rows that recur by chance `U036`. The design `splits` gives it too, if units stand on both "
    "sides of a given split.",
    advice="Models are tested on rows they were trained on, so the error looks too small. Remove the copies, or use "
    "`duplicates='together'`.",
)
def duplicate_rows(data: Data) -> tuple[Note, ...]:
    """Return U002, U035 or U036 if rows have exactly the features of another row, or of another group's row.

    Notes
    -----
    Copies are found by a 64-bit hash of each row. If the features allow fewer combinations than there are rows, copies are
    unavoidable and no note is given.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> X[1] = X[0]
    >>> duplicate_rows(as_data(X, np.arange(30) % 2))[0].text
    'the features of 2 of 30 rows are exactly those of another row (2 of them have copies with another target)'
    """
    if data.joined is not None:
        return (_kept_together(data),)
    found = find_copies(data.X)
    if not found.rows:
        return ()
    code, counts = found.code, np.bincount(found.code)
    copies = counts[code] > 1
    if data.groups is not None:
        pairs = np.unique(np.column_stack([code, data.units]), axis=0)
        copies = np.bincount(pairs[:, 0], minlength=len(counts))[code] > 1
    if not copies.any() or _combinations(data.X, data.n) <= data.n:
        return ()
    other = "" if data.groups is None else " in another group"
    text = f"the features of {int(copies.sum())} of {data.n} rows are exactly those of another row{other}"
    text += _conflicts(code[copies], data.target[copies])
    if found.by_chance:
        return (note("U036", f"{text}; with such values some repeats are to be expected"),)
    return (note("U002", text),)


def _kept_together(data: Data) -> Note:
    """Return the note on units made of copies."""
    if data.groups is not None:
        groups = len(np.unique(data.groups))
        return note(
            "U035", f"{count_of(groups, 'group')} share rows with equal features; joined, they are {data.n_units} units"
        )
    copies = np.bincount(data.units)[data.units] > 1
    text = f"the features of {int(copies.sum())} of {data.n} rows are exactly those of another row; "
    text += f"each stays with its copies, which leaves {count_of(data.n_units, 'distinct row')}"
    return note("U035", text + _conflicts(data.units[copies], data.target[copies]))


def _conflicts(code: Ints, target: Array) -> str:
    """Say how many of the copies have a copy with another target."""
    count = _rows_with_conflicting_copies(code, target)
    return f" ({count} of them have copies with another target)" if count else ""


def _combinations(X: Any, most: float) -> float:
    """Return how many different rows the values of the features allow; counting stops above `most`."""
    if hasattr(X, "tocsr"):
        return np.inf
    total = 1.0
    for k in range(X.shape[1]):
        column = X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]
        total *= column.nunique(dropna=False) if hasattr(column, "nunique") else len(np.unique(column))
        if total > most:
            return total
    return total


def _rows_with_conflicting_copies(code: Ints, target: Array) -> int:
    """Count the rows in sets of copies whose targets are not all the same."""
    order = np.lexsort((target, code))
    code, target = code[order], target[order]
    starts = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    sizes = np.diff(np.r_[starts, len(code)])
    ends = starts + sizes - 1
    return int(sizes[target[starts] != target[ends]].sum())
