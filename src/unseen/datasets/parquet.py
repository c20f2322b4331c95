"""Parquet files, by pyarrow."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError, MissingExtra
from unseen.datasets.source import SourceFile

__all__ = ["read_parquet"]


def read_parquet(source: SourceFile) -> Any:
    """Return the table as a pandas frame; a named index becomes columns again, text categories."""
    import pandas as pd

    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "frames", "reading Parquet files") from error
    try:
        with source.seekable() as file:
            frame = pd.read_parquet(file, engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the file {str(source.path)!r} cannot be read as Parquet: {reason}") from error
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named) if named else frame
    text = [c for c in frame.columns if pd.api.types.infer_dtype(frame[c], skipna=True) == "string"]
    return frame.astype(dict.fromkeys(text, "category")) if text else frame
