"""Objects with fit and predict as models: cloned before every fit, never changed."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, KindError
from unseen.core.model import Fitted, Model
from unseen.models.naming import short_name
from unseen.models.parameters import all_parameters, is_plain_estimator
from unseen.models.pipelines import piped_hook
from unseen.models.shapes import in_shape, reads_shapes
from unseen.models.trees import is_tree, learn_counted, single_precision
from unseen.models.weights import copies_key, weight_key

__all__ = ["FittedEstimator", "FittedTree", "NumberedLabels", "SklearnModel", "as_fitted", "as_model"]

_NO_PREDICTOR = {
    "clusterer": "finds clusters and does not learn the target",
    "outlier_detector": "finds outliers and does not learn the target",
    "density_estimator": "estimates a density and does not learn the target",
}


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted object with `predict`, and `predict_proba` or `decision_function` if it has them.

    Parameters
    ----------
    native : object
        The fitted object.
    classes : ndarray or None
        Classes of the data, in the order that scores have; None leaves scores as the object gives them.
    sample_shape : tuple of int
        Shape of one example if the object does not take rows of numbers.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> fitted = FittedEstimator(GaussianNB().fit(X, y), np.unique(y))
    >>> fitted.predict(X).tolist(), fitted.scores(X)[1]
    ([0, 0, 1, 1], 'probability')
    """

    native: Any
    classes: Array | None = None
    sample_shape: tuple[int, ...] = ()

    def predict(self, X: Any) -> Array:
        """Return one label or number per row."""
        values = np.asarray(self.native.predict(in_shape(X, self.sample_shape)))
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return scores in the order of the data's classes, or None if the object has none."""
        X = in_shape(X, self.sample_shape)
        if hasattr(self.native, "predict_proba"):
            return self._align(np.asarray(self.native.predict_proba(X), dtype=float)), "probability"
        if hasattr(self.native, "decision_function"):
            values = np.asarray(self.native.decision_function(X), dtype=float)
            if values.ndim == 1 and self.classes is not None and len(self.classes) > 2:
                values = np.column_stack([-values, values])  # a part that has two of more classes
            return (values[:, None] if values.ndim == 1 else self._align(values)), "decision"
        return None

    def predict_with_scores(self, X: Any) -> tuple[Array, tuple[Floats, str] | None]:
        """Return what `predict` and `scores` return; the steps of a pipeline transform the rows once for both.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
        >>> values, (scores, kind) = FittedEstimator(GaussianNB().fit(X, y), np.unique(y)).predict_with_scores(X)
        >>> values.tolist(), scores.shape, kind
        ([0, 0, 1, 1], (4, 2), 'probability')
        """
        native = self.native
        plain = type(native).__name__ == "Pipeline" and type(native).__module__.startswith("sklearn.")
        if not plain or len(native.steps) < 2 or native.steps[-1][1] in (None, "passthrough") or _routes():
            return self.predict(X), self.scores(X)
        last = FittedEstimator(native.steps[-1][1], self.classes)
        seen = native[:-1].transform(in_shape(X, self.sample_shape))
        return last.predict(seen), last.scores(seen)

    def _align(self, values: Floats) -> Floats:
        own = getattr(self.native, "classes_", None)
        if self.classes is None or own is None or np.array_equal(own, self.classes):
            return values
        out = np.zeros((len(values), len(self.classes)))
        out[:, np.searchsorted(self.classes, own)] = values
        return out


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
        read = single_precision(X)
        return super().predict(X) if read is None else np.asarray(self.native.predict(read, check_input=False))

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return probabilities in the order of the data's classes, or None for a regression."""
        read = single_precision(X)
        if read is None or self.classes is None:
            return super().scores(X)
        return self._align(np.asarray(self.native.predict_proba(read, check_input=False), dtype=float)), "probability"


def _routes() -> bool:
    """Say whether scikit-learn hands metadata through pipelines, which only a pipeline's own `predict` does."""
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


