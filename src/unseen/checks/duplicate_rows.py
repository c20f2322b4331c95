"""U002: rows repeat the features of other rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.checks.registry import check
from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.notes import Note, note

__all__ = ["duplicate_rows"]


@check(
    "U002",
    "features",
    title="duplicate rows",
    sentence="The features of a row are exactly those of another row (of another group, if there are groups). Not given if the "
    "features take so few values that there are fewer combinations than rows. The design `splits` gives it too, if units "
    "stand on both sides of a given split.",
    advice="Copies on both sides of a split make the error look too small; remove them or give `groups`.",
)
def duplicate_rows(data: Data) -> tuple[Note, ...]:
    """Return U002 if rows have exactly the features of another row, or of another group's row.

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
    _, code, counts = np.unique(_row_hashes(data.X), return_inverse=True, return_counts=True)
    code = code.reshape(-1)
    copies = counts[code] > 1
    if data.groups is not None and copies.any():
        pairs = np.unique(np.column_stack([code, data.units]), axis=0)
        copies = np.bincount(pairs[:, 0], minlength=len(counts))[code] > 1
    if not copies.any() or _combinations(data.X, data.n) <= data.n:
        return ()
    other = "" if data.groups is None else " in another group"
    text = f"the features of {int(copies.sum())} of {data.n} rows are exactly those of another row{other}"
    conflicting = _rows_with_conflicting_copies(code[copies], data.target[copies])
    if conflicting:
        text += f" ({conflicting} of them have copies with another target)"
    # n rows drawn from fewer than n^2 combinations are likely to hold a pair of equal ones (birthday problem)
    if _combinations(data.X, data.n**2) <= data.n**2:
        text += "; with so few different values some repeats are to be expected"
    return (note("U002", text),)


def _row_hashes(X: Any) -> Array:
    """Return a 64-bit hash of each row; equal rows have equal hashes, and missing values equal each other."""
    import pandas as pd

    if hasattr(X, "tocsr"):
        return _sparse_row_hashes(X)
    frame = X if hasattr(X, "iloc") else pd.DataFrame(X + 0.0 if X.dtype.kind == "f" else X)  # + 0.0 makes -0 a 0
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()


def _sparse_row_hashes(X: Any) -> Array:
    """Return the sum over a row's non-zero cells of a hash of column and value."""
    from pandas.util import hash_array

    matrix = X.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    with np.errstate(over="ignore"):
        cells = hash_array(matrix.indices.astype(np.int64)) * np.uint64(3) ^ hash_array(matrix.data.astype(float))
        cells = hash_array(cells)
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
        result: Array = totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]]
        return result


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
