"""Objects with fit and predict as models: cloned before every fit, never changed."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import KindError
from unseen.core.model import Fitted, Model

__all__ = ["FittedEstimator", "SklearnModel", "as_fitted", "as_model"]


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted object with `predict`, and `predict_proba` or `decision_function` where it has them."""

    native: Any
    classes: Array | None = None

    def predict(self, X: Any) -> Array:
        """Return one label or number per row."""
        return np.asarray(self.native.predict(X))

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return scores in the order of the data's classes, or None where the object has none."""
        if hasattr(self.native, "predict_proba"):
            return self._aligned(np.asarray(self.native.predict_proba(X), dtype=float)), "probability"
        if hasattr(self.native, "decision_function"):
            values = np.asarray(self.native.decision_function(X), dtype=float)
            return (values[:, None] if values.ndim == 1 else self._aligned(values)), "decision"
        return None

    def _aligned(self, values: Floats) -> Floats:
        own = getattr(self.native, "classes_", None)
        if self.classes is None or own is None or np.array_equal(own, self.classes):
            return values
        out = np.zeros((len(values), len(self.classes)))
        out[:, np.searchsorted(self.classes, own)] = values
        return out


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """An estimator as a model.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> as_model(DecisionTreeClassifier(max_depth=2)).name
    'DecisionTreeClassifier(max_depth=2)'
    """

    estimator: Any
    name: str

    def fit(self, data: Data, seed: int) -> FittedEstimator:
        """Return a fitted clone; unset `random_state` parameters are set from `seed`."""
        fresh = _clone(self.estimator)
        _set_seeds(fresh, seed)
        options = {}
        if data.weights is not None and _accepts_weights(fresh):
            options = _weight_options(fresh, data.weights)
        fresh.fit(data.X, data.y, **options)
        return FittedEstimator(fresh, data.classes)

    @property
    def fit_many(self) -> Any:
        """Return the estimator's own `fit_many` hook, if it has one."""
        return getattr(self.estimator, "fit_many", None)


def _clone(estimator: Any) -> Any:
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def _set_seeds(estimator: Any, seed: int) -> None:
    if not hasattr(estimator, "get_params"):
        return
    unset = [
        name
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    if unset:
        estimator.set_params(**{name: (seed + k) % (2**31 - 1) for k, name in enumerate(sorted(unset))})


def _last_step(estimator: Any) -> tuple[str | None, Any]:
    if hasattr(estimator, "steps"):
        return estimator.steps[-1]
    return None, estimator


def _accepts_weights(estimator: Any) -> bool:
    final = _last_step(estimator)[1]
    return hasattr(final, "fit") and "sample_weight" in inspect.signature(final.fit).parameters


def _weight_options(estimator: Any, weights: Floats) -> dict[str, Any]:
    step = _last_step(estimator)[0]
    return {"sample_weight" if step is None else f"{step}__sample_weight": weights}


def as_model(model: Any) -> Model:
    """Return what the engine can train, or say why the object will not do."""
    if isinstance(model, SklearnModel):
        return model
    if isinstance(model, type):
        raise KindError(f"the model is the class {model.__name__}; give an object of it: {model.__name__}().")
    missing = [name for name in ("fit", "predict") if not callable(getattr(model, name, None))]
    if missing:
        raise KindError(
            f"the model is a {type(model).__name__} without {' and '.join(missing)}; give an object with fit and predict, or a model's name."
        )
    return SklearnModel(model, " ".join(repr(model).split()))


def as_fitted(model: Any, classes: Array | None = None) -> Fitted:
    """Return a model that was trained elsewhere as it is, never refitted; a plain function counts as its `predict`."""
    if isinstance(model, FittedEstimator):
        return model
    if callable(getattr(model, "predict", None)):
        return FittedEstimator(model, classes)
    if callable(model) and not isinstance(model, type):
        return FittedEstimator(_Function(model), classes)
    raise KindError(
        f"the fitted model is a {type(model).__name__} without predict; give a fitted estimator or a function of X."
    )


@dataclass(frozen=True)
class _Function:
    predict: Any