class NumberedLabels:
    """An estimator that was fitted on the numbers 0, 1, ... of the labels, as XGBoost wants them; it predicts the labels.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> NumberedLabels(GaussianNB().fit(X, [0, 0, 1, 1]), np.array(["no", "yes"])).predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(self, fitted: Any, classes: Array) -> None:
        self.fitted, self.classes_ = fitted, classes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "fitted":
            raise AttributeError(name)
        return getattr(self.fitted, name)

    def predict(self, X: Any) -> Array:
        """Return the labels."""
        codes = np.asarray(self.fitted.predict(X))
        result: Array = self.classes_[codes.reshape(len(codes), -1)[:, 0].astype(np.int64)]
        return result


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """An estimator as a model.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> as_model(DecisionTreeClassifier(max_depth=2)).name
    'decision tree (max_depth=2)'
    """

    estimator: Any
    name: str

    def fit(self, data: Data, seed: int) -> FittedEstimator:
        """Return a fitted clone; unset `random_state` parameters are set from `seed`.

        Row weights go to `fit` if the estimator takes `sample_weight`: in a pipeline to its last step, in a
        meta-estimator to what it wraps, and as requested if scikit-learn's metadata routing is switched on. Where rows
        have groups, or were drawn with repeats, an estimator whose `fit` takes `copies` gets which belong together.
        """
        fresh = self.fresh(seed)
        options: dict[str, Any] = {}
        if data.weights is not None and self.weight_key is not None:
            options[self.weight_key] = data.weights
        if self.copies_key is not None and data.together is not None:
            options[self.copies_key] = data.together
        shape = data.sample_shape if data.sample_shape and reads_shapes(fresh) else ()
        X = in_shape(data.X, shape)
        if data.classes is None or np.array_equal(data.classes, np.arange(len(data.classes))):
            fitted = fresh.fit(X, data.y, **options)
        else:
            try:
                fitted = fresh.fit(X, data.y, **options)
            except (TypeError, ValueError) as error:
                fitted = fresh = self._fit_codes(X, data, seed, options, error)
        return FittedEstimator(fresh if not hasattr(fitted, "predict") else fitted, data.classes, shape)

    def fit_part(self, data: Data, rows: Ints, seed: int) -> FittedEstimator | None:
        """Return what `fit(data.take(rows), seed)` returns, in less time; None if there is no quicker way."""
        if not is_tree(self.estimator):
            return None
        fresh = self.fresh(seed)
        return FittedTree(fresh, data.classes) if learn_counted(fresh, data, rows) else None

    def _fit_codes(self, X: Any, data: Data, seed: int, options: dict[str, Any], reason: Exception) -> NumberedLabels:
        """Return the estimator fitted on the labels 0, 1, ..., as some want them; if that fails too, raise the first reason."""
        fresh = self.fresh(seed)
        try:
            fitted = fresh.fit(X, data.codes, **options)
        except Exception:
            raise reason from None
        return NumberedLabels(fresh if not hasattr(fitted, "predict") else fitted, np.asarray(data.classes))

    def fresh(self, seed: int) -> Any:
        """Return an unfitted clone whose unset `random_state` parameters are set from `seed`."""
        made = _clone(self.estimator)
        _set_seeds(made, self.unset_seeds, seed)
        return made

    @cached_property
    def unset_seeds(self) -> tuple[str, ...]:
        """Names of the `random_state` parameters that a fit sets."""
        return _unset_seeds(self.estimator)

    @cached_property
    def weight_key(self) -> str | None:
        """Name under which `fit` takes row weights; None if it takes none."""
        return weight_key(self.estimator)

    @cached_property
    def copies_key(self) -> str | None:
        """Name under which `fit` takes which rows belong together; None if it takes none."""
        return copies_key(self.estimator)

    @property
    def fit_many(self) -> Any:
        """Return the hook that fits all splits at once: the estimator's own, or that of a pipeline's last step."""
        own = getattr(self.estimator, "fit_many", None)
        return own if callable(own) else piped_hook(self.estimator, self.fresh)


def _clone(estimator: Any) -> Any:
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def _unset_seeds(estimator: Any) -> tuple[str, ...]:
    """Return the names of all `random_state` parameters that are None, however deep."""
    if not hasattr(estimator, "get_params"):
        return ()
    params = all_parameters(estimator)
    return tuple(sorted(n for n, value in params.items() if value is None and n.split("__")[-1] == "random_state"))


def _set_seeds(estimator: Any, names: tuple[str, ...], seed: int) -> None:
    """Set each named seed on the object that owns it; `set_params` would list all parameters again in every fit."""
    for k, name in enumerate(names):
        value = (seed + k) % (2**31 - 1)
        owner = estimator
        for part in name.split("__")[:-1]:
            owner = dict(getattr(owner, "steps", ())).get(part, getattr(owner, part, None))
        if getattr(owner, "random_state", value) is None:
            owner.random_state = value
        else:
            estimator.set_params(**{name: value})


def as_model(model: Any, data: Data | None = None, name: str = "") -> Model:
    """Return what the engine can train, or say why the object will not do.

    Parameters
    ----------
    model : object
        Anything with `fit(X, y)` and `predict(X)`. Objects with `get_params` are cloned as scikit-learn does it, so
        that an earlier fit is forgotten; others are copied deeply, and must not have been fitted.
    data : Data, optional
        Sample it is to learn; a regressor is refused for classes, and a classifier for numbers.
    name : str
        What to call it; by default a short name such as "logistic regression (pipeline of 3 steps)".

    Examples
    --------
    >>> class Majority:
    ...     def fit(self, X, y):
    ...         values, counts = np.unique(y, return_counts=True)
    ...         self.label_ = values[counts.argmax()]
    ...     def predict(self, X):
    ...         return np.full(len(X), self.label_)
    >>> import unseen
    >>> data = unseen.datasets.load("iris")
    >>> as_model(Majority(), data).fit(data, seed=0).predict(data.X)[:2].tolist()
    ['setosa', 'setosa']
    """
    if isinstance(model, SklearnModel):
        return replace(model, name=name) if name else model
    if not hasattr(model, "predict") and isinstance(model, Model):
        return model
    if isinstance(model, type):
        raise KindError(f"the model is the class {model.__name__}; give an object of it: {model.__name__}().")
    missing = [method for method in ("fit", "predict") if not callable(getattr(model, method, None))]
    if missing and not _gains_predict(model):
        raise KindError(
            f"the model is a {type(model).__name__} without {' and '.join(missing)}; give an object with fit and predict, or a model's name."
        )
    _check_trainable(model)
    _check_task(model, data)
    return SklearnModel(model, name or short_name(model))


def _gains_predict(model: Any) -> bool:
    """Say whether a classifier or regressor has `predict` only once it is fitted, as a stacking of models does."""
    return _kind_of(model) in ("classifier", "regressor") and hasattr(type(model), "predict") and hasattr(model, "fit")


def _check_trainable(model: Any) -> None:
    kind = type(model).__name__
    if kind == "FrozenEstimator":
        raise KindError(
            "the model is frozen and cannot be trained again; give the estimator inside it, or use a method without retraining with fitted=True."
        )
    if hasattr(model, "get_params"):
        if is_plain_estimator(model):
            return
        try:
            _clone(model)
        except Exception as error:  # clone raises several kinds, all meaning the same here
            raise KindError(
                f"the model {kind} cannot be cloned ({error}); every constructor argument must be kept unchanged under its own name."
            ) from error
        return
    learnt = sorted(k for k in getattr(model, "__dict__", {}) if k.endswith("_") and not k.startswith("_"))
    if learnt:
        raise KindError(
            f"the model {kind} looks fitted already (it has {learnt[0]}) and has no get_params to make a fresh one from; give an object that was never fitted."
        )
    try:
        copy.deepcopy(model)
    except Exception as error:  # deepcopy raises whatever the object raises
        raise KindError(
            f"the model {kind} has no get_params and cannot be copied ({error}); add get_params and set_params, or give a factory."
        ) from error


def _kind_of(model: Any) -> str | None:
    """Return "classifier", "regressor" or another kind as scikit-learn's tags say it; None if unknown."""
    if not hasattr(model, "__sklearn_tags__"):
        kind = getattr(model, "_estimator_type", None)
        return kind if isinstance(kind, str) else None
    try:
        kind = model.__sklearn_tags__().estimator_type
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return kind if isinstance(kind, str) else None


