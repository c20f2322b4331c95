"""The conventions of a scikit-learn estimator, without scikit-learn: parameters, checks of input, tags when asked."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from unseen.core.errors import InputError, KindError

__all__ = ["SklearnEstimator", "check_features", "check_labels", "encode_labels", "reshape_rows"]


class SklearnEstimator:
    """Parameters by the names of the constructor, kept unchanged, as scikit-learn's `clone` needs it."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name."""
        for name, value in params.items():
            if name not in self._names():
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        shown = [
            f"{n}={getattr(v, '__name__', None) or repr(v)}"
            for n, v in self.get_params().items()
            if not (v is defaults[n] or (isinstance(v, (int, float, str, tuple)) and v == defaults[n]))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    def _check_fitted(self) -> None:
        if hasattr(self, "classes_"):
            return
        text = f"this {type(self).__name__} is not fitted yet; call fit(X, y) first."
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise InputError(text) from None
        raise type("NotFitted", (InputError, NotFittedError), {})(text)


def check_features(owner: Any, X: Any, *, first: bool) -> np.ndarray:
    """Return X as finite floats of two or more dimensions, checked against the fit unless it is the first.

    Sets `n_features_in_` and, for data frames, `feature_names_in_` if it is the first.
    """
    names = _column_names(X)
    if hasattr(X, "toarray") or hasattr(X, "tocsr"):
        raise KindError(
            f"X is sparse, and nets read dense numbers; {type(owner).__name__} does not take sparse data: give X.toarray()."
        )
    array = np.asarray(X.detach().cpu() if hasattr(X, "detach") else X)
    if np.iscomplexobj(array):
        raise InputError("Complex data not supported: X must hold real numbers.")
    if array.dtype.kind not in "fiub":
        array = array.astype(np.float64)
    if array.ndim < 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead: X must have one row per example. Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one example."
        )
    _check_sizes(array)
    array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        what = "NaN" if np.isnan(array).any() else "infinity"
        raise InputError(f"Input X contains {what}; fill or drop such rows first.")
    if first:
        owner.n_features_in_ = int(array.shape[1])
        if names is not None:
            owner.feature_names_in_ = names
        elif hasattr(owner, "feature_names_in_"):
            del owner.feature_names_in_
    else:
        _check_names(owner, names)
        if array.shape[1] != owner.n_features_in_:
            raise InputError(
                f"X has {array.shape[1]} features, but {type(owner).__name__} is expecting {owner.n_features_in_} features as input."
            )
    return array


def reshape_rows(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return flat rows as examples of a shape."""
    wanted, held = int(np.prod(shape)), int(np.prod(array.shape[1:]))
    if held != wanted:
        raise InputError(f"input_shape {tuple(shape)} holds {wanted} numbers, but an example of X has {held}.")
    return array.reshape(len(array), *shape)


def _check_sizes(array: np.ndarray) -> None:
    if len(array) == 0:
        raise InputError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] == 0:
        raise InputError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")


def _column_names(X: Any) -> np.ndarray | None:
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = np.asarray(list(columns), dtype=object)
    return names if len(names) and all(isinstance(n, str) for n in names) else None


def _check_names(owner: Any, names: np.ndarray | None) -> None:
    known, kind = getattr(owner, "feature_names_in_", None), type(owner).__name__
    if known is None and names is not None:
        warnings.warn(f"X has feature names, but {kind} was fitted without feature names", UserWarning, stacklevel=4)
    if known is not None and names is None:
        warnings.warn(
            f"X does not have valid feature names, but {kind} was fitted with feature names", UserWarning, stacklevel=4
        )
    if known is None or names is None or (len(known) == len(names) and np.all(known == names)):
        return
    text = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if unseen:
        text += "Feature names unseen at fit time:\n" + "".join(f"- {n}\n" for n in unseen[:5])
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {n}\n" for n in missing[:5])
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(text)


def check_labels(y: Any, n: int, owner: str) -> np.ndarray:
    """Return one label per row, or say what is wrong."""
    if y is None:
        raise InputError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    labels = np.asarray(y.detach().cpu() if hasattr(y, "detach") else y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it was flattened.",
            _conversion_warning(),
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"y must hold one label per row; it has shape {labels.shape}.")
    if len(labels) != n:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y {len(labels)}."
        )
    if labels.dtype.kind == "f":
        if not np.all(np.isfinite(labels)):
            raise InputError(f"Input y contains {'NaN' if np.isnan(labels).any() else 'infinity'}.")
        if np.any(labels != np.floor(labels)):
            raise InputError(
                "Unknown label type: continuous. y holds numbers that are not whole; a classifier needs classes."
            )
    if labels.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold labels.")
    return labels


def _conversion_warning() -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    return DataConversionWarning


def encode_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct labels and the number of each row's label among them."""
    if labels.dtype == object and len({isinstance(v, str) for v in labels.tolist()}) > 1:
        raise KindError("y mixes text and numbers; make all labels one kind.")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64)
