"""Parquet files, by pyarrow."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError, MissingExtra
from unseen.core.unpacking import check_unpacked
from unseen.datasets.source import SourceFile

__all__ = ["read_parquet"]

# bytes of a value in memory by its kind in the file; text counts as a pointer, its letters as the file has them
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}


def read_parquet(source: SourceFile) -> Any:
    """Return the table as a pandas frame; a named index becomes columns again, text categories."""
    import pandas as pd

    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "frames", "reading Parquet files") from error
    try:
        with source.seekable() as file:
            check_unpacked(_unpacked_size(file), source.path)
            file.seek(0)
            frame = pd.read_parquet(file, engine="pyarrow")
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the file {str(source.path)!r} cannot be read as Parquet: {reason}") from error
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named) if named else frame
    text = [c for c in frame.columns if pd.api.types.infer_dtype(frame[c], skipna=True) == "string"]
    return frame.astype(dict.fromkeys(text, "category")) if text else frame


def _unpacked_size(file: Any) -> int:
    """Return about how many bytes the table takes; a column of equal values takes none in the file, whatever its length."""
    from pyarrow.parquet import read_metadata

    found = read_metadata(file)
    width = sum(WIDTHS.get(found.schema.column(k).physical_type, 8) for k in range(found.num_columns))
    letters = sum(int(found.row_group(k).total_byte_size) for k in range(found.num_row_groups))
    return max(int(found.num_rows) * int(width), letters)
