"""Solution of a linear system and its derivatives by parameters, for many times at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from unseen.kinetics.exponentials import divided_difference

__all__ = ["propagate"]

_CONDITION = 1e6


def propagate(t: NDArray, a: NDArray, slopes: NDArray, state: NDArray) -> NDArray:
    """States at times t of ``dx/dt = a x`` with the derivatives of x by parameters of a.

    With eigenvalues far enough apart the derivative of the matrix exponential is a table of divided differences in the
    eigenvector basis; otherwise the system is enlarged by its derivatives and its exponential taken directly.

    Parameters
    ----------
    t : ndarray
        Times from the start of the stretch.
    a : ndarray of shape (n, n)
        The matrix.
    slopes : ndarray of shape (p, n, n)
        Derivative of the matrix by each parameter.
    state : ndarray of shape (1 + p, n)
        State and its derivatives at time zero.

    Returns
    -------
    ndarray of shape (t, 1 + p, n)

    Examples
    --------
    >>> x = propagate(np.array([2.0]), np.array([[-0.5]]), np.array([[[-1.0]]]), np.array([[1.0], [0.0]]))
    >>> x.round(6).tolist()                                       # exp(-1) and -t exp(-1)
    [[[0.367879], [-0.735759]]]
    """
    values, vectors = np.linalg.eig(a)
    if np.linalg.cond(vectors) > _CONDITION:
        return _enlarged(t, a, slopes, state)
    back = np.linalg.inv(vectors)
    decay = np.exp(np.multiply.outer(t, values))
    start = state @ back.T
    out = np.empty((t.size, *state.shape), complex)
    out[:] = np.einsum("tn,pn,mn->tpm", decay, start, vectors)
    if slopes.size:
        phi = divided_difference(t[:, None, None], -values[:, None], -values[None, :])
        inner = back @ slopes @ vectors
        out[:, 1:] += np.einsum("pij,tij,j,mi->tpm", inner, phi, start[0], vectors, optimize=True)
    return out.real


def _enlarged(t: NDArray, a: NDArray, slopes: NDArray, state: NDArray) -> NDArray:
    n, blocks = a.shape[0], state.shape[0]
    big = np.kron(np.eye(blocks), a)
    for b in range(1, blocks):
        big[b * n : (b + 1) * n, :n] = slopes[b - 1]
    return np.stack([(expm(big * x) @ state.ravel()).reshape(blocks, n) for x in t])
