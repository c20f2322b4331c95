"""Files of predictions: read, picked by column, and joined by the names of their rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.notes import Note, note
from unseen.datasets.source import open_source

__all__ = ["Joined", "Labels", "column", "join", "labels_of", "lacking", "named", "numbers", "read_frame"]

WHOLE = re.compile(r"[+-]?\d+\.0+")
JSON_LINES = (".jsonl", ".ndjson", ".json")
SHOWN = 5
DROP = "mend them, or empty them and leave them out with missing='drop'"


def named(sources: Sequence[Any], names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the sources by name: those given, the keys of a mapping, file names, or file 1, file 2, ..."""
    if len(sources) == 1 and isinstance(sources[0], Mapping) and not hasattr(sources[0], "columns"):
        names, sources = list(map(str, sources[0])), list(sources[0].values())
    if names is None:
        names = [Path(s).name if isinstance(s, (str, PathLike)) else f"file {k}" for k, s in enumerate(sources, 1)]
        if len(set(names)) < len(names):
            names = [str(s) if isinstance(s, (str, PathLike)) else n for s, n in zip(sources, names)]
    if len(names) != len(sources) or len(set(names)) < len(names):
        raise InputError(f"{len(sources)} files need as many different names; given: {', '.join(map(str, names))}.")
    return dict(zip(map(str, names), sources))


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
        raise InputError(f"{_called(source)} has no rows.")
    return frame.reset_index(drop=True)


def _called(source: Any) -> str:
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
    text = open_source(source).whole().decode("utf-8-sig")
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


def column(frame: Any, name: str, file: str) -> Array:
    """Return a column's values, or say which columns there are."""
    if name not in frame.columns:
        raise UnknownName(f"column of {file}", name, map(str, frame.columns))
    return np.asarray(frame[name].astype(object).to_numpy(), dtype=object)


def lacking(values: Array) -> Array:
    """Say which values are None, NaN or empty."""
    import pandas as pd

    return np.asarray(pd.isna(values)) | np.array([isinstance(v, str) and not v.strip() for v in values])


def numbers(values: Array, what: str, ids: Array, advice: str = DROP) -> Floats:
    """Return finite numbers, or say which row is not one."""
    import pandas as pd

    out = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(dtype=float)
    bad = ~np.isfinite(out)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{what} is no finite number in {int(bad.sum())} rows (first: {ids[first]!r} has {values[first]!r}); {advice}."
        )
    return out


@dataclass(frozen=True)
class Labels:
    """Label columns as codes over one sorted set of classes."""

    classes: Array
    codes: list[Ints]


def labels_of(columns: Sequence[Array]) -> Labels:
    """Return several label columns over one set of classes; 1, 1.0 and "1" are the same label.

    Examples
    --------
    >>> made = labels_of([np.array(["1", "0"], object), np.array([1.0, 2], object)])
    >>> made.classes.tolist(), [c.tolist() for c in made.codes]
    (['0', '1', '2'], [[1, 0], [1, 2]])
    """
    texts = [np.array([_label(v) for v in values]) for values in columns]
    classes, codes = np.unique(np.concatenate(texts), return_inverse=True)
    return Labels(classes, list(np.split(codes.astype(np.int64), np.cumsum([len(t) for t in texts])[:-1])))


def _label(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    text = str(value).strip()
    # a whole number that a column of decimals has turned into 1.0; "007" stays what it is
    return text.partition(".")[0] if WHOLE.fullmatch(text) else text


@dataclass(frozen=True)
class Joined:
    """Rows that every file has: their names, where they are in each file, and the rows without a partner."""

    ids: Array
    rows: dict[str, Ints]
    unmatched: dict[str, list[Any]]
    notes: tuple[Note, ...]


def join(frames: Mapping[str, Any], id: str | None) -> Joined:
    """Match the rows of all files by name, or by place where no column of names is given."""
    if id is None:
        return _by_place(frames)
    keys = {file: _keys(frame, id, file) for file, frame in frames.items()}
    shared = set.intersection(*(set(k) for k in keys.values()))
    if not shared:
        heads = "; ".join(f"{file}: {', '.join(map(repr, list(k)[:3]))}" for file, k in keys.items())
        raise InputError(f"the files share no value of {id!r} ({heads}); check that it names the same thing in each.")
    order = [key for key in next(iter(keys.values())) if key in shared]
    rows = {file: np.array([k[key] for key in order], dtype=np.int64) for file, k in keys.items()}
    unmatched = {file: [key for key in k if key not in shared] for file, k in keys.items()}
    lost = {file: left for file, left in unmatched.items() if left}
    notes = tuple(
        note("U025", f"{len(left)} of {len(keys[file])} rows of {file} are not in every file: {_some(left)}")
        for file, left in lost.items()
    )
    return Joined(np.array(order, dtype=object), rows, unmatched, notes)


def _keys(frame: Any, id: str, file: str) -> dict[Any, int]:
    values = column(frame, id, file)
    lost = lacking(values)
    if lost.any():
        raise InputError(
            f"{file}: {id!r} is missing in {int(lost.sum())} rows (first: row {int(np.argmax(lost)) + 1})."
        )
    keys: dict[Any, int] = {}
    twice: dict[Any, None] = {}
    for row, value in enumerate(values):
        key = _label(value)
        if key in keys:
            twice[key] = None
        keys[key] = row
    if twice:
        raise InputError(
            f"{file}: {len(twice)} values of {id!r} stand in several rows ({_some(list(twice))}); every row needs its "
            "own name. Repeated answers to one item belong in one row (their mean), or need a finer id and cluster="
            f"{id!r}."
        )
    return keys


def _by_place(frames: Mapping[str, Any]) -> Joined:
    sizes = {file: len(frame) for file, frame in frames.items()}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{file}: {size}" for file, size in sizes.items())
        raise InputError(f"the files have different numbers of rows ({counts}); name the column that tells rows apart.")
    n = next(iter(sizes.values()))
    text = "rows were paired by their place in the files, as no column of names was given"
    notes = (note("U016", text),) if len(frames) > 1 else ()
    return Joined(
        np.arange(1, n + 1).astype(object), dict.fromkeys(frames, np.arange(n)), {f: [] for f in frames}, notes
    )


def _some(values: Sequence[Any]) -> str:
    shown = ", ".join(map(str, values[:SHOWN]))
    return shown if len(values) <= SHOWN else f"{shown}, and {len(values) - SHOWN} more"
