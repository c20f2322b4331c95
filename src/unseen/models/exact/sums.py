"""Sums over training parts, by adding to the sums over all rows what each part has more or less of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.engine.fits import ManyFits
from unseen.models.exact.learner import Sample

__all__ = [
    "ClassMoments",
    "centre_by_class",
    "changed_sums",
    "class_moments",
    "largest_sizes",
    "move_to_centre",
    "products_with_left_out",
    "squared_distances",
]

SPARSE = 0.2  # below this share of changed counts a sparse product is quicker than a dense one
CANCELLED = 1e-6  # a variance that falls below this share of that of all rows has lost too many digits
CHUNK_NUMBERS = 1 << 17  # 1 MB of intermediate numbers stays in the cache
SHORT = 512  # numbers in a line from which the loops of numpy run at full speed
ROWS_WORTH_A_LOOP = 8  # wanted predictions per fit from which a loop over fits beats gathering their parameters


def changed_sums(
    fits: ManyFits, columns: Floats, group: Ints | None = None, n_groups: int = 1, weights: Floats | None = None
) -> Floats:
    """Return, for each fit and group of rows, the sum of `columns` over its training part minus that over all rows.

    Parameters
    ----------
    fits : ManyFits
        Training parts.
    columns : ndarray, (n, q)
        What is summed.
    group, n_groups
        Group of each row, such as its class; one group by default.
    weights : ndarray, optional
        Weight of each row.

    Returns
    -------
    ndarray, (fits, groups, q)

    Examples
    --------
    >>> from unseen.core.data import Data
    >>> data = Data(np.zeros((3, 1)), np.zeros(3), "regression")
    >>> two = ManyFits(data=data, train=[np.array([0, 1]), np.array([1, 1, 2])], fit=np.zeros(0, int), row=np.zeros(0, int))
    >>> changed_sums(two, np.array([[1.0], [10.0], [100.0]])).ravel().tolist()
    [-100.0, 9.0]
    """
    J, n = len(fits), fits.data.n
    code = np.zeros(n, dtype=np.int64) if group is None else group
    if fits.left_out is not None:
        out = np.zeros((J, n_groups, columns.shape[1]))
        rows = fits.left_out
        taken = columns[rows] if weights is None else columns[rows] * weights[rows, None]
        out[np.arange(J), code[rows]] = -taken
        return out
    changes = fits.changes
    if len(changes.fit) > SPARSE * J * n:
        by = fits.counts.astype(float) - 1.0
        if weights is not None:
            by *= weights
        parts = [by @ columns] if n_groups == 1 else []
        for k in range(n_groups if n_groups > 1 else 0):
            rows = np.flatnonzero(code == k)
            parts.append(by[:, rows] @ columns[rows])
        return np.stack(parts, axis=1)
    from scipy.sparse import csr_matrix

    by = changes.by.astype(float)
    if weights is not None:
        by *= weights[changes.row]
    where = (changes.fit * n_groups + code[changes.row], changes.row)
    product: Any = csr_matrix((by, where), shape=(J * n_groups, n)) @ columns
    return np.asarray(product, dtype=float).reshape(J, n_groups, columns.shape[1])


def move_to_centre(rows: Floats, weights: Floats | None = None) -> Floats:
    """Take their mean from rows, in place, and return it: exactly their value where a column does not vary.

    Examples
    --------
    >>> rows = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 6.0]])
    >>> move_to_centre(rows).tolist(), rows.tolist()
    ([0.1, 3.0], [[0.0, -2.0], [0.0, -1.0], [0.0, 3.0]])
    """
    w = np.ones(len(rows)) if weights is None else weights
    first = rows[0].copy()
    rows -= first
    rest = (w @ rows) / w.sum()
    rows -= rest
    return np.asarray(first + rest)


def centre_by_class(X: Floats, codes: Ints, n_classes: int, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return a centre per class and the rows minus it, exactly zero where a column does not vary within a class."""
    centre = np.zeros((n_classes, X.shape[1]))
    for k in range(n_classes):
        rows = np.flatnonzero(codes == k)
        if len(rows):
            centre[k] = move_to_centre(X.take(rows, axis=0), None if weights is None else weights[rows])
    away = centre.take(codes, axis=0)
    return centre, np.subtract(X, away, out=away)


