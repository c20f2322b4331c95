"""From what the user holds in memory to checked `Data`."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data, Task, fingerprint_of
from unseen.core.errors import InputError, UnknownName
from unseen.datasets.features import check_features, content_of, features_of, flattened

__all__ = ["as_data"]

MAX_INTEGER_CLASSES = 20
SMALL_SAMPLE = 10


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
    X : array, sparse matrix, pandas, polars or pyarrow table
        Features, one row per example. Text columns need a table with column names. A pandas frame stays one; its
        nullable columns become plain ones with NaN for a missing value. Images and other arrays or tensors of more than two
        dimensions are kept as flat rows with their `sample_shape`, which is given back to models that read it.
    y : array-like
        Labels or numbers; none may be missing.
    groups, sample_weight, time, ids : array-like, optional
        Group, weight, place in time and name of each row.
    positive : label, optional
        The class that sensitivity and AUC speak of; the last label in sorted order by default.
    task : {"classification", "regression"}, optional
        Guessed from y by default: text, truth values and whole numbers with at most 20 different values (and at most
        half as many as rows, from 10 rows on) are classes.

    Returns
    -------
    Data

    Examples
    --------
    >>> d = as_data([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> d.task, d.classes.tolist(), d.positive
    ('classification', ['no', 'yes'], 'yes')
    """
    name = target_name or _name_of(y)
    rows, sample_shape = flattened(X)
    features, names = features_of(rows)
    target = column_of(y, "y")
    n = features.shape[0]
    if len(target) != n:
        raise InputError(f"X has {n} rows and y has {len(target)}; they must be equal.")
    if n < 2:
        raise InputError(
            f"there {'is 1 row' if n else 'are no rows'}; an error estimate needs at least 2, and means little below 20."
        )
    target, kind = _target(target, task)
    classes = _classes(target) if kind == "classification" else None
    extras: dict[str, Any] = {
        "groups": _extra(groups, "groups", n),
        "weights": _weights(sample_weight, n),
        "order": _extra(time, "time", n),
        "ids": _extra(ids, "ids", n),
    }
    if extras["groups"] is not None and len(np.unique(extras["groups"])) < 2:
        raise InputError(
            "groups has one group only; leaving whole groups out needs at least two: leave groups out, or give another column."
        )
    check_features(features, names)
    mark = fingerprint_of(*content_of(features), target, *(v for v in extras.values() if v is not None))
    return Data(
        features,
        target,
        kind,
        classes,
        **extras,
        names=names,
        target_name=name,
        positive=_positive(positive, classes),
        fingerprint=mark,
        sample_shape=sample_shape,
    )


def _name_of(y: Any) -> str:
    name = getattr(y, "name", None)
    if name is None and hasattr(y, "columns") and len(y.columns) == 1:
        name = getattr(y, "column_names", y.columns)[0]
    return "y" if name is None or str(name) == "" else str(name)


def column_of(values: Any, what: str) -> Array:
    """Return one column as a one-dimensional array."""
    if isinstance(values, (str, bytes)) or values is None:
        raise InputError(f"{what} is {values!r}; it must be a column of values, one per row.")
    if hasattr(values, "column_names") and len(values.column_names) == 1:
        values = values.column(0)
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float if values.dtype.kind in "fiub" else object), np.nan)
    try:
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be read as a column of values: {error}.") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{what} has {array.ndim} dimensions; it must be one column.")
    if array.dtype.kind not in "fiubOUSTMm":
        raise InputError(
            f"{what} holds values of type {array.dtype}; it must hold numbers, truth values, text or dates."
        )
    return array.astype(str).astype(object) if array.dtype.kind == "S" else array


