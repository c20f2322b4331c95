"""What happens to features inside every fit, before a named learner sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.models.catalogue import Entry

__all__ = ["days_of", "dense", "prepare"]

MIN_LEVEL_COUNT = 3  # a level seen less often would be in hardly any training part
MAX_LEVELS = 50  # a column of more levels would fill the table with 0/1 columns


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array."""
    return X.toarray() if hasattr(X, "toarray") else X


def days_of(X: Any) -> Any:
    """Return a frame of dates and durations as days (since 1970), NaN where missing.

    Examples
    --------
    >>> import pandas as pd
    >>> days_of(pd.DataFrame({"d": pd.to_datetime(["1970-01-02 12:00", None])})).tolist()
    [[1.5], [nan]]
    """
    columns = []
    for k in range(X.shape[1]):
        values = X.iloc[:, k].to_numpy()
        unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
        numbers = values.astype(unit).astype("int64") / 86_400e6
        columns.append(np.where(np.isnat(values), np.nan, numbers))
    return np.column_stack(columns)


def prepare(learner: Any, entry: Entry, data: Data) -> Any:
    """Return the learner with the steps its features need in front of it, all of them fitted inside each fit.

    Missing numbers are replaced by the median of the training part, with a 0/1 column that marks them; dates become
    days; categories become 0/1 columns, where a missing value is a level of its own, levels seen fewer than 3 times
    share one column, and at most 50 columns are made of one feature; levels never seen in training go with the rare
    ones. Numbers are standardised if the learner depends on their scale. Features that are numbers without gaps
    need none of this but the last, and get nothing else, so that fits stay quick.
    """
    from sklearn.pipeline import Pipeline

    steps = _for_frame(entry, data) if hasattr(data.X, "iloc") else _for_numbers(entry, data.X)
    if data.task == "regression" and entry.scaled_target:
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.preprocessing import StandardScaler

        learner = TransformedTargetRegressor(learner, transformer=StandardScaler())
    return Pipeline([*steps, ("model", learner)]) if steps else learner


def _imputer() -> Any:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _for_numbers(entry: Entry, X: Any) -> list[tuple[str, Any]]:
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    is_sparse = hasattr(X, "tocsr")
    values = X.data if is_sparse else X
    gaps = values.dtype.kind == "f" and bool(np.isnan(values).any())
    steps: list[tuple[str, Any]] = []
    if is_sparse and not entry.sparse:
        steps.append(("dense", FunctionTransformer(dense, accept_sparse=True)))
    if gaps and not entry.missing:
        steps.append(("impute", _imputer()))
    if entry.scaled:
        steps.append(("scale", StandardScaler(with_mean=not is_sparse or not entry.sparse)))
    return steps


def _for_frame(entry: Entry, data: Data) -> list[tuple[str, Any]]:
    numbers, dates, categories = _sorted_columns(data.X)
    gaps = bool(data.X[numbers].isna().any(axis=None)) if numbers else False
    if not dates and not categories and (not gaps or entry.missing):
        return _scaler_only(entry)
    if entry.name == "dummy":
        return []
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    impute = [] if entry.missing else [("impute", _imputer())]
    parts = []
    if numbers:
        parts.append(("numbers", _chain([*(impute if gaps else []), *_scaler_only(entry)]), numbers))
    if dates:
        in_days = [("days", FunctionTransformer(days_of)), *impute, *_scaler_only(entry)]
        parts.append(("dates", _chain(in_days), dates))
    if categories:
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=MIN_LEVEL_COUNT,
            max_categories=MAX_LEVELS,
            sparse_output=False,
        )
        parts.append(("categories", one_hot, categories))
    return [("features", ColumnTransformer(parts))]


def _sorted_columns(X: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the names of columns that hold numbers, dates and categories."""
    kinds = {name: dtype.kind if isinstance(dtype, np.dtype) else "O" for name, dtype in zip(X.columns, X.dtypes)}
    numbers = [name for name, kind in kinds.items() if kind in "fiub"]
    dates = [name for name, kind in kinds.items() if kind in "mM"]
    return numbers, dates, [name for name, kind in kinds.items() if kind not in "fiubmM"]


def _scaler_only(entry: Entry) -> list[tuple[str, Any]]:
    from sklearn.preprocessing import StandardScaler

    return [("scale", StandardScaler())] if entry.scaled else []


def _chain(steps: list[tuple[str, Any]]) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline(steps) if steps else "passthrough"
