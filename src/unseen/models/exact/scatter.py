"""Scatter matrices of training parts, and their inverses, from those of all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.engine.fits import ManyFits
from unseen.models.exact.sums import changed_sums

__all__ = ["IN_CACHE", "MAX_OUTER", "Inverted", "changed_scatter", "invert", "split_fits"]

MAX_OUTER = 50_000_000  # numbers in the outer products of all rows, 400 MB
FEW_GROUPS = 8  # from which the rows of each group are looked for, not all rows gone through
CHUNK_NUMBERS = 4_000_000  # of the matrices of several fits, 32 MB
IN_CACHE = 1 << 15  # numbers of intermediate results, 256 KB: larger ones cost page faults


def changed_scatter(fits: ManyFits, rows: Floats, group: Ints | None = None, n_groups: int = 1) -> Floats:
    """Return, for each fit and group, the sum of outer products over its training part minus that over all rows.

    Parameters
    ----------
    fits : ManyFits
        Training parts.
    rows : ndarray, (n, p)
        Centred rows.
    group, n_groups
        Group of each row; one by default.

    Returns
    -------
    ndarray, (fits, groups, p, p)

    Examples
    --------
    >>> from unseen.core.data import Data
    >>> one = ManyFits(data=Data(np.zeros((2, 2)), np.zeros(2), "regression"), train=[np.array([0, 0])],
    ...            fit=np.zeros(0, int), row=np.zeros(0, int))
    >>> changed_scatter(one, np.array([[1.0, 2.0], [3.0, 0.0]]))[0, 0].tolist()
    [[-8.0, 2.0], [2.0, 4.0]]
    """
    p = rows.shape[1]
    if fits.held_out is not None and fits.left_out is None and n_groups <= FEW_GROUPS:
        return _held_out_scatter(fits, rows, group, n_groups)
    upper = np.triu_indices(p)
    sums = changed_sums(fits, rows[:, upper[0]] * rows[:, upper[1]], group, n_groups)
    out = np.empty((len(fits), n_groups, p, p))
    out[:, :, upper[0], upper[1]] = sums
    out[:, :, upper[1], upper[0]] = sums
    return out


def _held_out_scatter(fits: ManyFits, rows: Floats, group: Ints | None, n_groups: int) -> Floats:
    """Return the same for fits that leave rows out: minus the products of these."""
    assert fits.held_out is not None
    p = rows.shape[1]
    out = np.empty((len(fits), n_groups, p, p))
    for which, lines in fits.held_out.of_one_length(IN_CACHE // p):
        taken = rows.take(lines, axis=0)
        turned = taken.transpose(0, 2, 1)
        for k in range(n_groups):
            own = taken if group is None or n_groups == 1 else taken * (group[lines] == k)[:, :, None]
            out[which, k] = -(turned @ own)
    return out


@dataclass(frozen=True, eq=False)
class Inverted:
    """Symmetric matrices A = L L' as the inverse of L.

    Parameters
    ----------
    factor : ndarray, (..., p, p)
        Inverse of L: x' A^-1 x is the squared length of `factor` x.
    smallest : ndarray, (...)
        A number below the smallest eigenvalue of A and above a p-th of it; zero if A is not positive definite.
    """

    factor: Floats
    smallest: Floats

    @property
    def log_det(self) -> Floats:
        """Log determinant of A, as an array of shape (...)."""
        return np.asarray(-2 * np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(axis=-1))


def invert(matrices: Floats) -> Inverted:
    """Factor and invert many symmetric matrices at once; those that are not positive definite come back as the identity."""
    p = matrices.shape[-1]
    bad: Array = np.asarray(~np.isfinite(matrices).all(axis=(-2, -1)))
    A = np.where(bad[..., None, None], np.eye(p), matrices) if bad.any() else matrices
    try:
        lower = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        bad |= np.linalg.eigvalsh(A)[..., 0] <= 1e-12 * np.abs(A).max(axis=(-2, -1))
        lower = np.linalg.cholesky(np.where(bad[..., None, None], np.eye(p), A))
    factor: Floats = np.asarray(np.linalg.inv(lower), dtype=float)
    smallest = np.where(bad, 0.0, 1.0 / np.einsum("...pq,...pq->...", factor, factor))
    return Inverted(factor, smallest)


def split_fits(fits: ManyFits, numbers_each: int) -> list[Array]:
    """Return the numbers of the fits in parts whose matrices fit into memory."""
    step = max(1, CHUNK_NUMBERS // max(numbers_each, 1))
    return [np.arange(start, min(start + step, len(fits))) for start in range(0, len(fits), step)]
