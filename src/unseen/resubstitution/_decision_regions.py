"""A trained classifier in the space where kernels live: its decision regions, its own points, its linear form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.model import Fitted
from unseen.resubstitution._checked_predictions import checked_predictions
from unseen.resubstitution._decision_rules import (
    Linear,
    affine_map,
    agrees,
    is_linear_by_code,
    kernel_rule,
    linear_form,
    voting_rule,
)

__all__ = ["STANDARDISED", "Regions", "check_classification", "check_model", "regions_of"]

SPACES = ("auto", "input")
STANDARDISED = "standardised columns"  # the space of models from files that do not show their own scaling
MAX_DENSE = 2**27  # numbers; a sparse sample larger than this is not made dense


def check_classification(method_id: str, data: Data) -> None:
    """Refuse a regression target."""
    if data.task != "classification" or data.classes is None:
        raise NotApplicable(
            f"{method_id} estimates the error rate of a classifier, and the target {data.target_name!r} holds numbers; "
            "use a resampling method for regression, or give task='classification' if the numbers are labels."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Regions:
    """Where a trained classifier says what.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The sample in the space of the kernels.
    data : Data
        The sample as given.
    model : object with predict
        Takes points of this space.
    space : str
        "input", "after" and the transformers, or "standardised columns".
    columns : sequence of str or None
        Names the model wants its columns to carry.
    stated : Linear or None
        Linear rule read off the model; not yet checked.
    sample_shape : tuple of int
        Shape in which the model wants each point, if it does not want flat rows.
    centre, step : ndarray or None
        Mean and standard deviation of each column, if the points are standardised and the model wants the columns as they were.
    """

    points: Floats
    data: Data
    model: Any
    space: str
    columns: Any
    stated: Linear | None
    sample_shape: tuple[int, ...] = ()
    centre: Floats | None = None
    step: Floats | None = None

    @property
    def codes(self) -> Ints:
        """True class of each point."""
        return self.data.codes

    @property
    def classes(self) -> Array:
        """Labels."""
        assert self.data.classes is not None
        return self.data.classes

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return int(self.points.shape[1])

    def as_input(self, points: Floats) -> Any:
        """Return points as the model wants them: in its units, under the names of its columns, or in the shape of examples."""
        if self.centre is not None and self.step is not None:
            points = points * self.step + self.centre
        if self.sample_shape:
            return points.reshape(len(points), *self.sample_shape)
        return _as_frame(points, self.columns)

    def assign(self, points: Floats) -> Ints:
        """Return the class the model assigns to each point."""
        return checked_predictions(lambda rows: self._predict(rows), points, len(points), self.data)

    @cached_property
    def _predict(self) -> Callable[[Floats], Array]:
        plain = self.columns is None and self.centre is None
        quick = voting_rule(self.model) or kernel_rule(self.model) if plain else None
        if quick is not None and np.array_equal(quick(self.points), self.model.predict(self.points)):
            return quick
        return lambda points: np.asarray(self.model.predict(self.as_input(points)))

    @cached_property
    def assigned(self) -> Ints:
        """Class the model assigns to each point of the sample."""
        return self.assign(self.points)

    @cached_property
    def form(self) -> Linear | None:
        """The model's linear rule in this space, if it has one that agrees with `predict`."""
        if self.stated is None or is_linear_by_code(self.model) or agrees(self.stated, self.points, self.assign):
            return self.stated
        return None

    def probabilities(self, points: Floats) -> Floats:
        """Return the model's own class probabilities in the order of `classes`."""
        if not hasattr(self.model, "predict_proba"):
            raise InputError(
                f"posterior='model' needs predict_proba, which {type(self.model).__name__} does not have; use posterior='knn'."
            )
        values = np.asarray(self.model.predict_proba(self.as_input(points)), dtype=float)
        own = np.asarray(getattr(self.model, "classes_", self.classes))
        return align(values, own, self.classes)


def align(values: Floats, own: Array, classes: Array) -> Floats:
    """Return probability columns in the order of `classes`; a class the model lacks gets 0."""
    if np.array_equal(own, classes):
        return values
    if not np.isin(own, classes).all():
        raise InputError(f"the model knows the labels {own.tolist()}, the data {classes.tolist()}.")
    out = np.zeros((len(values), len(classes)))
    out[:, np.searchsorted(classes, own)] = values
    return out


def regions_of(method_id: str, fitted: Fitted, data: Data, space: str = "auto") -> Regions:
    """Return the decision regions of a trained classifier, all inputs checked."""
    if space not in SPACES:
        raise UnknownName("space", space, SPACES)
    check_classification(method_id, data)
    assert data.classes is not None
    native = _final_model(getattr(fitted, "native", fitted))
    check_model(fitted, data)
    parts, final = _pipeline_parts(native)
    if space == "auto" and parts:
        steps = [step for part in parts for step in _transformers(part)]
        name = "after " + ", ".join(type(step).__name__ for step in steps)
        points, columns = _numbers(_transform(parts, data.X), name)
        form = linear_form(final, data.classes)
        return Regions(
            points=points,
            data=data,
            model=final,
            space=name,
            columns=columns if hasattr(final, "feature_names_in_") else None,
            stated=form,
        )
    points, columns = _numbers(data.X, "input")
    if hasattr(native, "n_features_in_") and not hasattr(native, "feature_names_in_"):
        columns = None  # trained on an array, the model would warn of names
    form = linear_form(native, data.classes)
    if parts:
        form = _linear_form_of_pipeline(parts, final, data.classes, points, columns)
    model = fitted if not hasattr(native, "predict") else native
    plain = Regions(
        points=points,
        data=data,
        model=model,
        space="input",
        columns=columns,
        stated=form,
        sample_shape=getattr(fitted, "sample_shape", ()),
    )
    return _standardise(plain) if space == "auto" and getattr(native, "from_file", False) else plain


