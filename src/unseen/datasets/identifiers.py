"""Columns that only name the rows: text without spaces, different in every row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.notes import note

__all__ = ["identifier_columns", "without_identifiers"]

FEWEST_ROWS = 10  # in fewer rows the values of a category may all differ
LONGEST = 64  # characters; a longer text is a text, even without a space
LISTED = 5  # a line holds about so many names


def identifier_columns(X: Any) -> list[str]:
    """Return the columns of a frame whose values are texts without spaces and differ from row to row.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"patient": [f"P{k:03}" for k in range(12)], "age": range(12), "sex": list("mf") * 6})
    >>> identifier_columns(X)
    ['patient']
    """
    if not hasattr(X, "iloc") or len(X) < FEWEST_ROWS:
        return []
    return [str(name) for k, name in enumerate(X.columns) if _names_rows(X.iloc[:, k])]


def _names_rows(column: Any) -> bool:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiubmM":
        return False
    if column.isna().any() or column.nunique() < len(column):
        return False
    values = column.astype(object)
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return False
    return all(len(v) <= LONGEST and not any(c.isspace() for c in v) for v in values)


def without_identifiers(data: Data) -> Data:
    """Return the sample without columns that only name its rows, with a note; the first names them, if nothing else does.

    Examples
    --------
    >>> import pandas as pd
    >>> from unseen.datasets import as_data
    >>> X = pd.DataFrame({"patient": [f"P{k:03}" for k in range(12)], "age": range(12)})
    >>> data = without_identifiers(as_data(X, [0, 1] * 6))
    >>> data.names, str(data.ids[0]), data.notes[0].code
    (('age',), 'P000', 'U044')
    """
    found = identifier_columns(data.X)
    if not found or len(found) == data.n_features:
        return data
    listed = ", ".join(found[:LISTED]) + (", ..." if len(found) > LISTED else "")
    text = f"{listed} {'differ' if len(found) > 1 else 'differs'} in every row and {'are' if len(found) > 1 else 'is'} no feature"
    ids = np.asarray(data.X[found[0]].astype(str), dtype=str) if data.ids is None else data.ids
    return replace(
        data,
        X=data.X.drop(columns=found),
        names=tuple(name for name in data.names if name not in found),
        ids=ids,
        notes=(*data.notes, note("U044", text)),
    )