def missing_in(array: Array) -> Array:
    """Return a mask of the missing values of a column: NaN, None, NaT and pandas' NA."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind in "OT":
        import pandas as pd

        return np.asarray(pd.isna(array.astype(object)), dtype=bool)
    return np.zeros(len(array), dtype=bool)


def _target(y: Array, task: Task | None) -> tuple[Array, Task]:
    lost = missing_in(y)
    if lost.any():
        raise InputError(
            f"the target is missing in {int(lost.sum())} of {len(y)} rows ({_rows(lost)}); remove these rows."
        )
    y = _plain(y)
    if y.dtype.kind in "mM":
        raise InputError("the target holds dates; give classes or numbers, such as days since a start.")
    if task is None:
        task = "classification" if _looks_like_classes(y) else "regression"
    if task not in ("classification", "regression"):
        raise UnknownName("task", task, ("classification", "regression"))
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise InputError(f"the target holds infinite values ({_rows(~np.isfinite(y))}); replace or remove them.")
    if task == "regression":
        if y.dtype.kind not in "fiub":
            example = y[0].item()
            raise InputError(
                f"a regression target must be numbers; this one holds text such as {example!r}: choose another target or the task classification."
            )
        y = y.astype(float)
    return y, task


def _rows(mask: Array, most: int = 5) -> str:
    rows = np.flatnonzero(mask) + 1
    listed = ", ".join(map(str, rows[:most].tolist()))
    more = f" and {len(rows) - most} more" if len(rows) > most else ""
    return f"row{'s' if len(rows) > 1 else ''} {listed}{more}, counted from 1"


def _looks_like_classes(y: Array) -> bool:
    if y.dtype.kind not in "fiu":
        return True
    if y.dtype.kind == "f" and not np.all(np.isfinite(y) & (y == np.round(y))):
        return False
    distinct = len(np.unique(y))
    return distinct <= MAX_INTEGER_CLASSES and (len(y) < SMALL_SAMPLE or distinct <= len(y) / 2)


def _classes(y: Array) -> Array:
    if y.dtype.kind == "f" and np.any(y != np.round(y)):
        fraction = y[y != np.round(y)][0].item()
        raise InputError(
            f"the target holds numbers with a fraction such as {fraction!r}, which cannot be classes; use the task regression, or turn them into labels first."
        )
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(f"the target has one class only ({classes[0].item()!r}); classification needs at least two.")
    if len(classes) == len(y) >= SMALL_SAMPLE:
        raise InputError(
            f"the target has {len(y)} different values in {len(y)} rows, so no class is seen twice; choose another target (is it a column of names?) or the task regression."
        )
    return classes


def _plain(y: Array) -> Array:
    """Give an object column a plain dtype: truth values or numbers where all are, else text."""
    if y.dtype.kind == "T":
        return y.astype(str)
    if y.dtype != object:
        return y
    if all(isinstance(v, (bool, np.bool_)) for v in y):
        return y.astype(bool)
    if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in y):
        return _numbers(y)
    if all(hasattr(v, "isoformat") for v in y):
        import pandas as pd

        return pd.to_datetime(pd.Series(y), utc=True).dt.tz_localize(None).to_numpy()
    return y.astype(str)


def _numbers(y: Array) -> Array:
    numbers = y.astype(float)
    whole = np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) < 2**53)
    return numbers.astype(np.int64) if whole else numbers


def _extra(values: Any, what: str, n: int) -> Array | None:
    if values is None:
        return None
    array = column_of(values, what)
    if len(array) != n:
        raise InputError(f"{what} has {len(array)} entries and X has {n} rows; they must be equal.")
    lost = missing_in(array)
    if lost.any():
        raise InputError(f"{what} is missing in {int(lost.sum())} of {n} rows ({_rows(lost)}); fill them in.")
    return _plain(array)


def _weights(values: Any, n: int) -> Floats | None:
    array = _extra(values, "sample_weight", n)
    if array is None:
        return None
    if array.dtype.kind not in "fiub":
        raise InputError(f"sample_weight must be numbers; it holds values such as {array[0].item()!r}.")
    weights = array.astype(float)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or weights.sum() == 0:
        raise InputError("sample_weight must be finite, not negative and not all zero.")
    return weights


def _positive(positive: Any, classes: Array | None) -> Any:
    if classes is None:
        if positive is not None:
            raise InputError("positive was given, but this is regression; it names a class.")
        return None
    if positive is None:
        return classes[-1].item()
    for label in classes:
        if label == positive or str(label) == str(positive) or _same_number(label, positive):
            return label.item()
    raise UnknownName("class for positive", positive, map(str, classes))


def _same_number(label: Any, given: Any) -> bool:
    try:
        return label.dtype.kind in "fiu" and float(label) == float(given)
    except (TypeError, ValueError):
        return False
