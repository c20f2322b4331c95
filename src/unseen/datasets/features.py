"""Features of any kind as one of three: array, CSR matrix or pandas frame with plain columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from unseen.core.errors import InputError, KindError, MissingExtra

__all__ = ["check_features", "content_of", "features_of", "flattened", "plain_frame"]

Named = tuple[Any, tuple[str, ...]]


def features_of(X: Any) -> Named:
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
        return plain_frame(_foreign(X))
    if getattr(getattr(X, "dtype", None), "names", None):
        import pandas as pd

        return plain_frame(pd.DataFrame(np.asarray(X)))
    return _array(X)


def flattened(X: Any) -> tuple[Any, tuple[int, ...]]:
    """Return arrays and tensors of more than two dimensions as one row per example, and the shape of an example.

    Anything else comes back as it is, with an empty shape.

    Examples
    --------
    >>> rows, shape = flattened(np.zeros((5, 1, 4, 4)))
    >>> rows.shape, shape
    ((5, 16), (1, 4, 4))
    """
    if hasattr(X, "detach") and hasattr(X, "cpu"):
        X = X.detach().cpu().numpy()
    if not isinstance(X, np.ndarray) or X.ndim < 3:
        return X, ()
    return X.reshape(len(X), int(np.prod(X.shape[1:]))), X.shape[1:]


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(count))


def _sparse(X: Any) -> Named:
    if len(X.shape) != 2:
        raise InputError(f"X is sparse with {len(X.shape)} dimensions; it must be a table of rows and columns.")
    if X.dtype.kind not in "fiub":
        raise KindError(f"X is sparse and holds values of type {X.dtype}; it must hold numbers.")
    matrix = X.tocsr()
    if matrix.shape[1] == 0:
        raise InputError("X has no columns.")
    return matrix, _numbered(matrix.shape[1])


def _array(X: Any) -> Named:
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
    return array, _numbered(array.shape[1])


def _as_floats(array: Any) -> Any:
    try:
        if array.dtype.kind in "cmM":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise KindError(
            "X holds values that are not numbers; give a pandas or polars frame, so that text columns can be told apart."
        ) from error


def _foreign(X: Any) -> Any:
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


def plain_frame(X: Any) -> Named:
    """Return a pandas frame with plain columns: numbers, truth values, dates, text or categories, NaN where missing.

    The caller's frame is not changed. Nullable and arrow-backed columns become numpy ones, names become text, and a
    frame whose columns are all sparse becomes a CSR matrix.
    """
    names = tuple(".".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in X.columns)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"X has several columns called {', '.join(map(repr, twice[:5]))}; give each its own name.")
    if not names:
        raise InputError("X has no columns.")
    if all(hasattr(dtype, "fill_value") and hasattr(dtype, "subtype") for dtype in X.dtypes):
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
        return column.sparse.to_dense()
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
    """Text stays; an object column of numbers becomes numbers, a mixed one text, and every missing mark NaN."""
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
    """Return plain arrays and values that stand for the content, to be hashed; text by a 64-bit hash of each cell."""
    if hasattr(X, "tocsr"):
        return [X.shape, X.data, X.indices, X.indptr]
    if not hasattr(X, "iloc"):
        return [X]
    if all(isinstance(d, np.dtype) and d.kind == "f" for d in X.dtypes):
        return [list(X.columns), X.to_numpy()]
    from pandas.util import hash_array

    parts: list[Any] = [list(X.columns)]
    for k, dtype in enumerate(X.dtypes):
        column = X.iloc[:, k]
        values = column.to_numpy() if _is_plain(dtype) else np.asarray(column, dtype=object)
        parts.append(values if _is_plain(dtype) else hash_array(np.where(column.isna(), "\0", values), categorize=True))
    return parts
