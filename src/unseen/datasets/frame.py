"""From what the user holds in memory to checked `Data`."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data, Task, fingerprint_of
from unseen.core.errors import InputError, KindError, UnknownName

__all__ = ["as_data"]

MAX_INTEGER_CLASSES = 20


def as_data(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Task | None = None,
    target_name: str = "",
) -> Data:
    """Check a sample and bring it into one of three forms: array, CSR matrix or pandas frame.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame
        Features, one row per example. Text columns need a frame.
    y : array-like
        Labels or numbers.
    groups, sample_weight, time, ids : array-like, optional
        Group, weight, place in time and name of each row.
    positive : label, optional
        The class that sensitivity and AUC speak of; the last label in sorted order by default.
    task : {"classification", "regression"}, optional
        Guessed from y by default: text, truth values and few whole numbers are classes.

    Returns
    -------
    Data

    Examples
    --------
    >>> d = as_data([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> d.task, d.classes.tolist(), d.positive
    ('classification', ['no', 'yes'], 'yes')
    """
    name = target_name or str(getattr(y, "name", None) or "y")
    features, names = _features(X)
    target = _column(y, "y")
    n = features.shape[0]
    if len(target) != n:
        raise InputError(f"X has {n} rows and y has {len(target)}; they must be equal.")
    if n < 2:
        raise InputError(f"there is {n} row; an error estimate needs at least 2, and means little below 20.")
    target, kind = _target(target, task)
    classes = np.unique(target) if kind == "classification" else None
    if classes is not None and len(classes) < 2:
        raise InputError(f"the target has one class only ({classes[0]!r}); classification needs at least two.")
    extras = {
        "groups": _extra(groups, "groups", n),
        "weights": _weights(sample_weight, n),
        "order": _extra(time, "time", n),
        "ids": _extra(ids, "ids", n),
    }
    if extras["groups"] is not None and len(np.unique(extras["groups"])) < 2:
        raise InputError("groups has one group only; leaving whole groups out needs at least two.")
    if not hasattr(features, "iloc"):
        _check_finite(features)
    content = _content(features)
    mark = fingerprint_of(*content, target, *(v for v in extras.values() if v is not None))
    return Data(
        features, target, kind, classes, **extras, names=names, target_name=name,
        positive=_positive(positive, classes), fingerprint=mark,
    )  # fmt: skip


def _features(X: Any) -> tuple[Any, tuple[str, ...]]:
    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        return matrix, tuple(f"x{k}" for k in range(matrix.shape[1]))
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X.reset_index(drop=True), tuple(map(str, X.columns))
    if hasattr(X, "columns") or hasattr(X, "__narwhals_dataframe__"):
        import narwhals

        frame = narwhals.from_native(X, eager_only=True).to_pandas()
        return frame, tuple(map(str, frame.columns))
    array = np.asarray(X)
    if array.ndim != 2:
        raise InputError(
            f"X has {array.ndim} dimensions; it must be a table of rows and columns"
            + (" (use X.reshape(-1, 1) for one column)." if array.ndim == 1 else ".")
        )
    if array.shape[1] == 0:
        raise InputError("X has no columns.")
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(float)
        except (TypeError, ValueError) as error:
            raise KindError(
                "X holds values that are not numbers; give a pandas or polars frame, so that text columns can be told apart."
            ) from error
    return array, tuple(f"x{k}" for k in range(array.shape[1]))


def _column(values: Any, what: str) -> Array:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{what} has {array.ndim} dimensions; it must be one column.")
    return array


def _missing(array: Array) -> Array:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype == object:
        return np.array([v is None or v != v or str(v) in ("<NA>", "NaT") for v in array], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def _target(y: Array, task: Task | None) -> tuple[Array, Task]:
    lost = _missing(y)
    if lost.any():
        raise InputError(
            f"the target is missing in {int(lost.sum())} of {len(y)} rows (first: row {int(np.argmax(lost))}); remove these rows."
        )
    if y.dtype == object:
        y = _typed(y)
    if task is None:
        whole = y.dtype.kind in "iu" or (y.dtype.kind == "f" and bool(np.all(y == np.round(y))))
        few = y.dtype.kind not in "fiu" or (whole and len(np.unique(y)) <= MAX_INTEGER_CLASSES)
        task = "classification" if few else "regression"
    if task not in ("classification", "regression"):
        raise UnknownName("task", task, ("classification", "regression"))
    if task == "regression":
        if y.dtype.kind not in "fiub":
            raise InputError("a regression target must be numbers; this one holds text.")
        y = y.astype(float)
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise InputError("the target holds infinite values.")
    return y, task


def _typed(y: Array) -> Array:
    """Give an object column a plain dtype: numbers where all are numbers, else text."""
    if all(isinstance(v, (bool, np.bool_)) for v in y):
        return y.astype(bool)
    if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in y):
        numbers = y.astype(float)
        return (
            numbers.astype(np.int64)
            if np.all(numbers == np.round(numbers)) and np.all(np.isfinite(numbers))
            else numbers
        )
    return y.astype(str)


def _extra(values: Any, what: str, n: int) -> Array | None:
    if values is None:
        return None
    array = _column(values, what)
    if len(array) != n:
        raise InputError(f"{what} has {len(array)} entries and X has {n} rows; they must be equal.")
    lost = _missing(array)
    if lost.any():
        raise InputError(f"{what} is missing in {int(lost.sum())} rows (first: row {int(np.argmax(lost))}).")
    return _typed(array) if array.dtype == object else array


def _weights(values: Any, n: int) -> Floats | None:
    array = _extra(values, "sample_weight", n)
    if array is None:
        return None
    weights = array.astype(float)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or weights.sum() == 0:
        raise InputError("sample_weight must be finite, not negative and not all zero.")
    return weights


def _check_finite(X: Any) -> None:
    values = X.data if hasattr(X, "tocsr") else X
    if values.dtype.kind == "f" and np.any(np.isinf(values)):
        where = np.argwhere(np.isinf(X))[0].tolist() if not hasattr(X, "tocsr") else None
        place = f" (first: row {where[0]}, column {where[1]})" if where else ""
        raise InputError(f"X holds infinite values{place}; replace or remove them.")


def _content(X: Any) -> list[Any]:
    if hasattr(X, "tocsr"):
        return [X.data, X.indices, X.indptr]
    if hasattr(X, "iloc"):
        return [list(map(str, X.columns)), *(_storable(X.iloc[:, k].to_numpy()) for k in range(X.shape[1]))]
    return [X]


def _storable(column: Array) -> Array:
    return column.astype(str) if column.dtype == object else np.asarray(column)


def _positive(positive: Any, classes: Array | None) -> Any:
    if classes is None:
        if positive is not None:
            raise InputError("positive was given, but this is regression; it names a class.")
        return None
    if positive is None:
        return classes[-1].item()
    for label in classes:
        if label == positive or str(label) == str(positive):
            return label.item()
    raise UnknownName("class for positive", positive, map(str, classes))
