"""Rows that are equal in every feature: found by their hashes, and judged by the rows that differ in one feature only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName

__all__ = ["DUPLICATES", "Copies", "Duplicates", "find_copies", "with_copies"]

Duplicates = Literal["auto", "together", "apart"]
DUPLICATES = ("auto", "together", "apart")

# the neighbours of copied rows are looked for in so many cells at most, which bounds the time; of more every k-th column is taken, and counts k times
MOST_CELLS = 2_000_000
BLOCK = 1_000_000  # cells hashed at once, which bounds the memory
# columns of more values than categories usually have are never taken for one another, though copies give all the same pattern
FEW_VALUES = 20
FIRST_ROWS = 50  # a column of so many different values is worth sorting to see whether they all differ
FIRST_COLUMNS = 20  # of which one is looked for
LEVEL = 0.05
HARDLY_EVER = 1e-4  # equal pairs expected of independent columns; so few because real columns depend on each other
AS_OFTEN = (
    2  # times the equal pairs expected of independent columns: so many show nothing but that few values are common
)
REPEATED = 4  # nor are columns whose values are hardly seen more often than copies are


@dataclass(frozen=True)
class Copies:
    """Rows that have the features of another row.

    Parameters
    ----------
    code : ndarray of int
        Number of the distinct row that each row is.
    rows : int
        Rows that equal another row.
    by_chance : bool
        Equal rows are to be expected of such columns: rows that differ in one feature only are as frequent.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> X[1] = X[0]
    >>> found = find_copies(X)
    >>> found.rows, found.by_chance
    (2, False)
    """

    code: Ints
    rows: int
    by_chance: bool


def find_copies(X: Any) -> Copies:
    """Find rows that are equal in every feature, and say whether chance makes such rows.

    Parameters
    ----------
    X : ndarray, CSR matrix or pandas DataFrame
        Features. Missing values equal each other.

    Returns
    -------
    Copies

    Notes
    -----
    Pairs of rows that are equal in every feature are counted against pairs that differ in exactly one. If a pair that agrees in
    all other features agrees in feature k with probability p_k, the expected ratio of the two counts is 1 / sum((1 - p_k) / p_k).
    This is below 1 unless one feature hardly varies given the others, so that more equal pairs than pairs with one difference
    are no recurrence of common rows: somebody copied rows. Counting neighbours, and not multiplying shares of values, allows
    for features that depend on each other. Features of few values with the same pattern count once, and neighbouring columns of
    two values that are never on together (one category, coded as indicators) count as one feature. A single feature never
    shows copies.

    A few equal pairs in a small sample may be luck. They count as copies if equal pairs are more than half of both kinds by a
    binomial test at level .05, or if columns that are independent would give one equal pair in fewer than 1 in 10,000 samples.
    Equal pairs that are at most twice as many as independent columns with these values would give are no copies: in two columns
    of yes and no that are mostly no, nearly all rows are equal, and hardly any differ in one feature.

    Examples
    --------
    >>> bits = np.random.default_rng(0).integers(0, 2, (100, 6))
    >>> find_copies(bits).by_chance
    True
    """
    if isinstance(X, np.ndarray) and _has_distinct_column(X):
        return Copies(np.arange(len(X)), 0, False)
    hashes = _sparse_row_hashes(X) if hasattr(X, "tocsr") else _row_hashes(X)
    ordered = np.sort(hashes)  # a plain sort is many times faster than numbering the rows
    if np.all(ordered[1:] != ordered[:-1]):
        return Copies(np.arange(len(hashes)), 0, False)
    _, code, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    code = code.reshape(-1).astype(np.int64)
    rows = int(counts[counts > 1].sum())
    if not rows:
        return Copies(code, 0, False)
    equal = _pairs(counts)
    if hasattr(X, "tocsr"):
        near, expected = _near_pairs_of_sparse(X, hashes), _expected_pairs(_sizes_of_sparse(X), len(code))
    else:
        features = list(_features(X))
        near = _near_pairs(features, equal)
        expected = _expected_pairs((np.bincount(v) for v in features), len(code))
    unlikely = equal > AS_OFTEN * expected
    copied = unlikely and near < equal and (expected < HARDLY_EVER or _more_than_half(equal, near) <= LEVEL)
    return Copies(code, rows, not copied)


def _has_distinct_column(X: Array) -> bool:
    """Say whether a column, the first of those whose first values differ, has no value twice: then no two rows are equal."""
    first = np.sort(X[:FIRST_ROWS, :FIRST_COLUMNS], axis=0)
    apart = np.flatnonzero((first[1:] != first[:-1]).all(axis=0))
    if not len(apart):
        return False
    column = np.sort(X[:, apart[0]])
    # missing values are sorted to the end, and equal each other
    return bool((column[1:] != column[:-1]).all() and column[-1] == column[-1])


def with_copies(data: Data, duplicates: Duplicates = "auto") -> Data:
    """Return the sample with copies of rows made one unit, if they are to be kept on one side of every split.

    Parameters
    ----------
    data : Data
        The sample.
    duplicates : {"auto", "together", "apart"}
        "auto" keeps copies together if chance does not make such rows and neither groups nor time are given; then every class
        must be left in two units at least. "together" keeps all equal rows together, and joins groups that share one. "apart"
        splits rows as if each were its own.

    Examples
    --------
    >>> from unseen.datasets import as_data
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> X[1] = X[0]
    >>> data = as_data(X, np.arange(30) % 2)
    >>> with_copies(data).n_units, with_copies(data, "apart").n_units
    (29, 30)
    """
    if duplicates not in DUPLICATES:
        raise UnknownName("choice for duplicates", duplicates, DUPLICATES)
    if duplicates == "apart":
        return data if data.joined is None else replace(data, joined=None)
    if data.joined is not None or data.X is None:
        return data
    plain = data.groups is None and data.order is None
    if duplicates == "auto" and not plain:
        return data
    found = find_copies(data.X)
    if not found.rows or (duplicates == "auto" and found.by_chance):
        return data
    joined = replace(data, joined=found.code if data.groups is None else _join(found.code, data.units))
    if duplicates == "together":
        if joined.n_units < 2:
            raise InputError(
                "duplicates='together' leaves one unit, because all rows are linked by copies; use 'apart'."
            )
        return joined if joined.n_units < data.n_units else data
    return joined if _can_be_split(joined) else data


def _can_be_split(data: Data) -> bool:
    """Say whether two units, or two of each class, are left."""
    if data.classes is None:
        return data.n_units > 1
    pairs = np.unique(np.column_stack([data.codes, data.units]), axis=0)[:, 0]
    return bool(np.all(np.bincount(pairs) > 1))


def _join(code: Ints, units: Ints) -> Ints:
    """Return the components of groups and distinct rows that share a row."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = int(units.max()) + 1
    links = coo_matrix((np.ones(len(code)), (units, size + code)), shape=(size + int(code.max()) + 1,) * 2)
    return connected_components(links, directed=False)[1][units].astype(np.int64)


