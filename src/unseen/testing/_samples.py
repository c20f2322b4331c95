"""Small samples and a model without dependencies, on which the contracts are tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.plan import Plan
from unseen.core.registry import build
from unseen.datasets.conversion import as_data
from unseen.engine.run import execute

__all__ = ["Centroids", "LineModel", "sample", "table_on", "transform"]


@cache
def sample(task: str = "classification", n: int = 60, *, grouped: bool = False, weighted: bool = False) -> Data:
    """Return n rows with an order in time; two classes of unequal size, or numbers.

    Examples
    --------
    >>> d = sample(grouped=True)
    >>> d.n, d.n_units, np.bincount(d.codes).tolist()
    (60, 30, [40, 20])
    """
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 3))
    label = (np.arange(n) % 3 == 0).astype(int)
    y: Array = label if task == "classification" else X @ [1.0, -0.5, 0.0] + rng.standard_normal(n)
    X[:, 0] += label * (task == "classification")
    return as_data(
        X,
        y,
        task="classification" if task == "classification" else "regression",
        groups=np.arange(n) // 2 if grouped else None,
        sample_weight=rng.uniform(0.2, 3.0, n) if weighted else None,
        time=np.arange(n),
    )


@dataclass(frozen=True, eq=False)
class _Nearest:
    means: Floats
    labels: Array
    native: Any = None

    def predict(self, X: Any) -> Array:
        result: Array = self.labels[np.argmin(self._gaps(X), axis=1)]
        return result

    def scores(self, X: Any) -> tuple[Floats, str]:
        weight = np.exp(-0.5 * self._gaps(X))
        return weight / weight.sum(axis=1, keepdims=True), "probability"

    def _gaps(self, X: Any) -> Floats:
        result: Floats = np.square(np.asarray(X)[:, None, :] - self.means[None]).sum(axis=2)
        return result


@dataclass(frozen=True)
class Centroids:
    """Nearest class mean, in `columns` first columns; weights are ignored."""

    columns: int = 3
    name: str = "Centroids()"

    def fit(self, data: Data, seed: int) -> Any:
        """Return the class means."""
        labels = np.unique(data.y)
        means = np.array([data.X[data.y == label].mean(axis=0) for label in labels])
        means[:, self.columns :] = 0.0
        return _Nearest(means, labels)


@dataclass(frozen=True, eq=False)
class _Straight:
    weights: Floats
    native: Any = None

    def predict(self, X: Any) -> Array:
        X = np.asarray(X)
        result: Array = self.weights[0] + X[:, : len(self.weights) - 1] @ self.weights[1:]
        return result

    def scores(self, X: Any) -> None:
        return None


@dataclass(frozen=True)
class LineModel:
    """Least squares on the first columns."""

    columns: int = 3
    name: str = "Line()"

    def fit(self, data: Data, seed: int) -> Any:
        """Return intercept and slopes."""
        Z = np.column_stack([np.ones(data.n), data.X[:, : self.columns]])
        return _Straight(np.linalg.lstsq(Z, data.y, rcond=None)[0])


def table_on(design: Any, data: Data, columns: int = 3, seed: int = 5) -> LossTable:
    """Return the losses of a small model on a design's splits, with training rows and the fit on all rows."""
    design = build(design, "designs") if isinstance(design, str) else design
    plan: Plan = design.plan(data, np.random.default_rng(seed))
    model: Any = Centroids(columns) if data.task == "classification" else LineModel(columns)
    return execute(model, data, plan, seed=seed, train=True, full=True, scores=data.task == "classification").losses()


def transform(table: LossTable, shift: float, scale: float) -> LossTable:
    """Return the table of shift + scale times each loss, with no end to its range."""
    parts: dict[str, Any] = {
        name: None if (part := getattr(table, name)) is None else replace(part, value=shift + scale * part.value)
        for name in ("test", "train", "full")
    }
    return replace(table, range=(-np.inf, np.inf), measure=None, **parts)
