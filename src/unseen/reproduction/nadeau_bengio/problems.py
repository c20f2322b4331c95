"""Two problems on which the size of the tests is known: regressions on disjoint inputs, and Letter Recognition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.rng import stream
from unseen.reproduction.nadeau_bengio.statistics import LossesOf

__all__ = ["Letter", "Regressions"]


@dataclass(frozen=True, kw_only=True)
class Regressions:
    """Least squares on the first half of the inputs against least squares on the second half.

    Both halves carry the same variance, so that the two algorithms have equal errors by symmetry. With the squared loss
    and Gaussian inputs the expected error after n1 rows is s^2 (1 + 1/n1) (n1 - 2)/(n1 - p - 2), where s^2 is what p inputs
    leave unexplained. With the zero-one loss the sign of the target is predicted by the sign of the fit.
    """

    n: int = 300
    n_inputs: int = 10
    signal: float = 0.3
    noise: float = 1.0
    loss: str = "squared"
    name: str = "synthetic"

    def expectation(self, n_train: int) -> Floats:
        """Return the expected squared error of the first algorithm and the expected difference, which is 0."""
        left = self.noise + self.n_inputs * self.signal**2
        error = left * (1 + 1 / n_train) * (n_train - 2) / (n_train - self.n_inputs - 2)
        return np.array([error, 0.0])

    def losses(self, rng: np.random.Generator) -> LossesOf:
        """Draw a data set and return the function that gives losses of fits on it."""
        p = self.n_inputs
        X = rng.standard_normal((self.n, 2 * p))
        y = self.signal * X.sum(axis=1) + np.sqrt(self.noise) * rng.standard_normal(self.n)
        target = y if self.loss == "squared" else np.sign(y)
        designs = [np.c_[np.ones(self.n), X[:, k * p : (k + 1) * p]] for k in (0, 1)]

        def of(train: Ints, test: Ints) -> Floats:
            out = []
            for Z in designs:
                rows = Z[train]
                turned = rows.transpose(0, 2, 1)
                weights = np.linalg.solve(turned @ rows, turned @ target[train][..., None])
                fit = (Z[test] @ weights)[..., 0]
                out.append(np.square(target[test] - fit) if self.loss == "squared" else np.sign(fit) != target[test])
            return np.stack(out).astype(float)

        return of


@dataclass(frozen=True)
class Letter:
    """A classification tree against one nearest neighbour with a distorted metric, on 300 of 20,000 letters.

    The metric scales each feature by exp(distortion z_k) with fixed normal z_k; `tune` finds the distortion at which
    both algorithms have the same error after n/2 rows.
    """

    path: str
    n: int = 300
    distortion: float = 0.0
    name: str = "letter"

    @cached_property
    def table(self) -> tuple[Floats, Ints]:
        """Features and labels of all letters."""
        import pandas as pd

        frame = pd.read_csv(Path(self.path))
        if frame.shape[1] != 17:
            raise InputError(
                f"{self.path!r} has {frame.shape[1]} columns; Letter Recognition has 16 features and a target."
            )
        codes = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1].astype(np.int64)
        return frame.iloc[:, :-1].to_numpy(dtype=np.float32), codes

    @property
    def scale(self) -> Floats:
        """Factor of each feature in the distorted metric."""
        z = stream(1, "letter-metric").standard_normal(self.table[0].shape[1])
        result: Floats = np.exp(self.distortion * z)
        return result

    def sample(self, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Draw n letters without replacement."""
        X, y = self.table
        rows = rng.choice(len(y), self.n, replace=False)
        return X[rows], y[rows]

    def losses(self, rng: np.random.Generator) -> LossesOf:
        """Draw a data set and return the function that gives losses of fits on it."""
        X, y = self.sample(rng)
        near = _nearest_of(X, y, self.scale)
        seed = int(rng.integers(2**31 - 1))

        def of(train: Ints, test: Ints) -> Floats:
            return np.stack([_tree_losses(X, y, train, test, seed), near(train, test)])

        return of

    def tune(self, seed: int, sets: int = 120) -> Letter:
        """Return the problem with the distortion at which both errors agree on calibration data sets."""
        rng = stream(seed, "letter-calibration")
        samples = [self.sample(rng) for _ in range(sets)]
        orders = [rng.permuted(np.tile(np.arange(self.n), (3, 1)), axis=1) for _ in samples]
        half = self.n // 2
        goal = np.mean([_tree_losses(X, y, o[:, :half], o[:, half:], 0).mean() for (X, y), o in zip(samples, orders)])
        low, high = 0.0, 4.0
        for _ in range(12):
            middle = (low + high) / 2
            scale = Letter(self.path, self.n, middle).scale
            error = np.mean(
                [_nearest_of(X, y, scale)(o[:, :half], o[:, half:]).mean() for (X, y), o in zip(samples, orders)]
            )
            low, high = (middle, high) if error < goal else (low, middle)
        return Letter(self.path, self.n, (low + high) / 2)


def _nearest_of(X: Floats, y: Ints, scale: Floats) -> Any:
    from scipy.spatial.distance import cdist

    scaled = X.astype(float) * scale
    distance = cdist(scaled, scaled, "sqeuclidean")

    def of(train: Ints, test: Ints) -> Floats:
        out = np.empty(test.shape)
        for j, (fit, held) in enumerate(zip(train, test)):
            out[j] = y[fit[np.argmin(distance[np.ix_(held, fit)], axis=1)]] != y[held]
        return out

    return of


def _tree_losses(X: Floats, y: Ints, train: Ints, test: Ints, seed: int) -> Floats:
    from sklearn.tree import DecisionTreeClassifier

    out = np.empty(test.shape)
    for j, (fit, held) in enumerate(zip(train, test)):
        tree = DecisionTreeClassifier(min_samples_split=10, min_samples_leaf=5, random_state=seed)
        tree.fit(X[fit], y[fit], check_input=False)
        out[j] = tree.predict(X[held], check_input=False) != y[held]
    return out