def _pairs(counts: Array) -> float:
    """Return the number of pairs within sets of these sizes."""
    sizes = counts.astype(float)
    return float((sizes * (sizes - 1) / 2).sum())


def _row_hashes(X: Any) -> Array:
    """Return a 64-bit hash of each row; equal rows have equal hashes, and missing values equal each other."""
    import pandas as pd

    if hasattr(X, "iloc"):
        return pd.util.hash_pandas_object(X, index=False).to_numpy()
    keys = np.random.default_rng(1).integers(1, 2**63, X.shape[1], dtype=np.uint64) | np.uint64(1)
    rows = max(1, BLOCK // X.shape[1])
    return np.concatenate([_array_hashes(X[k : k + rows], keys) for k in range(0, len(X), rows)])


def _array_hashes(X: Array, keys: Array) -> Array:
    """Return the sum over a row's cells of their bits, mixed with the key of the column."""
    if X.dtype.kind == "f":
        plain = X.astype(float) + 0.0  # makes -0 a 0
        bits = np.where(np.isnan(plain), np.nan, plain).view(np.uint64)
    else:
        bits = np.ascontiguousarray(X.astype(np.int64)).view(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(29))) * keys
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing
        mixed ^= mixed >> np.uint64(29)
        return np.asarray(mixed.sum(axis=1, dtype=np.uint64))


def _cell_hashes(X: Any) -> Array:
    """Return a hash of column and value of each stored cell of a CSR matrix."""
    from pandas.util import hash_array

    with np.errstate(over="ignore"):
        cells = hash_array(X.indices.astype(np.int64)) * np.uint64(3) ^ hash_array(X.data.astype(float))
        return hash_array(cells)


def _without_zeros(X: Any) -> Any:
    matrix = X.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _sparse_row_hashes(X: Any) -> Array:
    """Return the sum over a row's non-zero cells of a hash of column and value."""
    matrix = _without_zeros(X)
    with np.errstate(over="ignore"):
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_cell_hashes(matrix), dtype=np.uint64)])
        result: Array = totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]]
        return result


