"""Arrays, frames and sparse matrices as `Data`: the check in front of every function that takes X and y."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data, Task, check_size_of_weights, fingerprint_of
from unseen.core.errors import InputError, KindError, MissingExtra, UnknownName
from unseen.core.notes import Note, note

__all__ = ["as_data", "column_of", "mark_of", "missing_in", "part_of", "with_positive"]

# features in one of the three kinds, and the names of their columns
NamedFeatures = tuple[Any, tuple[str, ...]]

# whole numbers with more different values are more likely counts than classes
MAX_INTEGER_CLASSES = 20
MISSING_TARGET = ("drop", "error")
# in fewer rows every label may be different and still be a class
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
    missing_target: str = "drop",
) -> Data:
    """Check a sample and bring it into one of three forms: array, CSR matrix or pandas frame.

    Parameters
    ----------
    X : array, sparse matrix, pandas, polars or pyarrow table
        Features, one row per example. Text columns need a table with column names. A pandas frame stays one; its
        nullable columns become plain ones with NaN for a missing value. Images and other arrays or tensors of more than two
        dimensions are kept as flat rows with their `sample_shape`, which is given back to models that read it.
    y : array-like
        Labels or numbers; or the name of a column of X, and the same for groups, sample_weight, time and ids.
    groups, sample_weight, time, ids : array-like, optional
        Group, weight, place in time and name of each row.
    positive : label, optional
        The class that sensitivity and AUC are about; the last label in sorted order by default.
    task : {"classification", "regression"}, optional
        Guessed from y by default: text, truth values and whole numbers with at most 20 different values (and at most
        half as many as rows, from 10 rows on) are classes.
    missing_target : {"drop", "error"}
        Leave rows without a target out, with a note (U043), or refuse them.

    Returns
    -------
    Data

    Examples
    --------
    >>> d = as_data([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> d.task, d.classes.tolist(), d.positive
    ('classification', ['no', 'yes'], 'yes')
    """
    if missing_target not in MISSING_TARGET:
        raise UnknownName("choice for missing_target", missing_target, MISSING_TARGET)
    X, y, groups, sample_weight, time, ids = _columns_by_name(X, y, groups, sample_weight, time, ids)
    name = target_name or _name_of(y)
    rows, sample_shape = flatten_samples(X)
    features, names = features_of(rows)
    target = column_of(y, "y")
    n = features.shape[0]
    if len(target) != n:
        raise InputError(f"X has {n} rows and y has {len(target)}; they must be equal.")
    given = {"groups": groups, "sample_weight": sample_weight, "time": time, "ids": ids}
    columns = {what: None if v is None else _check_length(column_of(v, what), what, n) for what, v in given.items()}
    group_name = "" if groups is None else _name_of(groups, "")
    notes: tuple[Note, ...] = ()
    lost = missing_in(target)
    if lost.any() and missing_target == "drop" and not lost.all():
        kept = np.flatnonzero(~lost)
        features = features.iloc[kept].reset_index(drop=True) if hasattr(features, "iloc") else features[kept]
        target = target[kept]
        columns = {what: None if v is None else v[kept] for what, v in columns.items()}
        # so that what is found in the sample can be found in the file
        columns["ids"] = kept + 1 if columns["ids"] is None else columns["ids"]
        notes = (
            note("U043", f"{int(lost.sum())} of {n} rows lack the target {name!r} and were left out ({_rows(lost)})"),
        )
        n = len(kept)
    if n < 2:
        raise InputError(
            f"there {'is 1 row' if n else 'are no rows'}; an error estimate needs at least 2, and means little below 20."
        )
    target, kind, classes = _target(target, task)
    extras: dict[str, Any] = {
        "groups": _extra(columns["groups"], "groups"),
        "weights": _weights(columns["sample_weight"]),
        "order": _extra(columns["time"], "time"),
        "ids": _extra(columns["ids"], "ids"),
    }
    data = Data(
        features,
        target,
        kind,
        classes,
        **extras,
        names=names,
        target_name=name,
        positive=_positive(positive, classes),
        sample_shape=sample_shape,
        group_name=group_name,
        notes=notes,
    )
    return _with_fingerprint(data)


def part_of(data: Data, rows: Ints) -> Data:
    """Return some rows of a checked sample as a sample of its own: its classes and its fingerprint are those of the rows.

    Values were checked one by one before; only what depends on the rows that are left is checked and made again.

    Examples
    --------
    >>> d = as_data([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "perhaps"], positive="no")
    >>> part = part_of(d, np.array([0, 1, 2]))
    >>> part.classes.tolist(), part.positive, part.fingerprint != d.fingerprint
    (['no', 'yes'], 'no', True)
    """
    part = data.take(rows)
    part = replace(
        part,
        X=features_of(part.X)[0],  # an object column without any value left becomes one of numbers
        classes=None if data.classes is None else _classes(part.y),
        weights=_weights(part.weights),
        source=None,
        joined=None,
    )
    return with_positive(_with_fingerprint(part), data.positive)


def with_positive(data: Data, positive: Any) -> Data:
    """Return the same sample with another class that sensitivity and AUC are about; None stands for the last one.

    Examples
    --------
    >>> with_positive(as_data([[0.0], [1.0], [2.0]], ["no", "yes", "no"]), "no").positive
    'no'
    """
    return replace(data, positive=_positive(positive, data.classes))


def _with_fingerprint(data: Data) -> Data:
    """Check what only whole columns show, and add the fingerprint."""
    if data.groups is not None and len(np.unique(data.groups)) < 2:
        raise InputError(
            "groups has one group only; leaving whole groups out needs at least two: leave groups out, or give another column."
        )
    check_features(data.X, data.names)
    return replace(data, fingerprint=mark_of(data))


def mark_of(data: Data) -> str:
    """Return the fingerprint of a sample: of its features, its target and what is known about its rows."""
    extras = (data.groups, data.weights, data.order, data.ids)
    return fingerprint_of(*content_of(data.X), data.y, *(v for v in extras if v is not None))


def _name_of(y: Any, default: str = "y") -> str:
    name = getattr(y, "name", None)
    if name is None and hasattr(y, "columns") and len(y.columns) == 1:
        name = getattr(y, "column_names", y.columns)[0]
    return default if name is None or str(name) == "" else str(name)


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


def _target(y: Array, task: Task | None) -> tuple[Array, Task, Array | None]:
    """Return the target with a plain dtype, the task, and the classes if it has any."""
    lost = missing_in(y)
    if lost.any():
        raise InputError(
            f"the target is missing in {int(lost.sum())} of {len(y)} rows ({_rows(lost)}); fill them in, remove these rows, or use "
            "missing_target='drop'."
        )
    y = _plain(y)
    if y.dtype.kind in "mM":
        raise InputError("the target holds dates; give classes or numbers, such as days since a start.")
    distinct = None
    if task is None:
        distinct = _distinct_if_classes(y)
        task = "regression" if distinct is None else "classification"
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
        return y.astype(float), task, None
    return y, task, _classes(y, distinct)


def _rows(mask: Array, most: int = 5) -> str:
    rows = np.flatnonzero(mask) + 1
    listed = ", ".join(map(str, rows[:most].tolist()))
    more = f" and {len(rows) - most} more" if len(rows) > most else ""
    return f"row{'s' if len(rows) > 1 else ''} {listed}{more}, counted from 1"


def _distinct_if_classes(y: Array) -> Array | None:
    """Return the different values of a target that looks like one of classes; None if it does not."""
    if y.dtype.kind == "f" and not np.all(np.isfinite(y) & (y == np.round(y))):
        return None
    values = _distinct(y)
    few = len(values) <= MAX_INTEGER_CLASSES and (len(y) < SMALL_SAMPLE or len(values) <= len(y) / 2)
    return values if few or y.dtype.kind not in "fiu" else None


def _distinct(y: Array) -> Array:
    """Return the different values, sorted; whole numbers that lie close together are counted, which is quicker than numpy's hashes."""
    if y.dtype == np.int64 and len(y):
        low = int(y.min())
        if int(y.max()) - low < len(y):
            return np.flatnonzero(np.bincount(y - low)) + low
    return np.unique(y)


def _classes(y: Array, distinct: Array | None = None) -> Array:
    """Return the classes of a target, given its different values if they are known."""
    if y.dtype.kind == "f" and np.any(y != np.round(y)):
        fraction = y[y != np.round(y)][0].item()
        raise InputError(
            f"the target holds numbers with a fraction such as {fraction!r}, which cannot be classes; use the task regression, or turn them into labels first."
        )
    classes = _distinct(y) if distinct is None else distinct
    if len(classes) < 2:
        raise InputError(f"the target has one class only ({classes[0].item()!r}); classification needs at least two.")
    if len(classes) == len(y) >= SMALL_SAMPLE:
        raise InputError(
            f"the target has {len(y)} different values in {len(y)} rows, so no class is seen twice; choose another target (is it a column of names?) or the task regression."
        )
    return classes


def _plain(y: Array) -> Array:
    """Give an object column a plain dtype: truth values or numbers if all are, else text."""
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


def _columns_by_name(X: Any, y: Any, *others: Any) -> tuple[Any, ...]:
    """Return features, target and other columns; those given by the name of a column of X are taken out of it."""
    named = [v for v in (y, *others) if isinstance(v, str)]
    if not named or not hasattr(X, "columns"):
        return (X, y, *others)
    frame = X if hasattr(X, "iloc") else _as_pandas(X)
    held = list(frame.columns)
    for one in named:
        if one not in held:
            raise UnknownName("column", one, map(str, held))
    found = [frame[v] if isinstance(v, str) else v for v in (y, *others)]
    return (frame.drop(columns=list(dict.fromkeys(named))), *found)


def _check_length(array: Array, what: str, n: int) -> Array:
    if len(array) != n:
        raise InputError(f"{what} has {len(array)} entries and X has {n} rows; they must be equal.")
    return array


def _extra(array: Array | None, what: str) -> Array | None:
    if array is None:
        return None
    lost = missing_in(array)
    if lost.any():
        raise InputError(f"{what} is missing in {int(lost.sum())} of {len(array)} rows ({_rows(lost)}); fill them in.")
    return _plain(array)


def _weights(values: Array | None) -> Floats | None:
    array = _extra(values, "sample_weight")
    if array is None:
        return None
    if array.dtype.kind not in "fiub":
        raise InputError(f"sample_weight must be numbers; it holds values such as {array[0].item()!r}.")
    weights = array.astype(float)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or weights.sum() == 0:
        raise InputError("sample_weight must be finite, not negative and not all zero.")
    check_size_of_weights(weights)
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


def features_of(X: Any) -> NamedFeatures:
    """Return the features in one of the three kinds, and the names of the columns.

    Examples
    --------
    >>> features_of([[1, 2.5], [3, None]])[0].tolist()
    [[1.0, 2.5], [3.0, nan]]
    """
    if isinstance(X, (str, bytes)) or X is None:
        raise KindError(f"X is {X!r}; give a table of features (`unseen.datasets.read.read` reads one from a file).")
    if hasattr(X, "tocsr"):
        return _sparse(X)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return plain_frame(X)
    if type(X).__name__ == "LazyFrame":
        raise KindError("X is a LazyFrame, whose rows are not computed yet; call .collect() first.")
    if hasattr(X, "columns") or hasattr(X, "__narwhals_dataframe__"):
        return plain_frame(_as_pandas(X))
    if getattr(getattr(X, "dtype", None), "names", None):
        import pandas as pd

        return plain_frame(pd.DataFrame(np.asarray(X)))
    return _array(X)


def flatten_samples(X: Any) -> tuple[Any, tuple[int, ...]]:
    """Return arrays and tensors of more than two dimensions as one row per example, and the shape of an example.

    Anything else comes back as it is, with an empty shape.

    Examples
    --------
    >>> rows, shape = flatten_samples(np.zeros((5, 1, 4, 4)))
    >>> rows.shape, shape
    ((5, 16), (1, 4, 4))
    """
    if hasattr(X, "detach") and hasattr(X, "cpu"):
        X = X.detach().cpu().numpy()
    if not isinstance(X, np.ndarray) or X.ndim < 3:
        return X, ()
    return X.reshape(len(X), int(np.prod(X.shape[1:]))), X.shape[1:]


@lru_cache(16)
def _numbered_names(count: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(count))


def _sparse(X: Any) -> NamedFeatures:
    if len(X.shape) != 2:
        raise InputError(f"X is sparse with {len(X.shape)} dimensions; it must be a table of rows and columns.")
    if X.dtype.kind not in "fiub":
        raise KindError(f"X is sparse and holds values of type {X.dtype}; it must hold numbers.")
    matrix = X.tocsr()
    if matrix.shape[1] == 0:
        raise InputError("X has no columns.")
    return matrix, _numbered_names(matrix.shape[1])


def _array(X: Any) -> NamedFeatures:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(float), np.nan)
    try:
        array = np.asarray(X)
    except (TypeError, ValueError) as error:
        raise InputError(f"X is not a table: {error}. Every row needs the same number of columns.") from error
    if array.ndim != 2:
        raise InputError(
            f"X has {array.ndim} dimensions; it must be a table of rows and columns"
            + (" (use X.reshape(-1, 1) for one column)." if array.ndim == 1 else ".")
        )
    if array.shape[1] == 0:
        raise InputError("X has no columns.")
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        array = _as_floats(array)
    return array, _numbered_names(array.shape[1])


def _as_floats(array: Any) -> Any:
    try:
        if array.dtype.kind in "cmM":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise KindError(
            "X holds values that are not numbers; give a pandas or polars frame, so that text columns can be recognised."
        ) from error


def _as_pandas(X: Any) -> Any:
    """Turn polars, pyarrow and other tables that narwhals knows into pandas."""
    import narwhals

    try:
        return narwhals.from_native(X, eager_only=True).to_pandas()
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "frames", f"a table of type {type(X).__name__}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise KindError(
            f"X is a {type(X).__name__}, which cannot be read as a table of rows; give a pandas or polars frame."
        ) from error


