"""Populations that can be drawn from again and again, with a true error that is known or simulated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import UnknownName
from unseen.datasets.conversion import as_data

__all__ = [
    "POPULATIONS",
    "ArLinear",
    "GaussianBlocks",
    "Population",
    "SparseLogistic",
    "population",
    "register_population",
]

POPULATIONS: dict[str, type[Any]] = {}


def register_population(cls: type[Any]) -> type[Any]:
    """Class decorator: make a population known under its `id`."""
    POPULATIONS[cls.id] = cls
    return cls


class Population(Protocol):
    """Something samples are drawn from, that knows the true error of a fitted model.

    `version` is a whole number, raised when the draws change. A population that knows the error of some models exactly
    has `exact_error(predict)` too, which returns None for the others.
    """

    id: str

    def draw(self, n: int, rng: np.random.Generator) -> Data:
        """Return a sample of n rows."""
        ...

    def true_error(self, predict: Any, rng: np.random.Generator, n_test: int = 5000) -> float:
        """Return the error of a prediction function on the population."""
        ...


def _zero_one_on_fresh(population: Any, predict: Any, rng: np.random.Generator, n_test: int) -> float:
    fresh = population.draw(n_test, rng)
    return float(np.mean(predict(fresh.X) != fresh.y))


@register_population
@dataclass(frozen=True)
class GaussianBlocks:
    """Two Gaussian classes of dissertation section 2.2.4.1: informative features in correlated pairs, and noise.

    Parameters
    ----------
    delta : float
        Class means are -delta and +delta in every informative feature.
    n_informative, n_noise : int
        Number of informative features (in pairs) and of noise features.
    rho : float
        Correlation within a pair.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.4.1.

    Examples
    --------
    >>> d = GaussianBlocks().draw(50, np.random.default_rng(0))
    >>> d.X.shape, round(GaussianBlocks().bayes_error(), 4)
    ((50, 10), 0.1916)
    """

    delta: float = 0.39
    n_informative: int = 6
    n_noise: int = 4
    rho: float = 0.2
    id: ClassVar[str] = "gaussian-blocks"
    version: ClassVar[int] = 1

    @cached_property
    def _mix(self) -> Floats:
        block = np.linalg.cholesky(np.array([[1.0, self.rho], [self.rho, 1.0]]))
        mix = np.eye(self.n_informative + self.n_noise)
        for k in range(0, self.n_informative, 2):
            mix[k : k + 2, k : k + 2] = block
        return mix

    def draw(self, n: int, rng: np.random.Generator) -> Data:
        """Return n rows with labels Bernoulli(1/2); both classes are present with two rows each at least."""
        while True:
            y = rng.integers(0, 2, n)
            if min(y.sum(), n - y.sum()) >= min(2, n // 2):
                break
        X = rng.standard_normal((n, self.n_informative + self.n_noise)) @ self._mix.T
        X[:, : self.n_informative] += (2 * y - 1)[:, None] * self.delta
        return as_data(X, y, task="classification")

    def bayes_error(self) -> float:
        """Return the smallest possible error, Phi(-sqrt(mean' S^-1 mean))."""
        from scipy.special import ndtr

        return float(ndtr(-self.delta * np.sqrt(self.n_informative / (1 + self.rho))))

    def true_error(self, predict: Any, rng: np.random.Generator, n_test: int = 5000) -> float:
        """Return the error rate on fresh points."""
        return _zero_one_on_fresh(self, predict, rng, n_test)


@register_population
@dataclass(frozen=True)
class ArLinear:
    """Linear regression on autoregressive inputs (Larsen & Hansen, 1995).

    Parameters
    ----------
    n_inputs : int
        Number of inputs and of weights, each weight N(0, 1).
    coefficient : float
        First-order autoregressive coefficient of the inputs, whose variance is 1.
    noise_variance : float
        Variance of the additive Gaussian noise.

    Examples
    --------
    >>> d = ArLinear().draw(20, np.random.default_rng(0))
    >>> d.X.shape, d.task
    ((20, 10), 'regression')
    """

    n_inputs: int = 10
    coefficient: float = 0.6518
    noise_variance: float = 32.45
    id: ClassVar[str] = "ar-linear"
    version: ClassVar[int] = 1

    @cached_property
    def covariance(self) -> Floats:
        """Covariance matrix H of the inputs."""
        lags = np.abs(np.subtract.outer(np.arange(self.n_inputs), np.arange(self.n_inputs)))
        return np.asarray(self.coefficient**lags)

    @cached_property
    def weights(self) -> Floats:
        """True weights, the same for every draw."""
        return np.random.default_rng(20).standard_normal(self.n_inputs)

    def draw(self, n: int, rng: np.random.Generator) -> Data:
        """Return n rows."""
        X = rng.standard_normal((n, self.n_inputs)) @ np.linalg.cholesky(self.covariance).T
        y = X @ self.weights + np.sqrt(self.noise_variance) * rng.standard_normal(n)
        return as_data(X, y, task="regression")

    def linear_error(self, weights: Floats) -> float:
        """Return the exact mean squared error of a linear rule with these weights and no intercept."""
        gap = weights - self.weights
        return float(self.noise_variance + gap @ self.covariance @ gap)

    def exact_error(self, predict: Any) -> float | None:
        """Return the exact mean squared error of a rule that is linear in the inputs, None for any other.

        Examples
        --------
        >>> p = ArLinear(n_inputs=3)
        >>> round(p.exact_error(lambda X: X @ p.weights + 2.0), 6), p.exact_error(lambda X: np.square(X).sum(axis=1))
        (36.45, None)
        """
        points = np.random.default_rng(0).standard_normal((8, self.n_inputs))
        origin = float(np.asarray(predict(np.zeros((1, self.n_inputs))))[0])
        slopes = np.asarray(predict(np.eye(self.n_inputs)), dtype=float) - origin
        wanted, given = points @ slopes + origin, np.asarray(predict(points), dtype=float)
        if not np.allclose(wanted, given, rtol=1e-8, atol=1e-8 * (1 + np.abs(given).max())):
            return None
        return self.linear_error(slopes) + origin**2

    def true_error(self, predict: Any, rng: np.random.Generator, n_test: int = 5000) -> float:
        """Return the mean squared error on fresh points."""
        fresh = self.draw(n_test, rng)
        return float(np.mean((predict(fresh.X) - fresh.y) ** 2))


@register_population
@dataclass(frozen=True)
class SparseLogistic:
    """Logistic labels on standard normal features, of which a few carry weight.

    Parameters
    ----------
    n_features, n_informative : int
        Number of features and of those with weight.
    weight : float
        Weight of each informative feature; at the default a tree errs on about .29 and logistic regression on about
        .18 of the points after 100 rows.

    Examples
    --------
    >>> SparseLogistic().draw(100, np.random.default_rng(0)).X.shape
    (100, 10)
    """

    n_features: int = 10
    n_informative: int = 3
    weight: float = 2.0
    id: ClassVar[str] = "sparse-logistic"
    version: ClassVar[int] = 1

    def draw(self, n: int, rng: np.random.Generator) -> Data:
        """Return n rows; both classes are present with two rows each at least."""
        while True:
            X = rng.standard_normal((n, self.n_features))
            chance = 1 / (1 + np.exp(-self.weight * X[:, : self.n_informative].sum(axis=1)))
            y = (rng.random(n) < chance).astype(np.int64)
            if min(y.sum(), n - y.sum()) >= min(2, n // 2):
                return as_data(X, y, task="classification")

    def true_error(self, predict: Any, rng: np.random.Generator, n_test: int = 5000) -> float:
        """Return the error rate on fresh points."""
        return _zero_one_on_fresh(self, predict, rng, n_test)


def population(name: str, **options: Any) -> Any:
    """Return a registered population by id, its parameters set from `options`."""
    if name not in POPULATIONS:
        raise UnknownName("population", name, POPULATIONS)
    return POPULATIONS[name](**options)
