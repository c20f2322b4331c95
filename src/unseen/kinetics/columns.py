"""A table the user holds, in a file or in memory, as plain columns."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, KindError

__all__ = ["columns_of"]


def columns_of(table: Any, what: str) -> dict[str, list[Any]]:
    """Columns of a CSV or Parquet file, a frame, or a mapping of columns, as plain lists.

    Parameters
    ----------
    table : path, pandas or polars frame, mapping
        The table.
    what : str
        What to call it in messages.

    Returns
    -------
    dict
        ``{column: values}``, in order.

    Examples
    --------
    >>> columns_of({"subject": ["a"], "time": [5]}, "ttr")
    {'subject': ['a'], 'time': [5]}
    """
    if isinstance(table, (str, PathLike)):
        table = _read_file(table, what)
    if hasattr(table, "columns") and not isinstance(table, Mapping):
        return {str(c): _listed(table[c]) for c in table.columns}
    if isinstance(table, Mapping):
        columns = {str(k): _listed(v) for k, v in table.items()}
        if len({len(v) for v in columns.values()}) > 1:
            raise InputError(f"the columns of the {what} table differ in length.")
        return columns
    raise KindError(f"the {what} table is a {type(table).__name__}; give a path, a data frame or a mapping of columns.")


def _listed(column: Any) -> list[Any]:
    values = column.tolist() if hasattr(column, "tolist") else column
    return values.to_list() if hasattr(values, "to_list") else list(values)


def _read_file(path: str | PathLike[str], what: str) -> Any:
    from unseen.datasets.delimited import read_delimited
    from unseen.datasets.parquet import read_parquet
    from unseen.datasets.source import open_source

    if not Path(path).exists():
        raise InputError(f"the {what} file {str(path)!r} does not exist.")
    try:
        source = open_source(path)
        if source.kind == "parquet":
            return read_parquet(source)
        if source.kind == "delimited":
            return read_delimited(source, sep=None, decimal=None, as_text=("subject", "analyte"))
    except InputError as error:
        raise InputError(f"the {what} table: {error}") from error
    raise InputError(f"the {what} file {str(path)!r} is no table that can be read; give CSV, TSV or Parquet.")