def plain_frame(X: Any) -> NamedFeatures:
    """Return a pandas frame with plain columns: numbers, truth values, dates, text or categories, NaN for missing values.

    The caller's frame is not changed. Nullable and arrow-backed columns become numpy ones, names become text, and a
    frame whose columns are all sparse, zeros left out, becomes a CSR matrix.
    """
    names = tuple(".".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in X.columns)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"X has several columns called {', '.join(map(repr, twice[:5]))}; give each its own name.")
    if not names:
        raise InputError("X has no columns.")
    if all(_leaves_out_zeros(dtype) for dtype in X.dtypes):
        return X.sparse.to_coo().tocsr(), names
    frame = X.reset_index(drop=True)
    if names != tuple(frame.columns):
        frame.columns = list(names)
    changed = {}
    for name, dtype in zip(names, frame.dtypes):
        if _is_plain(dtype):
            continue
        column = frame[name]
        plain = _plain_column(column, name)
        if plain is not column:
            changed[name] = plain
    return (frame.assign(**changed) if changed else frame), names


def _leaves_out_zeros(dtype: Any) -> bool:
    """Say whether a column is sparse as a CSR matrix is: numbers, and what is not stored is 0."""
    sparse = hasattr(dtype, "fill_value") and hasattr(dtype, "subtype")
    return sparse and dtype.subtype.kind in "fiub" and dtype.fill_value == 0


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fiubmM" and dtype.itemsize <= 8


