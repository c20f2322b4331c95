"""Penalised least squares for many training parts at once, by updating one factorisation of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.engine.fits import ManyFits
from unseen.models.exact.scatter import IN_CACHE, changed_scatter, invert
from unseen.models.exact.sums import ROWS_WORTH_A_LOOP, products_with_left_out

__all__ = ["Factored", "apply_weights", "factorize", "held_out_residuals"]

RANK_TOLERANCE = 1e-7  # a smaller pivot of the scaled columns leaves fewer than half of the digits of a solution
SMALLEST_PIVOT = 1e-6  # below it a training part hardly determines the weights, and refitting is the safe way
WELL_APART = (
    1e-6  # eigenvalue of the correlations from which Cholesky factors, taken twice, are as accurate as reflections
)
LOOSE = 1e-2  # eigenvalue from which once is enough: at most two of sixteen digits are lost
ABOVE_CUTOFF = (
    10.0  # times the singular value at which a direction is dropped: what a part has may differ from what all rows have
)
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
    root : ndarray, (n,), or None
        Square roots of the weights; None if all are one.
    floor : float
        Share of the spread in each direction that a training part must keep.
    target : ndarray, (n, targets)
        Weighted targets.
    """

    rows: Floats
    root: Floats | None
    target: Floats
    floor: float = SMALLEST_PIVOT

    def weights(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Return the weights of every fit, (fits, p, targets), and which fits are safe.

        A fit is not safe if its training part hardly determines the weights; it is then to be refitted.
        """
        J, p, q = len(fits), self.rows.shape[1], self.target.shape[1]
        out = np.empty((J, p, q))
        safe = np.ones(J, dtype=bool)
        if fits.held_out is not None:
            dropped = fits.held_out.sizes
            few = dropped < p
        else:
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
        if fits.left_out is not None:
            return self._leave_one_out(fits)
        weights, safe = self.weights(fits)
        plain = self.rows if self.root is None else self.rows / self.root[:, None]
        return apply_weights(fits, plain, weights), safe

    def _leave_one_out(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Take one row from each fit: a prediction falls by the product with that row, times its residual over 1 - h."""
        assert fits.left_out is not None
        fitted = self.rows @ (self.rows.T @ self.target)
        leverage = np.einsum("ip,ip->i", self.rows, self.rows)
        rest = 1 - leverage[fits.left_out]
        safe = rest > self.floor
        residual = (self.target - fitted)[fits.left_out] / np.where(safe, rest, 1.0)[:, None]
        made = fitted[fits.row]
        made -= products_with_left_out(fits, self.rows, leverage)[:, None] * fits.per_prediction(residual)
        return (made if self.root is None else made / self.root[fits.row, None]), safe

    def _by_removal(self, fits: ManyFits, size: int) -> tuple[Floats, Array]:
        """Remove `size` rows from each fit: weights fall by B_C' (I - H_CC)^-1 e_C."""
        weights = self.rows.T @ self.target
        if size == 0:
            return np.broadcast_to(weights, (len(fits), *weights.shape)), np.ones(len(fits), dtype=bool)
        left_out = fits.changes.row.reshape(len(fits), size)
        rows = self.rows[left_out]
        rest = np.eye(size) - rows @ rows.transpose(0, 2, 1)
        safe = _safe(rest, self.floor)
        rest[~safe] = np.eye(size)
        away = np.linalg.solve(rest, (self.target - self.rows @ weights)[left_out])
        return weights - rows.transpose(0, 2, 1) @ away, safe

    def _by_normal_equations(self, fits: ManyFits) -> tuple[Floats, Array]:
        """Solve each fit's own p x p equations, well conditioned in this basis."""
        p = self.rows.shape[1]
        changed = changed_scatter(fits, np.hstack([self.rows, self.target]))[:, 0, :p]
        # of all rows, with the penalty, it is the identity in this basis
        system, right = np.eye(p) + changed[:, :, :p], self.rows.T @ self.target + changed[:, :, p:]
        safe = _safe(system, self.floor)
        system[~safe] = np.eye(p)
        return np.asarray(np.linalg.solve(system, right), dtype=float), safe


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
    for which, place, lines in fits.wanted_together(IN_CACHE // rows.shape[1]):
        out[place] = rows.take(lines, axis=0) @ weights[which]
    return out


def _safe(systems: Floats, floor: float) -> Array:
    """Say which symmetric matrices are positive definite with room to spare."""
    try:
        pivots = np.square(np.diagonal(np.linalg.cholesky(systems), axis1=1, axis2=2))
        result: Array = pivots.min(axis=1) > floor
        return result
    except np.linalg.LinAlgError:
        return np.linalg.eigvalsh(systems)[:, 0] > floor


def _chunks(indices: Ints, numbers_each: int) -> Iterator[Ints]:
    step = max(1, CHUNK_NUMBERS // max(numbers_each, 1))
    for start in range(0, len(indices), step):
        yield indices[start : start + step]


def factorize(
    X: Floats,
    y: Floats,
    penalty: float,
    intercept: bool,
    weights: Floats | None,
    cutoff: float = 0.0,
    scaled: bool = False,
) -> Factored | None:
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
    cutoff : float
        Singular value, over the largest, below which the learner drops a direction.
    scaled : bool
        Whether it sees columns that are scaled.

    Examples
    --------
    >>> X, y = np.arange(4.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0])
    >>> from unseen.core.data import Data
    >>> one = ManyFits(data=Data(X, y, "regression"), train=[np.array([0, 1, 2])], fit=np.zeros(2, int), row=np.array([1, 3]))
    >>> factorize(X, y[:, None], 0.0, True, None).predictions(one)[0].round(9).ravel().tolist()
    [3.0, 7.0]
    """
    n, p = X.shape
    first = int(intercept)
    if n + (p if penalty > 0 else 0) < p + first:
        return None
    w = np.ones(n) if weights is None else weights
    root = None if weights is None else np.sqrt(weights)
    # centring and scaling change no prediction of least squares, and keep the factorisation accurate
    centre = w @ X / w.sum() if intercept else np.zeros(p)
    top = np.ones((n, p + first))
    np.subtract(X, centre, out=top[:, first:])
    if root is not None:
        top *= root[:, None]
    products = top.T @ top
    spread = np.diagonal(products)[first:]
    own = np.full(p + first, penalty)
    own[:first] = 0.0
    size = np.sqrt(np.diagonal(products) + own)
    # a constant column leaves rounding errors only
    if not (size[first:] > RANK_TOLERANCE * np.sqrt(spread + w.sum() * np.square(centre))).all():
        return None
    rows = _orthogonalize(top, products, own, size)
    if rows is None:
        below = np.sqrt(penalty) * np.eye(p + first)[first:]
        Q, R = np.linalg.qr((np.vstack([top, below]) if penalty > 0 else top) / size)
        diagonal = np.abs(np.diag(R))
        if diagonal.min() < RANK_TOLERANCE * diagonal.max():
            return None
        rows = np.ascontiguousarray(Q[:n])
    scatter = products[first:, first:]
    floor = _floor(scatter / np.outer(size[first:], size[first:]) if scaled else scatter, cutoff)
    return Factored(rows, root, y if root is None else y * root[:, None], floor) if floor < 1 else None


def _floor(scatter: Floats, cutoff: float) -> float:
    """Return the share of its spread that a part must keep in each direction, so that none falls below the cutoff."""
    if not cutoff:
        return SMALLEST_PIVOT
    values = np.linalg.eigvalsh(scatter)
    if not values[0] > 0:
        return np.inf
    return max(SMALLEST_PIVOT, float((ABOVE_CUTOFF * cutoff) ** 2 * values[-1] / values[0]))


def _orthogonalize(top: Floats, products: Floats, own: Floats, size: Floats) -> Floats | None:
    """Return rows B with B'B + penalties = 1 by Cholesky factors, twice if once loses digits; None if too many are lost.

    Parameters
    ----------
    top, products : ndarray
        Rows and the products of their columns.
    own, size : ndarray
        Penalty and length of each column.

    References
    ----------
    Yamamoto, Y., Nakatsukasa, Y., Yanagisawa, Y. and Fukaya, T. (2015). Roundoff error analysis of the CholeskyQR2
    algorithm. Electronic Transactions on Numerical Analysis 44, 306-326.
    """
    system = products / size[:, None] / size
    np.fill_diagonal(system, 1.0)
    once = invert(system)
    if not once.smallest > WELL_APART:
        return None
    basis = once.factor.T / size[:, None]
    rows = top @ basis
    if once.smallest > LOOSE:
        return np.asarray(rows)
    twice = invert(rows.T @ rows + (basis.T * own) @ basis)
    return np.asarray(rows @ twice.factor.T)
