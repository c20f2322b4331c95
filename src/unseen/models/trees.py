"""Decision trees on parts of one sample: rows that a bootstrap repeats are counted, and what is known is not checked in every fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.models.sklearn import FittedEstimator

__all__ = ["FittedTree", "fit_tree"]

LEARNERS = ("DecisionTreeClassifier", "DecisionTreeRegressor")


@dataclass(frozen=True, eq=False)
class FittedTree(FittedEstimator):
    """A tree that is given its rows in single precision, as it reads them, without further checks.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> FittedTree(DecisionTreeClassifier().fit(X, y), np.unique(y)).predict(X).tolist()
    [0, 0, 1, 1]
    """

    def predict(self, X: Any) -> Array:
        """Return one label or number per row."""
        read = _single(X)
        return super().predict(X) if read is None else np.asarray(self.native.predict(read, check_input=False))

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return probabilities in the order of the data's classes, or None for a regression."""
        read = _single(X)
        if read is None or self.classes is None:
            return super().scores(X)
        return self._align(np.asarray(self.native.predict_proba(read, check_input=False), dtype=float)), "probability"


def fit_tree(model: Any, data: Data, rows: Ints, seed: int) -> FittedTree | None:
    """Fit a decision tree of scikit-learn on rows of a sample; None if it is to be fitted in the ordinary way.

    Of classes, rows that occur several times are given once, with their number as weight. The tree is the same: all that it compares
    are sums of whole numbers, which have no rounding. What counts rows rather than weights (a smallest number of rows in a leaf or
    in a split, weights of classes) asks for the rows themselves.

    Parameters
    ----------
    model : SklearnModel
        Model of any estimator; only decision trees are fitted here.
    data : Data
        Sample.
    rows : ndarray of int
        Rows to learn, with repeats.
    seed : int
        Seed of the fit.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from unseen.models.sklearn import as_model
    >>> data = Data(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]), "classification", np.array([0, 1]))
    >>> drawn = np.array([5, 5, 1, 1, 2, 3])
    >>> fit_tree(as_model(DecisionTreeClassifier()), data, drawn, 0).predict(data.X).tolist()
    [0, 0, 1, 0, 0, 1]
    >>> DecisionTreeClassifier().fit(data.X[drawn], data.y[drawn]).predict(data.X).tolist()
    [0, 0, 1, 0, 0, 1]
    """
    tree = model.estimator
    kind = type(tree)
    if kind.__name__ not in LEARNERS or not kind.__module__.startswith("sklearn.") or not _plain(tree):
        return None
    if data.weights is not None or data.sample_shape or (data.classes is None) == (kind.__name__ == LEARNERS[0]):
        return None
    options: dict[str, Any] = {"check_input": False}
    if _weighs(tree):
        counts = np.bincount(rows, minlength=data.n)
        once = np.flatnonzero(counts)
        if len(once) < len(rows):
            rows, options["sample_weight"] = once, counts[once].astype(float)
    read = _single(data.X, rows)
    if read is None:
        return None
    try:
        return FittedTree(model.fresh(seed).fit(read, data.y[rows], **options), data.classes)
    except (TypeError, ValueError):  # the ordinary way knows what to do, or what to say
        return None


def _plain(tree: Any) -> bool:
    """Say whether the checks that are left out have nothing to find."""
    return tree.criterion != "poisson" and tree.monotonic_cst is None


def _weighs(tree: Any) -> bool:
    """Say whether a row twice and a row of weight two are the same to a tree, to the last digit."""
    alone = type(tree.min_samples_leaf) is int and tree.min_samples_leaf == 1
    pair = type(tree.min_samples_split) is int and tree.min_samples_split == 2
    return type(tree).__name__ == LEARNERS[0] and alone and pair and tree.class_weight is None


def _single(X: Any, rows: Ints | None = None) -> Array | None:
    """Return rows in single precision, or None if they are not a table of numbers that it can hold."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiu":
        return None
    with np.errstate(over="ignore"):
        read = np.ascontiguousarray(X if rows is None else X[rows], dtype=np.float32)
    return read if np.isfinite(read).all() else None