def _plain_column(column: Any, name: str) -> Any:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column
    if isinstance(dtype, pd.DatetimeTZDtype):
        return column.dt.tz_convert("UTC").dt.tz_localize(None)
    if isinstance(dtype, pd.SparseDtype):
        dense = column.sparse.to_dense()
        return dense if _is_plain(dense.dtype) else _plain_column(dense, name)
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return _plain_numbers(column, name)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return pd.to_datetime(column.astype(object), utc=True).dt.tz_localize(None)
    if pd.api.types.is_timedelta64_dtype(dtype) or dtype.kind == "m":
        return pd.to_timedelta(column.astype(object))
    if isinstance(dtype, pd.PeriodDtype):
        return column.dt.to_timestamp()
    if dtype.kind == "O" or pd.api.types.is_string_dtype(dtype):
        return _plain_text(column, name)
    raise KindError(f"column {name!r} has the type {dtype}; turn it into numbers, dates or text first.")


def _plain_numbers(column: Any, name: str) -> Any:
    import pandas as pd

    if isinstance(column.dtype, np.dtype):
        if column.dtype.kind == "c":
            raise KindError(f"column {name!r} holds complex numbers; split it into real ones first.")
        return column.astype(float)
    kind = "float64"
    if not column.isna().any():
        truth = pd.api.types.is_bool_dtype(column.dtype)
        whole = pd.api.types.is_integer_dtype(column.dtype)
        unsigned = whole and pd.api.types.is_unsigned_integer_dtype(column.dtype)
        kind = "bool" if truth else "uint64" if unsigned else "int64" if whole else "float64"
    values = column.to_numpy(dtype=kind, na_value=np.nan) if kind == "float64" else column.to_numpy(dtype=kind)
    return pd.Series(values, index=column.index, name=column.name)


