"""Nearest-neighbour classifiers asked at many points at once, by matrix products instead of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.resubstitution._neighbours import k_nearest

__all__ = ["voting_rule"]

MAX_ROWS = 1000  # with more training rows the model's own tree is as quick
MAX_NEIGHBOURS = 25


def voting_rule(model: Any) -> Callable[[Floats], Array] | None:
    """Return `predict` of a plain k-nearest-neighbour classifier as a quicker function, None for any other model.

    Plain means Euclidean distances, equal votes and no two equal training rows (whose ties the model breaks in its own way).
    """
    if type(model).__name__ != "KNeighborsClassifier" or not type(model).__module__.startswith("sklearn."):
        return None
    rows, codes, classes = (getattr(model, name, None) for name in ("_fit_X", "_y", "classes_"))
    k = getattr(model, "n_neighbors", None)
    if not isinstance(rows, np.ndarray) or not isinstance(codes, np.ndarray) or not isinstance(classes, np.ndarray):
        return None
    if model.weights != "uniform" or getattr(model, "effective_metric_", None) != "euclidean" or codes.ndim != 1:
        return None
    if not isinstance(k, (int, np.integer)) or not 1 <= k <= min(MAX_NEIGHBOURS, len(rows)) or len(rows) > MAX_ROWS:
        return None
    train = np.asarray(rows, dtype=float)
    if len(np.unique(train, axis=0)) < len(train):
        return None

    def predict(points: Floats) -> Array:
        votes = codes[k_nearest(points, train, int(k))]
        counts = np.stack([(votes == code).sum(axis=1) for code in range(len(classes))], axis=1)
        return np.asarray(classes[counts.argmax(axis=1)])

    return predict
