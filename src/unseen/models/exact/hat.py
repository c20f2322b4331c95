"""Penalised least squares for many training parts at once, by updating one factorisation of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints

__all__ = ["Factored", "factorize", "held_out_residuals"]

RANK_TOLERANCE = 1e-7  # a smaller pivot of the scaled columns leaves fewer than half of the digits of a solution
SMALLEST_PIVOT = 1e-6  # below it a training part hardly determines the weights, and refitting is the safe way
CHUNK_NUMBERS = 4_000_000  # 32 MB at a time


def held_out_residuals(hat: Floats, residuals: Floats, left_out: Ints) -> Floats:
    """Return the residuals of rows under the fits that left them out: e_C = (I - H_CC)^-1 e_C.

    Parameters
    ----------
    hat : ndarray, (..., n, n)
        Hat matrix of the fit on all rows; leading axes are data sets.
    residuals : ndarray, (..., n)
        Residuals of that fit.
    left_out : ndarray of int, (..., J, m)
        Rows each of J fits leaves out.

    Returns
    -------
    ndarray, (..., J, m)

    Examples
    --------
    >>> x, y = np.ones((4, 1)), np.array([1.0, 2.0, 3.0, 6.0])
    >>> held_out_residuals(x @ x.T / 4, y - y.mean(), np.array([[3], [0]])).ravel().round(4).tolist()
    [4.0, -2.6667]
    """
    picked = np.take_along_axis(residuals[..., None, :], left_out, axis=-1)
    rows = np.take_along_axis(hat[..., None, :, :], left_out[..., :, None], axis=-2)
    block = np.take_along_axis(rows, np.broadcast_to(left_out[..., None, :], (*left_out.shape, left_out.shape[-1])), -1)
    return np.asarray(np.linalg.solve(np.eye(left_out.shape[-1]) - block, picked[..., None])[..., 0], dtype=float)


@dataclass(frozen=True)
class Factored:
    """Rows in the basis in which the normal equations of all rows are the identity.

    Parameters
    ----------
    rows : ndarray, (n, p)
        Weighted rows B, so that the hat matrix is B B'.
    plain : ndarray, (n, p)
        The same rows without their weights, for predictions.
    target : ndarray, (n,)
        Weighted target.
    """

    rows: Floats
    plain: Floats
    target: Floats

    def predictions(self, counts: Array) -> tuple[Floats, Array]:
        """Return predictions for all rows by the fits that used row i `counts[j, i]` times, and which fits are safe.

        A fit is not safe if its training part hardly determines the weights; its predictions are then to be made
        by fitting.
        """
        J, n = counts.shape
        p = self.rows.shape[1]
        out = np.empty((J, n))
        safe = np.ones(J, dtype=bool)
        dropped = (counts == 0).sum(axis=1)
        few = (counts.max(axis=1) <= 1) & (dropped < p)
        for size in np.unique(dropped[few]):
            for part in _chunks(np.flatnonzero(few & (dropped == size)), size * p + n):
                out[part], safe[part] = self._by_removal(counts[part], int(size))
        for part in _chunks(np.flatnonzero(~few), p * p + n):
            out[part], safe[part] = self._by_normal_equations(counts[part])
        return out, safe

    def _by_removal(self, counts: Array, size: int) -> tuple[Floats, Array]:
        """Remove `size` rows from each fit: predictions fall by B B_C' (I - H_CC)^-1 e_C."""
        weights = self.rows.T @ self.target
        if size == 0:
            return np.broadcast_to(self.plain @ weights, counts.shape), np.ones(len(counts), dtype=bool)
        left_out = np.nonzero(counts == 0)[1].reshape(len(counts), size)
        rows = self.rows[left_out]
        rest = np.eye(size) - rows @ rows.transpose(0, 2, 1)
        safe = _safe(rest)
        rest[~safe] = np.eye(size)
        residual = (self.target - self.rows @ weights)[left_out]
        away = np.linalg.solve(rest, residual[..., None])[..., 0]
        changed = weights - np.einsum("jsp,js->jp", rows, away)
        return changed @ self.plain.T, safe

    def _by_normal_equations(self, counts: Array) -> tuple[Floats, Array]:
        """Solve each fit's own p x p equations, well conditioned in this basis."""
        p = self.rows.shape[1]
        extra = counts - 1.0
        outer = (self.rows[:, :, None] * self.rows[:, None, :]).reshape(len(self.rows), p * p)
        system = np.eye(p) + (extra @ outer).reshape(-1, p, p)
        safe = _safe(system)
        system[~safe] = np.eye(p)
        right = counts @ (self.rows * self.target[:, None])
        return np.linalg.solve(system, right[..., None])[..., 0] @ self.plain.T, safe


def _safe(systems: Floats) -> Array:
    """Say which symmetric matrices are positive definite with room to spare."""
    try:
        pivots = np.square(np.diagonal(np.linalg.cholesky(systems), axis1=1, axis2=2))
        result: Array = pivots.min(axis=1) > SMALLEST_PIVOT
        return result
    except np.linalg.LinAlgError:
        return np.linalg.eigvalsh(systems)[:, 0] > SMALLEST_PIVOT


def _chunks(indices: Ints, numbers_each: int) -> Iterator[Ints]:
    step = max(1, CHUNK_NUMBERS // max(numbers_each, 1))
    for start in range(0, len(indices), step):
        yield indices[start : start + step]


def factorize(X: Floats, y: Floats, penalty: float, intercept: bool, weights: Floats | None) -> Factored | None:
    """Factor the design of all rows; None if it does not determine the weights.

    Parameters
    ----------
    X, y : ndarray
        Sample.
    penalty : float
        Ridge penalty of every weight but the intercept.
    intercept : bool
        Whether a constant is fitted.
    weights : ndarray or None
        Positive row weights.

    Examples
    --------
    >>> X, y = np.arange(4.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0])
    >>> fit = factorize(X, y, 0.0, True, None)
    >>> fit.predictions(np.array([[1, 1, 1, 0]]))[0].round(9).tolist()
    [[1.0, 3.0, 5.0, 7.0]]
    """
    n, p = X.shape
    root = np.ones(n) if weights is None else np.sqrt(weights)
    # centring and scaling change no prediction of least squares, and keep the factorisation accurate
    centre = np.average(X, axis=0, weights=weights) if intercept else np.zeros(p)
    design = (X - centre) * root[:, None]
    columns = [root[:, None], design] if intercept else [design]
    top = np.hstack(columns)
    if penalty > 0:
        below = np.zeros((p, top.shape[1]))
        below[:, top.shape[1] - p :] = np.sqrt(penalty) * np.eye(p)
        top = np.vstack([top, below])
    if top.shape[0] < top.shape[1]:
        return None
    size = np.sqrt(np.square(top).sum(axis=0))
    raw = np.sqrt(np.square(X * root[:, None]).sum(axis=0))
    # a constant column leaves rounding errors only
    if not np.all(size[-p:] > RANK_TOLERANCE * raw):
        return None
    Q, R = np.linalg.qr(top / size)
    diagonal = np.abs(np.diag(R))
    if diagonal.min() < RANK_TOLERANCE * diagonal.max():
        return None
    rows = np.ascontiguousarray(Q[:n])
    return Factored(rows, rows / root[:, None], y * root)