def _near_pairs_of_sparse(X: Any, hashes: Array) -> float:
    """Return the number of pairs of rows of a sparse matrix that differ in one cell."""
    matrix = _without_zeros(X)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    with np.errstate(over="ignore"):
        rest = hashes[row] - _cell_hashes(matrix)  # the row without this cell
    # the cell is zero in the other row, which then is the rest
    distinct, counts = np.unique(hashes, return_counts=True)
    place = np.minimum(np.searchsorted(distinct, rest), len(distinct) - 1)
    near = float(counts[place][distinct[place] == rest].sum())
    # or both rows have a value there: the same rest in one column, less the pairs that are equal in it too
    column = matrix.indices.astype(np.int64)
    for values, sign in (((column, rest), 1), ((column, rest, matrix.data), -1)):
        order = np.lexsort(values[::-1])
        new = np.any([v[order][1:] != v[order][:-1] for v in values], axis=0) if len(order) > 1 else np.zeros(0, bool)
        near += sign * _pairs(np.diff(np.flatnonzero(np.r_[True, new, True])))
    return near


def _more_than_half(equal: float, near: float) -> float:
    """Return how often at least so many pairs would be equal if half of all were."""
    from scipy.special import betainc

    return float(betainc(equal, near + 1, 0.5))


def _expected_pairs(sizes: Iterable[Array], n: int) -> float:
    """Return how many pairs of n rows are equal if columns with values of these frequencies are independent."""
    every = n * (n - 1) / 2
    total = np.log(every)
    for counts in sizes:
        total += np.log(max(_pairs(counts), 1e-300) / every)
    return float(np.exp(total))


def _sizes_of_sparse(X: Any) -> Iterator[Array]:
    """Yield how often each value of a column of a sparse matrix occurs, columns of zeros left out."""
    matrix = _without_zeros(X).tocsc()
    for k in np.flatnonzero(np.diff(matrix.indptr)):
        values = matrix.data[matrix.indptr[k] : matrix.indptr[k + 1]]
        yield np.r_[matrix.shape[0] - len(values), np.unique(values, return_counts=True)[1]]


def _near_pairs(features: list[Ints], equal: float) -> float:
    """Return the number of pairs of rows that differ in one feature; counting stops at as many as are equal."""
    if not features:
        return np.inf  # nothing varies
    n = len(features[0])
    step = -(-n * len(features) // MOST_CELLS)
    keys = np.random.default_rng(0).integers(1, 2**63, len(features), dtype=np.uint64)
    total = np.zeros(n, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for values, key in zip(features, keys):
            total += _hash_values(values, key)
        near = 0.0
        for values, key in list(zip(features, keys))[::step]:
            near += step * (_pairs(np.unique(total - _hash_values(values, key), return_counts=True)[1]) - equal)
            if near >= equal:
                break
    return near


def _hash_values(values: Ints, key: np.uint64) -> Array:
    """Return a hash of each value of a column; the key keeps columns apart."""
    from pandas.util import hash_array

    return hash_array(values.astype(np.uint64) ^ key)


def _features(X: Any) -> Iterator[Ints]:
    """Yield each feature as numbers of its values in the order of first appearance; constant ones, and repeats of few values, are left out."""
    import pandas as pd

    seen: set[bytes] = set()
    for values in _join_indicators(X):
        codes = pd.factorize(values, use_na_sentinel=False)[0].astype(np.int64)
        if not codes.any():
            continue
        if codes.max() < min(FEW_VALUES, len(codes) // REPEATED):
            mark = codes.tobytes()
            if mark in seen:
                continue
            seen.add(mark)
        yield codes


def _join_indicators(X: Any) -> Iterator[Array]:
    """Yield columns; neighbours of two values, never both at their larger one, as one column that says which is."""
    level = None
    for k in range(X.shape[1]):
        column = np.asarray(X.iloc[:, k] if hasattr(X, "iloc") else X[:, k])
        on = _larger_of_two(column)
        if on is not None and level is not None and not np.any(on & (level > 0)):
            level = np.where(on, k + 1, level)
            continue
        if level is not None:
            yield level
        level = None if on is None else np.where(on, k + 1, 0)
        if on is None:
            yield column
    if level is not None:
        yield level


def _larger_of_two(column: Array) -> Array | None:
    """Return where a column of two numbers has the larger one; None for other columns."""
    if column.dtype.kind not in "fiub":
        return None
    low, high = column.min(), column.max()
    if not low < high:  # constant, or with missing values
        return None
    on = column == high
    return on if np.all(on | (column == low)) else None