def _plain_text(column: Any, name: str) -> Any:
    """Return text as it is, an object column of numbers as numbers, a mixed one as text, every missing mark as NaN."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "string":
        if column.dtype == object:
            lost = column.isna()
            odd = [v for v in column[lost] if not isinstance(v, float)] if lost.any() else []
            return column.where(~lost, np.nan) if odd else column
        same = getattr(column.dtype, "na_value", None)
        return column if isinstance(same, float) else column.astype(object).where(column.notna(), np.nan)
    if kind in ("empty", "boolean", "integer", "floating", "mixed-integer-float", "decimal"):
        return pd.Series(pd.to_numeric(column.astype(object).where(column.notna(), np.nan).astype(float)), name=name)
    if kind in ("datetime", "date", "datetime64"):
        return pd.to_datetime(column, utc=True).dt.tz_localize(None)
    if any(isinstance(v, (list, tuple, dict, set, np.ndarray)) for v in column):
        raise KindError(f"column {name!r} holds lists or tables in its cells; a feature needs one value per row.")
    return column.astype(object).where(column.isna(), column.map(str)).where(column.notna(), np.nan)


def check_features(X: Any, names: tuple[str, ...]) -> None:
    """Refuse infinite values, naming the first place."""
    if hasattr(X, "tocsr"):
        if X.dtype.kind == "f" and np.any(np.isinf(X.data)):
            entry = int(np.argmax(np.isinf(X.data)))
            row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
            _refuse_infinite(row, names[int(X.indices[entry])])
        return
    if hasattr(X, "iloc"):
        for k, dtype in enumerate(X.dtypes):
            if isinstance(dtype, np.dtype) and dtype.kind == "f":
                bad = np.isinf(X.iloc[:, k].to_numpy())
                if bad.any():
                    _refuse_infinite(int(np.argmax(bad)), names[k])
        return
    if X.dtype.kind == "f" and np.any(np.isinf(X)):
        row, column = np.argwhere(np.isinf(X))[0].tolist()
        _refuse_infinite(row, names[column])


def _refuse_infinite(row: int, name: str) -> None:
    raise InputError(
        f"column {name!r} holds infinite values (first: row {row + 1}, counted from 1); replace or remove them."
    )


def content_of(X: Any) -> list[Any]:
    """Return plain arrays and values from which the fingerprint is made; text as a 64-bit hash of each cell."""
    if hasattr(X, "tocsr"):
        return [X.shape, X.data, X.indices, X.indptr]
    if not hasattr(X, "iloc"):
        return [X]
    if all(isinstance(d, np.dtype) and d.kind == "f" for d in X.dtypes):
        return [list(X.columns), X]
    from pandas.util import hash_array

    parts: list[Any] = [list(X.columns)]
    for k, dtype in enumerate(X.dtypes):
        column = X.iloc[:, k]
        values = column.to_numpy() if _is_plain(dtype) else np.asarray(column, dtype=object)
        parts.append(values if _is_plain(dtype) else hash_array(np.where(column.isna(), "\0", values), categorize=True))
    return parts
