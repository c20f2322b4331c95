"""Decision trees on parts of one sample: rows that a bootstrap repeats are counted, and what is known is not checked in every fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data

__all__ = ["is_tree", "learn_counted", "single_precision"]

LEARNERS = ("DecisionTreeClassifier", "DecisionTreeRegressor")


def is_tree(model: Any) -> bool:
    """Say whether a model is a decision tree of scikit-learn whose checks of its rows have nothing to find but gaps.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> is_tree(DecisionTreeClassifier()), is_tree(DecisionTreeClassifier(monotonic_cst=[1]))
    (True, False)
    """
    kind = type(model)
    known = kind.__name__ in LEARNERS and kind.__module__.startswith("sklearn.")
    return known and model.criterion != "poisson" and model.monotonic_cst is None


def learn_counted(tree: Any, data: Data, rows: Ints) -> bool:
    """Fit a tree on rows of a sample and return True; False if it is to be fitted in the ordinary way.

    Of classes, rows that occur several times are given once, with their number as weight. The tree is the same: all that it compares
    are sums of whole numbers, which have no rounding. What counts rows rather than weights (a smallest number of rows in a leaf or
    in a split, weights of classes) asks for the rows themselves.

    Parameters
    ----------
    tree : object
        Unfitted tree that `is_tree` knows.
    data : Data
        Sample.
    rows : ndarray of int
        Rows to learn, with repeats.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = Data(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]), "classification", np.array([0, 1]))
    >>> drawn = np.array([5, 5, 1, 1, 2, 3])
    >>> tree = DecisionTreeClassifier()
    >>> learn_counted(tree, data, drawn), tree.predict(data.X).tolist()
    (True, [0, 0, 1, 0, 0, 1])
    >>> DecisionTreeClassifier().fit(data.X[drawn], data.y[drawn]).predict(data.X).tolist()
    [0, 0, 1, 0, 0, 1]
    """
    if data.weights is not None or data.sample_shape or (data.classes is None) == (type(tree).__name__ == LEARNERS[0]):
        return False
    options: dict[str, Any] = {"check_input": False}
    if _weighs(tree):
        counts = np.bincount(rows, minlength=data.n)
        once = np.flatnonzero(counts)
        if len(once) < len(rows):
            rows, options["sample_weight"] = once, counts[once].astype(float)
    read = single_precision(data.X, rows)
    if read is None:
        return False
    try:
        tree.fit(read, data.y[rows], **options)
    except (TypeError, ValueError):  # the ordinary way knows what to do, or what to say
        return False
    return True


def _weighs(tree: Any) -> bool:
    """Say whether a row twice and a row of weight two are the same to a tree, to the last digit."""
    alone = type(tree.min_samples_leaf) is int and tree.min_samples_leaf == 1
    pair = type(tree.min_samples_split) is int and tree.min_samples_split == 2
    return type(tree).__name__ == LEARNERS[0] and alone and pair and tree.class_weight is None


def single_precision(X: Any, rows: Ints | None = None) -> Array | None:
    """Return rows in single precision, as trees read them, or None if they are not a table of numbers that it can hold.

    Examples
    --------
    >>> single_precision(np.array([[1.0], [2.0]]), np.array([1])).dtype.name, single_precision(np.array([[np.nan]]))
    ('float32', None)
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiu":
        return None
    with np.errstate(over="ignore"):
        read = np.ascontiguousarray(X if rows is None else X[rows], dtype=np.float32)
    return read if np.isfinite(read).all() else None
