"""Decision rules read off fitted classifiers: linear scores, checked against `predict`, and nearest-neighbour votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.resubstitution._neighbours import k_nearest

__all__ = ["Linear", "affine_map", "kernel_rule", "linear_form", "voting_rule"]


MAX_PROBED = 2000  # columns; probing an affine map needs one row per column
CHECKED = 64  # rows at which a linear form must agree with the model
MAX_ROWS = 1000  # with more training rows the model's own tree is as quick
NEAR = 1e-9  # of the largest possible score of a kernel machine; rounding is a thousand times smaller
MAX_NEIGHBOURS = 25  # a rule of more neighbours is left to the model


@dataclass(frozen=True, eq=False)
class Linear:
    """One score per class, the largest wins; with one score, positive means the second class.

    Examples
    --------
    >>> Linear(np.array([[1.0]]), np.array([-2.0])).assign(np.array([[1.0], [3.0]])).tolist()
    [0, 1]
    """

    weights: Floats
    offsets: Floats

    def assign(self, points: Floats) -> Ints:
        """Return the class code at each point."""
        scores = points @ self.weights.T + self.offsets
        return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def after(self, matrix: Floats, shift: Floats) -> Linear:
        """Return the rule as a function of x where this one takes x @ matrix + shift."""
        return Linear(self.weights @ matrix.T, self.offsets + self.weights @ shift)


def linear_form(model: Any, classes: Array) -> Linear | None:
    """Return the linear rule a fitted classifier states by `coef_`, `intercept_` and `classes_`, if it does.

    Anything with these three attributes counts: support vector machines, logistic regression, discriminant analysis,
    perceptrons, ridge classifiers. The caller checks the rule against `predict`.
    """
    own = getattr(model, "classes_", None)
    try:
        coef, offsets = getattr(model, "coef_", None), getattr(model, "intercept_", 0.0)
    except (AttributeError, ValueError):
        return None
    if coef is None or own is None or not np.array_equal(np.asarray(own), classes):
        return None
    if hasattr(model, "dual_coef_") and len(classes) > 2:
        return None  # one-against-one votes of a support vector machine are not a largest score
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float)
    weights = np.atleast_2d(coef)
    rows = 1 if len(classes) == 2 else len(classes)
    if weights.shape[0] != rows or not np.all(np.isfinite(weights)):
        return None
    return Linear(weights, np.broadcast_to(np.asarray(offsets, dtype=float).reshape(-1), (rows,)).copy())


def is_linear_by_code(model: Any) -> bool:
    """Return whether `predict` is scikit-learn's own largest linear score, which needs no check."""
    if not type(model).__module__.startswith("sklearn."):
        return False
    try:
        from sklearn.linear_model._base import LinearClassifierMixin as Mixin
    except ImportError:  # another release may keep it elsewhere; the check against predict serves then
        return False
    cls = type(model)
    return (
        getattr(cls, "predict", None) is Mixin.predict
        and getattr(cls, "decision_function", None) is Mixin.decision_function
    )


def agrees(form: Linear, points: Floats, assign: Callable[[Floats], Ints]) -> bool:
    """Return whether a linear rule decides as the model does, at the points and three times as far out."""
    some = points if len(points) <= CHECKED else points[:: -(-len(points) // CHECKED)]
    centre = points.mean(axis=0)
    asked = np.vstack([some, centre + 3 * (some - centre)])
    scores = asked @ form.weights.T + form.offsets
    if scores.shape[1] == 1:
        lead, best = np.abs(scores[:, 0]), (scores[:, 0] > 0).astype(np.int64)
    else:
        ordered = np.sort(scores, axis=1)
        lead, best = ordered[:, -1] - ordered[:, -2], scores.argmax(axis=1)
    clear = lead > 1e-9 * (1 + np.abs(scores).max())  # on the boundary either answer will do
    return bool(np.array_equal(best[clear], assign(asked)[clear]))


def affine_map(transform: Callable[[Floats], Floats], points: Floats) -> tuple[Floats, Floats] | None:
    """Return (matrix, shift) with transform(x) = x @ matrix + shift, or None if the transformation is not affine.

    The map is read off at the centre of the points and one step along each axis, then checked at the points and
    three times as far out.

    Examples
    --------
    >>> matrix, shift = affine_map(lambda x: 2 * x + 1, np.array([[0.0], [1.0]]))
    >>> matrix.round(9).tolist(), shift.round(9).tolist()
    ([[2.0]], [1.0])
    >>> affine_map(np.abs, np.array([[-1.0], [0.5], [1.0]])) is None
    True
    """
    d = points.shape[1]
    if d > MAX_PROBED:
        return None
    centre, step = points.mean(axis=0), points.std(axis=0)
    step = np.where(step > 0, step, 1.0)
    some = points if len(points) <= CHECKED else points[:: -(-len(points) // CHECKED)]
    asked = np.vstack([centre, centre + np.diag(step), some, centre + 3 * (some - centre)])
    values = transform(asked)
    matrix = (values[1 : d + 1] - values[0]) / step[:, None]
    shift = values[0] - centre @ matrix
    expected = asked @ matrix + shift
    size = 1 + np.abs(values).max()
    return (matrix, shift) if np.allclose(values, expected, rtol=0, atol=1e-8 * size) else None


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


def kernel_rule(model: Any) -> Callable[[Floats], Array] | None:
    """Return `predict` of a two-class Gaussian support vector machine as a quicker function, None for any other model.

    The scores are those of libsvm to rounding, by one matrix product instead of a loop over support vectors; where a score is so
    near 0 that rounding may decide, the model itself is asked. Steps of a pipeline before the machine transform as they do.
    """
    *steps, last = [step for _, step in model.steps] if type(model).__name__ == "Pipeline" else [model]
    plain = type(last).__name__ == "SVC" and type(last).__module__.startswith("sklearn.") and last.kernel == "rbf"
    vectors, gamma = getattr(last, "support_vectors_", None), getattr(last, "_gamma", None)
    if not plain or gamma is None or not isinstance(vectors, np.ndarray) or len(last.classes_) != 2:
        return None
    if any(step is not None and not hasattr(step, "transform") for step in steps):
        return None
    weights, offset, classes = np.asarray(last.dual_coef_)[0], float(last.intercept_[0]), np.asarray(last.classes_)
    lengths, size = (vectors**2).sum(axis=1), float(np.abs(weights).sum()) + abs(offset)

    def predict(points: Floats) -> Array:
        given: Any = points
        for step in steps:
            given = given if step is None else step.transform(given)
        at = np.asarray(given, dtype=float)
        distances = at @ (-2.0 * vectors.T)
        distances += (at**2).sum(axis=1)[:, None]
        distances += lengths
        distances *= -gamma
        scores = np.exp(distances, out=distances) @ weights + offset
        out = classes[(scores > 0).astype(np.int64)]
        unsure = np.abs(scores) < NEAR * size
        if unsure.any():
            out[unsure] = model.predict(points[unsure])
        return np.asarray(out)

    return predict
