"""A look at the data before a run and at its losses after it: what could make an error estimate misleading."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.core.table import PredictionTable
from unseen.verbs.leaks import leak_suspects

__all__ = ["data_notes", "lag_one_test", "run_notes"]

FEW_IN_CLASS = 10
FEW_UNITS = 20
DEPENDENCE_LEVEL = 0.001
LEAST_FOR_DEPENDENCE = 30
MOST_FOR_DEPENDENCE = 20_000
PERMUTATIONS = 1_999
ENOUGH_EXCEEDING = 20


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
        almost perfectly (see `unseen.verbs.leaks`); U009 fewer than 20 independent units.

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
    return (*_no_error(table), *_dependence(table))


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


def _dependence(table: LossTable) -> list[Note]:
    data = table.data
    losses = _unit_losses(table)
    order = _unit_order(data)
    tested = order[np.isfinite(losses[order])][:MOST_FOR_DEPENDENCE]
    if len(tested) < LEAST_FOR_DEPENDENCE:
        return []
    strata = _unit_strata(data, order)[tested]
    correlation, p = lag_one_test(losses[tested], strata, stream(0, "lag-one", table.plan.fingerprint))
    if p > DEPENDENCE_LEVEL:
        return []
    place = "time" if data.order is not None else "the order of the rows"
    what = "groups" if data.groups is not None else "rows"
    text = (
        f"losses of {what} next to each other in {place} are correlated ({correlation:.2f}, p = {p:.1g}); "
        "either they depend on each other, or the file is sorted by something that matters"
    )
    return [note("U006", text)]


def _unit_losses(table: LossTable) -> Floats:
    """Return the mean rank of the test losses of each unit, so that single large losses do not decide.

    In the time-ordered design neighbours share a model: there the mean of each split is taken off.
    """
    from scipy.stats import rankdata

    value = rankdata(table.test.value)
    if table.plan.design == "time-ordered":
        sizes = np.maximum(np.bincount(table.test.split, minlength=len(table.plan)), 1)
        value = value - (np.bincount(table.test.split, value, len(table.plan)) / sizes)[table.test.split]
    units = table.data.units[table.test.row]
    with np.errstate(invalid="ignore"):
        return np.bincount(units, value, table.data.n_units) / np.bincount(units, minlength=table.data.n_units)


def _unit_order(data: Data) -> Ints:
    """Return units in time, or in the order in which they first appear."""
    rows = np.arange(data.n) if data.order is None else np.argsort(data.order, kind="stable")
    first = np.full(data.n_units, data.n, dtype=np.int64)
    np.minimum.at(first, data.units[rows], np.arange(data.n))
    return np.argsort(first, kind="stable").astype(np.int64)


def _unit_strata(data: Data, order: Ints) -> Ints:
    """Return strata of the units where they are sorted by the target, which alone makes losses alike; else one stratum.

    Sorted by class: hardly more changes of class along the order than there are classes. Sorted by number: a rank
    correlation of target and order above 0.9; the strata are then tenths of the ranks.
    """
    means = np.bincount(data.units, np.asarray(data.target, dtype=float)) / np.bincount(data.units)
    if data.classes is not None:
        codes = np.round(means).astype(np.int64)
        changes = np.count_nonzero(np.diff(codes[order]))
        return codes if changes <= 2 * (len(data.classes) - 1) else np.zeros_like(codes)
    ranks = np.argsort(np.argsort(means, kind="stable"), kind="stable").astype(np.int64)
    if abs(np.corrcoef(ranks[order], np.arange(len(order)))[0, 1]) <= 0.9:
        return np.zeros_like(ranks)
    return 10 * ranks // len(ranks)


def lag_one_test(losses: Floats, strata: Ints, rng: np.random.Generator) -> tuple[float, float]:
    """Test whether losses next to each other are alike, by permutation within strata.

    Parameters
    ----------
    losses : ndarray
        One loss, or mean rank of losses, per unit, in order.
    strata : ndarray of int
        Stratum of each unit. Losses are centred within the strata and permuted within them only, so that rows
        sorted by class, with classes of different difficulty, give no alarm.
    rng : Generator
        Source of the permutations.

    Returns
    -------
    correlation, p_value : float
        Lag-one correlation, and the share of permutations with one at least as large, ties counted, never 0.
        Permutations stop early once 20 exceed it (Besag & Clifford), and at 1,999.

    References
    ----------
    Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(lag_one_test(rng.random(100), np.zeros(100, int), rng)[1] > 0.001)
    True
    >>> round(lag_one_test(np.repeat(rng.random(50), 2), np.zeros(100, int), rng)[1], 4)
    0.0005
    """
    strata = np.unique(strata, return_inverse=True)[1].reshape(-1)
    centred = losses - (np.bincount(strata, losses) / np.bincount(strata))[strata]
    total = float(centred @ centred)
    if total <= 1e-12 * max(1.0, float(losses @ losses)):
        return 0.0, 1.0
    observed = float(centred[1:] @ centred[:-1])
    by_stratum = np.argsort(strata, kind="stable")
    shuffled, exceed = np.empty_like(centred), 0
    for k in range(1, PERMUTATIONS + 1):
        shuffled[by_stratum] = centred[np.argsort(strata + rng.random(len(strata)))]
        exceed += float(shuffled[1:] @ shuffled[:-1]) >= observed - 1e-9 * total
        if exceed == ENOUGH_EXCEEDING:
            return observed / total, exceed / k
    return observed / total, (exceed + 1) / (PERMUTATIONS + 1)
