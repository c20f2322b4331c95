"""`unseen.variance_components`: what the variance of k-fold cross-validation is made of (Bengio & Grandvalet, 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, KindError
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.populations import population as population_of
from unseen.designs.kfold import KFold
from unseen.engine.run import execute
from unseen.request.prepare import model_of, plan_of

__all__ = ["VarianceComponents", "components", "variance_components"]


@dataclass(frozen=True, kw_only=True)
class VarianceComponents(Result):
    """Variance of a k-fold error, theta = sigma^2 / n + (m - 1) / n omega + (n - m) / n gamma, m = n / k.

    Parameters
    ----------
    sigma2, omega, gamma : float
        Variance of a test loss; covariance of losses in one fold; covariance of losses in different folds.
    theta : float
        Variance of the k-fold error over data sets.
    naive : float
        Mean of the usual estimate, the variance of the losses over n, which ignores omega and gamma.
    mc_errors : tuple of float
        Monte-Carlo errors of sigma2, omega, gamma and theta.
    n, k, sets : int
        Sample size, folds, simulated data sets.
    """

    sigma2: float
    omega: float
    gamma: float
    theta: float
    naive: float
    mc_errors: tuple[float, ...]
    n: int
    k: int
    sets: int

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per component."""
        names = ("sigma2", "omega", "gamma", "theta")
        return [{"component": a, "value": getattr(self, a), "mc_error": e} for a, e in zip(names, self.mc_errors)]

    def __str__(self) -> str:
        parts = ", ".join(f"{row['component']} {row['value']:.4g} (mc {row['mc_error']:.2g})" for row in self.rows())
        ratio = self.theta / self.naive if self.naive > 0 else float("nan")
        return f"{self.k}-fold error of n = {self.n}, {self.sets} data sets: {parts}; theta is {ratio:.2f} times the naive estimate"


def components(losses: Floats, k: int) -> tuple[Floats, Floats]:
    """Return sigma^2, omega, gamma, theta and their Monte-Carlo errors from losses of shape (data sets, folds, fold size).

    The grand mean is known only up to its error, which takes theta / R off each of the four; it is given back.

    Examples
    --------
    >>> values, _ = components(np.random.default_rng(0).standard_normal((4000, 5, 4)), 5)
    >>> [abs(round(float(v), 1)) for v in values[:3]]
    [1.0, 0.0, 0.0]
    """
    sets, _, m = losses.shape
    n = k * m
    gap = losses - losses.mean()
    squares = np.square(gap).sum(axis=(1, 2))
    blocks = np.square(gap.sum(axis=2)).sum(axis=1)
    total = np.square(gap.sum(axis=(1, 2)))
    within = (blocks - squares) / max(n * (m - 1), 1)
    between = (total - blocks) / (n * (n - m))
    each = np.stack([squares / n, within, between, total / n**2])
    values = each.mean(axis=1)
    return values + values[3] / (sets - 1), each.std(axis=1, ddof=1) / np.sqrt(sets)


def variance_components(
    model: Any,
    population: Any,
    n: int,
    *,
    k: int = 10,
    sets: int = 1000,
    loss: str = "auto",
    random_state: RandomState = 0,
) -> VarianceComponents:
    """Simulate the components of the variance of k-fold cross-validation for a population.

    They cannot be had from one data set: no unbiased estimate of the variance exists there (Bengio & Grandvalet, 2004).

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        What is cross-validated.
    population : str or object with draw(n, rng)
        Where data sets come from.
    n, k : int
        Sample size, a multiple of the folds, and folds.
    sets : int
        Simulated data sets.
    loss : str
        Id of a loss of single examples.
    random_state : int, Generator or None
        Same seed, same numbers.

    Returns
    -------
    VarianceComponents

    References
    ----------
    Bengio, Y. and Grandvalet, Y. (2004). No unbiased estimator of the variance of K-fold cross-validation. JMLR 5,
    1089-1105.

    Examples
    --------
    >>> import unseen
    >>> v = unseen.variance_components("lda", "gaussian-blocks", 40, k=4, sets=30)
    >>> total = (v.sigma2 + 9 * v.omega + 30 * v.gamma) / 40
    >>> bool(np.isclose(total, v.theta))
    True
    """
    source = population_of(population) if isinstance(population, str) else population
    if not callable(getattr(source, "draw", None)):
        raise KindError(
            f"the population is a {type(source).__name__}, from which nothing can be drawn; one data set does not show these "
            "components. Give the name of a population, or an object with draw(n, rng)."
        )
    if k < 2 or n % k or n // k < 2:
        raise InputError(f"n is {n} and k is {k}; n must be a multiple of k, with at least 2 rows in each fold.")
    if sets < 2:
        raise InputError(f"sets is {sets}; a variance needs at least 2 data sets.")
    seed = root_seed(random_state)
    losses = np.empty((sets, k, n // k))
    for r in range(sets):
        data = source.draw(n, stream(seed, "set", r))
        table = execute(model_of(model, data), data, plan_of(KFold(k), data, seed + r), seed=seed + r)
        made = table.losses(loss)
        if made.by_split or len(made.completed) < k:
            raise InputError("a loss of single examples and a model that can be fitted on every fold are needed.")
        losses[r] = made.test.sort_by_split().value.reshape(k, n // k)
    values, errors = components(losses, k)
    naive = float(np.mean(losses.reshape(sets, -1).var(axis=1, ddof=1) / n))
    sigma2, omega, gamma, theta = map(float, values)
    return VarianceComponents(
        sigma2=sigma2,
        omega=omega,
        gamma=gamma,
        theta=theta,
        naive=naive,
        mc_errors=tuple(map(float, errors)),
        n=n,
        k=k,
        sets=sets,
    )