def _check_task(model: Any, data: Data | None) -> None:
    kind, name = _kind_of(model), type(model).__name__
    if kind in _NO_PREDICTOR:
        raise KindError(f"the model {name} {_NO_PREDICTOR[kind]}; give a classifier or a regressor.")
    if data is None or kind is None:
        return
    if kind == "regressor" and data.task == "classification":
        raise InputError(
            f"the model {name} is a regressor, and the target has {len(data.classes)} classes; give a classifier, or task='regression'."  # type: ignore[arg-type]
        )
    if kind == "classifier" and data.task == "regression":
        raise InputError(
            f"the model {name} is a classifier, and the target holds numbers; give a regressor, or task='classification'."
        )


def as_fitted(model: Any, classes: Array | None = None, sample_shape: tuple[int, ...] = ()) -> Fitted:
    """Return a model that was trained elsewhere as it is, never refitted; a plain function counts as its `predict`.

    Where examples have a `sample_shape`, models that read shapes get it back.
    """
    if isinstance(model, FittedEstimator):
        return model
    if isinstance(model, type):
        raise KindError(f"the fitted model is the class {model.__name__}; give a fitted object of it.")
    if callable(getattr(model, "predict", None)):
        _refuse_unfitted(model)
        return FittedEstimator(model, classes, sample_shape if sample_shape and _takes_shape(model) else ())
    if callable(model):
        return FittedEstimator(_Function(model), classes, sample_shape)
    raise KindError(
        f"the fitted model is a {type(model).__name__} without predict; give a fitted estimator or a function of X."
    )


def _takes_shape(model: Any) -> bool:
    """Say whether a trained model reads shapes, and was not trained on flat rows."""
    trained_on = getattr(model, "sample_shape_", None)
    return reads_shapes(model) and (trained_on is None or len(trained_on) > 1)


def _refuse_unfitted(model: Any) -> None:
    if not hasattr(model, "__sklearn_tags__"):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InputError(
            f"the model {type(model).__name__} is not fitted, and a trained one is needed here; call its fit first, or let "
            "unseen.assess fit it."
        ) from error
    except TypeError:
        return


@dataclass(frozen=True)
class _Function:
    predict: Any
