"""A look at the data before a run and at its losses after it: what could make an error estimate misleading."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.checks.dependence import dependence_notes, lag_one_test
from unseen.checks.leaks import leak_suspects
from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.notes import Note, note

__all__ = ["data_notes", "lag_one_test", "run_notes"]

FEW_IN_CLASS = 10
FEW_UNITS = 20


def data_notes(data: Data) -> tuple[Note, ...]:
    """Return remarks on the data alone.

    Parameters
    ----------
    data : Data
        The sample.

    Returns
    -------
    tuple of Note
        U001 classes with fewer than 10 rows; U002 rows whose features repeat those of another row (of another group,
        where there are groups) exactly; U003 features with one value only; U005 features that alone tell the target
        almost perfectly (see `unseen.checks.leaks`); U009 fewer than 20 independent units.

    Notes
    -----
    Repeats are found by a 64-bit hash of each row. They cannot be avoided where the features take so few values that
    there are fewer combinations than rows; then U002 is not given.

    Examples
    --------
    >>> import unseen
    >>> [n.code for n in data_notes(unseen.datasets.load("wine"))]
    []
    """
    found = [*_few_in_class(data), *_few_units(data)]
    if data.X is not None:
        found += [*_repeated_rows(data), *_constant(data), *_leaks(data)]
    return tuple(sorted(found, key=lambda n: n.code))


def run_notes(losses: LossTable | PredictionTable) -> tuple[Note, ...]:
    """Return remarks on the losses of a run.

    Parameters
    ----------
    losses : LossTable
        Losses of a run, or its table of predictions (then the task's default loss is used).

    Returns
    -------
    tuple of Note
        U004 no error in any split; U006 losses of neighbouring rows alike, by `lag_one_test` at level 0.001 (from 30
        tested units on; of more than 20,000 the first).

    Examples
    --------
    >>> import unseen
    >>> t = unseen.run("lda", unseen.datasets.load("iris"), random_state=0)
    >>> run_notes(t.losses())
    ()
    """
    table = losses.losses() if isinstance(losses, PredictionTable) else losses
    if table.is_difference or table.by_split:
        return ()
    return (*_no_error(table), *dependence_notes(table))


def _few_in_class(data: Data) -> list[Note]:
    if data.classes is None:
        return []
    counts = np.bincount(data.codes, minlength=len(data.classes))
    small = [(str(label), int(c)) for label, c in zip(data.classes, counts) if c < FEW_IN_CLASS]
    if not small:
        return []
    listed = ", ".join(f"{label!r} has {c}" for label, c in small[:5]) + (", ..." if len(small) > 5 else "")
    return [note("U001", f"{len(small)} of {len(counts)} classes have fewer than {FEW_IN_CLASS} rows: {listed}")]


def _few_units(data: Data) -> list[Note]:
    if data.n_units >= FEW_UNITS:
        return []
    what = "rows" if data.groups is None else "groups"
    return [note("U009", f"there are only {data.n_units} {what}")]


def _hashed_rows(X: Any) -> Array:
    """Return a 64-bit hash of each row; equal rows have equal hashes, and missing values are equal to each other."""
    import pandas as pd

    if hasattr(X, "tocsr"):
        return _hashed_sparse(X)
    frame = X if hasattr(X, "iloc") else pd.DataFrame(X + 0.0 if X.dtype.kind == "f" else X)
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()


def _hashed_sparse(X: Any) -> Array:
    from pandas.util import hash_array

    matrix = X.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    with np.errstate(over="ignore"):
        cells = hash_array(matrix.indices.astype(np.int64)) * np.uint64(3) ^ hash_array(matrix.data.astype(float))
        cells = hash_array(cells)
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
        return totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]]


def _combinations(X: Any, most: float) -> float:
    """Return how many different rows the values of the features allow, as soon as they are more than `most`."""
    if hasattr(X, "tocsr"):
        return np.inf
    total = 1.0
    for k in range(X.shape[1]):
        column = X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]
        total *= column.nunique(dropna=False) if hasattr(column, "nunique") else len(np.unique(column))
        if total > most:
            return total
    return total


def _repeated_rows(data: Data) -> list[Note]:
    _, code, counts = np.unique(_hashed_rows(data.X), return_inverse=True, return_counts=True)
    code = code.reshape(-1)
    copies = counts[code] > 1
    if data.groups is not None and copies.any():
        pairs = np.unique(np.column_stack([code, data.units]), axis=0)
        copies = np.bincount(pairs[:, 0], minlength=len(counts))[code] > 1
    if not copies.any() or _combinations(data.X, data.n) <= data.n:
        return []
    where = "" if data.groups is None else " in another group"
    text = f"the features of {int(copies.sum())} of {data.n} rows are exactly those of another row{where}"
    differing = _with_other_target(code[copies], data.target[copies])
    if differing:
        text += f" ({differing} of them have copies with another target)"
    if _combinations(data.X, data.n**2) <= data.n**2:
        text += "; with so few different values some repeats are to be expected"
    return [note("U002", text)]


def _with_other_target(code: Ints, target: Array) -> int:
    order = np.lexsort((target, code))
    code, target = code[order], target[order]
    starts = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    sizes = np.diff(np.r_[starts, len(code)])
    ends = starts + sizes - 1
    return int(sizes[target[starts] != target[ends]].sum())


def _constant(data: Data) -> list[Note]:
    X = data.X
    if hasattr(X, "tocsr"):
        high, low = (np.asarray(e.todense()).ravel() for e in (X.max(axis=0), X.min(axis=0)))
        flat = high == low
    elif hasattr(X, "iloc"):
        flat = np.array([X.iloc[:, k].nunique(dropna=False) < 2 for k in range(X.shape[1])])
    else:
        same = X[:1] == X
        flat = (same | (np.isnan(X) & np.isnan(X[:1])) if X.dtype.kind == "f" else same).all(axis=0)
    names = [name for name, constant in zip(data.names, flat) if constant]
    if not names:
        return []
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return [note("U003", f"{len(names)} of {len(flat)} features have the same value in every row: {listed}")]


def _leaks(data: Data) -> list[Note]:
    suspects = leak_suspects(data)
    if not suspects:
        return []
    listed = "; ".join(f"{s.name} ({s.finding})" for s in suspects[:3]) + ("; ..." if len(suspects) > 3 else "")
    return [note("U005", f"a suspicion, not a proof: {listed}")]


def _no_error(table: LossTable) -> list[Note]:
    if table.data.task != "classification" or table.loss != "zero-one" or np.any(table.test.value > 0):
        return []
    text = f"none of the {len(table.test.value)} test predictions in {len(table.completed)} splits was wrong"
    return [note("U004", text)]
