"""Penalised least squares for many training parts at once, by updating one factorisation of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.engine.fits import ManyFits
from unseen.models.exact.scatter import changed_scatter
from unseen.models.exact.sums import ROWS_WORTH_A_LOOP, changed_sums

__all__ = ["Factored", "apply_weights", "factorize", "held_out_residuals"]

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
    target : ndarray, (n, targets)
        Weighted targets.
    """

    rows: Floats
    plain: Floats
    target: Floats

    def weights(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Return the weights of every fit, (fits, p, targets), and which fits are safe.

        A fit is not safe if its training part hardly determines the weights; it is then to be refitted.
        """
        J, p, q = len(fits), self.rows.shape[1], self.target.shape[1]
        if fits.left_out is not None:
            return self._without_one(fits.left_out)
        out = np.empty((J, p, q))
        safe = np.ones(J, dtype=bool)
        dropped = np.bincount(fits.changes.fit, minlength=J)
        few = (np.bincount(fits.changes.fit, weights=fits.changes.by, minlength=J) == -dropped) & (dropped < p)
        few &= fits.sizes == fits.data.n - dropped
        for size in np.unique(dropped[few]):
            for part in _chunks(np.flatnonzero(few & (dropped == size)), size * p):
                out[part], safe[part] = self._by_removal(fits.some(part), int(size))
        for part in _chunks(np.flatnonzero(~few), p * p):
            out[part], safe[part] = self._by_normal_equations(fits.some(part) if len(part) < J else fits)
        return out, safe

    def predictions(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Return the wanted predictions, (predictions, targets), and which fits are safe."""
        weights, safe = self.weights(fits)
        return apply_weights(fits, self.plain, weights), safe

    def _without_one(self, out: Ints) -> tuple[Floats, Array]:
        weights = self.rows.T @ self.target
        rows = self.rows[out]
        rest = 1 - np.einsum("jp,jp->j", rows, rows)
        safe = rest > SMALLEST_PIVOT
        residual = (self.target - self.rows @ weights)[out] / np.where(safe, rest, 1.0)[:, None]
        return weights - rows[:, :, None] * residual[:, None, :], safe

    def _by_removal(self, fits: ManyFits, size: int) -> tuple[Floats, Array]:
        """Remove `size` rows from each fit: weights fall by B_C' (I - H_CC)^-1 e_C."""
        weights = self.rows.T @ self.target
        if size == 0:
            return np.broadcast_to(weights, (len(fits), *weights.shape)), np.ones(len(fits), dtype=bool)
        left_out = fits.changes.row.reshape(len(fits), size)
        rows = self.rows[left_out]
        rest = np.eye(size) - rows @ rows.transpose(0, 2, 1)
        safe = _safe(rest)
        rest[~safe] = np.eye(size)
        away = np.linalg.solve(rest, (self.target - self.rows @ weights)[left_out])
        return weights - rows.transpose(0, 2, 1) @ away, safe

    def _by_normal_equations(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Solve each fit's own p x p equations, well conditioned in this basis."""
        p, q = self.rows.shape[1], self.target.shape[1]
        system = np.eye(p) + changed_scatter(fits, self.rows)[:, 0]
        safe = _safe(system)
        system[~safe] = np.eye(p)
        products = (self.rows[:, :, None] * self.target[:, None, :]).reshape(len(self.rows), p * q)
        right = products.sum(axis=0) + changed_sums(fits, products)[:, 0]
        return np.linalg.solve(system, right.reshape(-1, p, q)), safe


def apply_weights(fits: ManyFits, rows: Floats, weights: Floats) -> Floats:
    """Return rows times weights for each wanted prediction: (predictions, targets).

    Parameters
    ----------
    fits : ManyFits
        Wanted predictions.
    rows : ndarray, (n, p)
        Rows to predict for.
    weights : ndarray, (fits, p, targets)
        Weights of each fit.
    """
    if len(fits.row) <= ROWS_WORTH_A_LOOP * len(fits):
        return np.asarray(np.einsum("ip,ipq->iq", rows[fits.row], weights[fits.fit]), dtype=float)
    out = np.empty((len(fits.row), weights.shape[2]))
    for j in range(len(fits)):
        here = fits.wanted(j)
        out[here] = rows[fits.row[here]] @ weights[j]
    return out


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
    X, y : ndarray, (n, p) and (n, targets)
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
    >>> from unseen.core.data import Data
    >>> one = ManyFits(data=Data(X, y, "regression"), train=[np.array([0, 1, 2])], fit=np.zeros(2, int), row=np.array([1, 3]))
    >>> factorize(X, y[:, None], 0.0, True, None).predictions(one)[0].round(9).ravel().tolist()
    [3.0, 7.0]
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
    return Factored(rows, rows / root[:, None], y * root[:, None])