def _standardise(regions: Regions) -> Regions:
    """Return the regions of a model whose file does not show its own scaling: kernels among columns of mean 0 and spread 1."""
    centre, step = regions.points.mean(axis=0), regions.points.std(axis=0)
    step = np.where(step > 0, step, 1.0)
    form = None if regions.stated is None else regions.stated.after(np.diag(step), centre)
    return replace(
        regions,
        points=(regions.points - centre) / step,
        space=STANDARDISED,
        stated=form,
        centre=centre,
        step=step,
    )


def _as_frame(points: Floats, columns: Any) -> Any:
    if columns is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=columns)


def _final_model(model: Any) -> Any:
    """Return the best estimator of a search, and the only real step of a pipeline."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps") and hasattr(model, "named_steps") and not _transformers(model):
            model = model[-1]
        else:
            return model


def _transformers(native: Any) -> list[Any]:
    if not hasattr(native, "steps") or not hasattr(native, "named_steps"):
        return []
    return [step for _, step in native.steps[:-1] if step is not None and not isinstance(step, str)]


def _pipeline_parts(native: Any) -> tuple[list[Any], Any]:
    """Return the pipelines that precede the final estimator, one inside the other, and that estimator."""
    parts = []
    while _transformers(native):
        parts.append(native)
        native = _final_model(native[-1])
    return parts, native


def _transform(parts: list[Any], X: Any) -> Any:
    try:
        for part in parts:
            X = part[:-1].transform(X)
        return X
    except Exception as error:  # a user's transformer may raise anything; its words are passed on
        raise InputError(f"the pipeline could not transform X: {type(error).__name__}: {error}") from error


def _linear_form_of_pipeline(
    parts: list[Any], final: Any, classes: Array, points: Floats, columns: Any
) -> Linear | None:
    """Return the rule of affine transformers followed by a linear classifier, as a rule on the input."""
    form = linear_form(final, classes)
    if form is None:
        return None

    def transform(rows: Floats) -> Floats:
        return _numbers(_transform(parts, _as_frame(rows, columns)), "the transformers' output")[0]

    try:
        found = affine_map(transform, points)
    except (ValueError, TypeError):
        return None
    return None if found is None else form.after(*found)


def check_model(fitted: Any, data: Data) -> None:
    """Refuse a regression model if there are classes, a classifier if there are numbers, and a model of other features."""
    native = _final_model(getattr(fitted, "native", fitted))
    final = native[-1] if _transformers(native) else native
    regression = "regressor" in (getattr(m, "_estimator_type", None) for m in (native, final)) or _is_regressor(final)
    name = getattr(final, "kind_name", type(final).__name__)  # a model in another process names its class
    if data.classes is None and hasattr(native, "classes_"):
        raise InputError(
            f"{name} is a classifier, and the target {data.target_name!r} holds numbers; if these are labels, give the task "
            "classification, else give a regression model."
        )
    if data.classes is not None and regression:
        raise InputError(f"{name} is a regression model, and the target holds classes; a classifier is needed.")
    wanted = getattr(native, "n_features_in_", None)
    if len(shape := getattr(native, "sample_shape_", ())) > 1:
        wanted = np.prod(shape)  # a net of images counts its channels as features
    if wanted is not None and int(wanted) != data.n_features:
        raise InputError(
            f"the model was trained on {wanted} features and X has {data.n_features}; they must be the same."
        )


def _is_regressor(model: Any) -> bool:
    if hasattr(model, "classes_") or not hasattr(model, "__sklearn_tags__"):
        return False
    from sklearn.base import is_regressor

    return bool(is_regressor(model))


def _numbers(X: Any, space: str) -> tuple[Floats, Any]:
    """Return dense finite numbers and, for a frame, its column names."""
    columns = None
    if hasattr(X, "tocsr"):
        if np.prod(X.shape, dtype=float) > MAX_DENSE:
            raise InputError(
                f"the sample is sparse with {X.shape[0]} x {X.shape[1]} entries, too many for kernels; "
                "put a reduction such as TruncatedSVD into the pipeline."
            )
        X = X.toarray()
    elif hasattr(X, "iloc"):
        bad = [str(c) for c in X.columns if not _numeric(X[c])]
        if bad:
            raise InputError(
                f"column {bad[0]!r} is not numeric ({len(bad)} such in {space}); kernels need numbers: leave such columns to an "
                "encoder inside a Pipeline and use space='auto', or drop them."
            )
        columns = list(X.columns)
        X = X.to_numpy(dtype=float)
    points = np.ascontiguousarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] == 0:
        raise InputError(f"{space} has shape {points.shape}; kernels need a table of rows and columns.")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0].tolist()
        raise InputError(
            f"{space} holds a value that is not finite (row {row + 1}, column {column + 1}, counted from 1); impute inside a Pipeline or remove it."
        )
    return points, columns


def _numeric(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", "O")
    return kind in "fiub"
