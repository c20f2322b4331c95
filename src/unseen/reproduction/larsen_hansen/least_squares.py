"""The arithmetic of Larsen and Hansen's experiment: thousands of least-squares fits at once, and leave-out residuals without a refit.

Least squares is equivariant: in G = sigma^2 + (w_hat - w)' H (w_hat - w) the input covariance H and the weights w drop
out, so the runs use H = I and fit the noise alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.models import held_out_residuals

__all__ = [
    "LeastSquaresFits",
    "LinearProblem",
    "draw",
    "draw_left_out",
    "fit_all",
    "fpe_log",
    "leave_out",
    "left_out_errors",
]

AT_ONCE = 50  # data sets whose splits are solved at once: some 10 MB


@dataclass(frozen=True, kw_only=True)
class LinearProblem:
    """Sizes and constants of the experiment."""

    n: int = 20
    p: int = 10
    coefficient: float = 0.6518
    noise_variance: float = 32.45
    n_test: int = 5


@dataclass(frozen=True)
class LeastSquaresFits:
    """Least-squares fits of one target on many data sets: weights, residuals and hat matrices."""

    weights: Floats
    residuals: Floats
    hat: Floats


def draw(problem: LinearProblem, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return inputs (first-order autoregressive in time, variance 1) and noise of `count` data sets."""
    X = np.empty((count, problem.n, problem.p))
    X[:, 0] = rng.standard_normal((count, problem.p))
    fresh = np.sqrt(1 - problem.coefficient**2)
    for k in range(1, problem.n):
        X[:, k] = problem.coefficient * X[:, k - 1] + fresh * rng.standard_normal((count, problem.p))
    return X, np.sqrt(problem.noise_variance) * rng.standard_normal((count, problem.n))


def fit_all(X: Floats, y: Floats, hats: int = 0) -> LeastSquaresFits:
    """Fit every data set; hat matrices only for the first `hats` of them."""
    XT = X.transpose(0, 2, 1)
    moment = XT @ X
    weights = np.asarray(np.linalg.solve(moment, XT @ y[..., None])[..., 0], dtype=float)
    residuals = y - np.einsum("qnp,qp->qn", X, weights)
    return LeastSquaresFits(weights, residuals, X[:hats] @ np.linalg.solve(moment[:hats], XT[:hats]))


def draw_left_out(problem: LinearProblem, count: int, n_splits: int, rng: np.random.Generator) -> Ints:
    """Return, for each data set, `n_splits` different sets of rows to leave out."""
    every = np.array(list(combinations(range(problem.n), problem.n_test)))
    return np.stack([every[rng.choice(len(every), n_splits, replace=False)] for _ in range(count)])


def leave_out(hat: Floats, residuals: Floats, left_out: Ints) -> Floats:
    """Return leave-out residuals of every split of every data set."""
    parts = [slice(k, min(k + AT_ONCE, len(left_out))) for k in range(0, len(left_out), AT_ONCE)]
    return np.concatenate([held_out_residuals(hat[s], residuals[s], left_out[s]) for s in parts])


def left_out_errors(residuals: Floats) -> Floats:
    """Return the mean squared error of each split."""
    result: Floats = np.square(residuals).mean(axis=-1)
    return result


def fpe_log(rss: Floats, n: int, p: int) -> Floats:
    """Return the final prediction error of log(1 + G): log(1 + s2) + s2 p / ((1 + s2) n), s2 = RSS / (n - p)."""
    variance = rss / (n - p)
    return np.log1p(variance) + variance * p / ((1 + variance) * n)