def largest_sizes(X: Floats) -> Floats:
    """Return the largest absolute value of each column of a contiguous array.

    Examples
    --------
    >>> largest_sizes(np.array([[1.0, -5.0], [-2.0, 3.0]])).tolist()
    [2.0, 5.0]
    """
    n, p = X.shape
    # numpy goes through columns line by line, which is slow where lines are short: several lines are one here
    together = max(1, min(n, SHORT // max(p, 1)))
    whole = n - n % together
    blocks = X[:whole].reshape(-1, together * p)
    found = [blocks.max(axis=0), -blocks.min(axis=0)]
    rest = [part.reshape(-1, p) for part in found] + [X[whole:], -X[whole:]]
    return np.asarray(np.concatenate(rest).max(axis=0))


def products_with_left_out(fits: ManyFits, rows: Floats, squares: Floats) -> Floats:
    """Return the product of each wanted row with the one row that its fit leaves out.

    Parameters
    ----------
    fits : ManyFits
        Fits that leave one row out each.
    rows : ndarray, (n, p)
        All rows.
    squares : ndarray, (n,)
        Their products with themselves.
    """
    assert fits.left_out is not None
    if fits.predicts_left_out:
        return squares[fits.row]
    return np.asarray(np.einsum("ip,ip->i", rows[fits.row], rows[fits.left_out[fits.fit]]), dtype=float)


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Size, mean and variance of each class in each training part.

    Parameters
    ----------
    size : ndarray, (fits, classes)
        Rows of the class, or their weight; zero for a class that is missing.
    mean, squares : ndarray, (fits, classes, features)
        Means, and sums of squared deviations from them.
    safe : ndarray of bool, (fits,)
        Whether no sum of squares has lost its digits to cancellation.
    """

    size: Floats
    mean: Floats
    squares: Floats
    safe: Array


def class_moments(sample: Sample, fits: ManyFits, group: Ints | None = None, n_groups: int = 1) -> ClassMoments:
    """Return the moments of each group of rows, in each training part; without groups, those of the whole part."""
    X, weights = sample.X, sample.weights
    code = np.zeros(len(X), dtype=np.int64) if group is None else group
    centre, away = centre_by_class(X, code, n_groups, weights)
    w = np.ones(len(X)) if weights is None else weights
    p = X.shape[1]
    squared = away * away
    # weights other than whole counts leave sums of deviations that are not exactly zero
    all_rows = np.zeros((n_groups, 1 + 2 * p))
    for k in range(n_groups):
        rows = code == k
        all_rows[k] = np.concatenate([[w[rows].sum()], w[rows] @ away[rows], w[rows] @ squared[rows]])
    sums = changed_sums(fits, np.column_stack([np.ones(len(X)), away, squared]), code, n_groups, weights) + all_rows
    copies = sums[:, :, 0] if weights is None else _copies(fits, code, n_groups)
    size = np.where(copies > 0.5, sums[:, :, 0], 0.0)
    there = np.where(size > 0, size, 1.0)[:, :, None]
    shift = sums[:, :, 1 : 1 + p] / there
    squares = np.maximum(sums[:, :, 1 + p :] - there * shift**2, 0.0)
    usual = all_rows[:, 1 + p :] / np.maximum(all_rows[:, :1], 1e-300)
    lost: Array = (squares / there < CANCELLED * usual) & (usual > 0) & (size > 0)[:, :, None]
    return ClassMoments(size, centre + shift, squares, np.asarray(~lost.any(axis=(1, 2))))


def _copies(fits: ManyFits, code: Ints, n_groups: int) -> Floats:
    ones = np.ones((len(code), 1))
    return changed_sums(fits, ones, code, n_groups)[:, :, 0] + np.bincount(code, minlength=n_groups)


def squared_distances(fits: ManyFits, X: Floats, centre: Floats, weight: Floats) -> Floats:
    """Return sum over features of weight (x - centre)^2 for each wanted prediction and class.

    Parameters
    ----------
    fits : ManyFits
        Wanted predictions.
    X : ndarray, (n, p)
        Rows.
    centre, weight : ndarray, (fits, classes, p)
        Parameters of each fit; the weights may have one class for all.
    """
    P, K, p = len(fits.row), centre.shape[1], X.shape[1]
    out = np.empty((P, K))
    if ROWS_WORTH_A_LOOP * len(fits) < P:
        for j in range(len(fits)):
            here = fits.wanted(j)
            rows = X[fits.row[here]]
            for k in range(K):
                away = rows - centre[j, k]
                away *= away
                out[here, k] = away @ weight[j, k if weight.shape[1] > 1 else 0]
        return out
    step = max(1, CHUNK_NUMBERS // (K * p))
    for start in range(0, P, step):
        part = slice(start, start + step)
        fit = fits.fit[part]
        away = X[fits.row[part], None, :] - centre[fit]
        away *= away
        away *= weight[fit]
        out[part] = away.sum(axis=2)
    return out
