"""A file of named columns as a pandas frame: CSV, TSV, Parquet or JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from typing import Any

from unseen.core.errors import InputError, KindError
from unseen.datasets.source import open_source

__all__ = ["read_frame"]

JSON_LINES = (".jsonl", ".ndjson", ".json")


def read_frame(source: Any, as_text: Sequence[str] = (), sep: str | None = None) -> Any:
    """Return a table of predictions as a pandas frame: a CSV, TSV, Parquet or JSON Lines file, or a frame."""
    if isinstance(source, (str, PathLike)):
        name = str(source).lower().removesuffix(".gz")
        frame = _json_lines(source) if name.endswith(JSON_LINES) else _file(source, as_text, sep)
    elif hasattr(source, "iloc") and hasattr(source, "columns"):
        frame = source
    elif hasattr(source, "columns"):
        import narwhals

        frame = narwhals.from_native(source, eager_only=True).to_pandas()
    else:
        raise KindError(f"a {type(source).__name__} is no file of predictions; give a path or a data frame.")
    if len(frame) == 0:
        raise InputError(f"{_name_of(source)} has no rows.")
    return frame.reset_index(drop=True)


def _name_of(source: Any) -> str:
    return repr(str(source)) if isinstance(source, (str, PathLike)) else "the frame"


def _file(source: str | PathLike[str], as_text: Sequence[str], sep: str | None) -> Any:
    from unseen.datasets.delimited import read_delimited
    from unseen.datasets.parquet import read_parquet

    opened = open_source(source)
    if opened.kind == "parquet":
        return read_parquet(opened)
    if opened.kind != "delimited":
        raise InputError(f"{str(source)!r} is no file of predictions; give CSV, TSV, Parquet or JSON Lines.")
    return read_delimited(opened, sep=sep, decimal=None, as_text=set(as_text))


def _json_lines(source: str | PathLike[str]) -> Any:
    import pandas as pd

    rows = []
    try:
        text = open_source(source).whole().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(source)!r} is not UTF-8, as JSON must be: byte {error.start + 1} cannot be read; save the file as UTF-8."
        ) from error
    if text.lstrip().startswith("["):
        rows = _json(text, source, 1)
    else:
        rows = [_json(line, source, k) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{str(source)!r}: every line must be a JSON object with named values.")
    return pd.DataFrame(rows)


def _json(text: str, source: Any, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{str(source)!r}, line {line}: not JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets nested as deep
        raise InputError(f"{str(source)!r}, line {line}: JSON that cannot be read ({error}).") from error
