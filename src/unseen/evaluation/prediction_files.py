"""Files of predictions: columns read, and matched by the names of their rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, UnknownName
from unseen.core.notes import Note, note

__all__ = ["Labels", "MatchedRows", "column", "is_missing", "labels_of", "match_rows", "numbers", "sources_by_name"]

# a whole number that a column of decimals has turned into 1.0
WHOLE = re.compile(r"[+-]?\d+\.0+")
# names listed in a message before "and ... more"
SHOWN = 5
# kinds of cells, as pandas calls them: without text, and with one label for equal cells
NO_TEXT = frozenset({"integer", "floating", "mixed-integer-float", "boolean", "empty"})
ONE_KIND = frozenset({"integer", "floating", "mixed-integer-float", "boolean", "string"})
DROP = "mend them, or empty them and leave them out with missing='drop'"


def sources_by_name(sources: Sequence[Any], names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the sources by name: those given, the keys of a mapping, file names, or file 1, file 2, ..."""
    if len(sources) == 1 and isinstance(sources[0], Mapping) and not hasattr(sources[0], "columns"):
        names, sources = list(map(str, sources[0])), list(sources[0].values())
    if names is None:
        # "." has no name of its own, though a folder of Parquet files is a table
        names = [
            Path(s).name or Path(s).resolve().name if isinstance(s, (str, PathLike)) else f"file {k}"
            for k, s in enumerate(sources, 1)
        ]
        if len(set(names)) < len(names):
            names = [str(s) if isinstance(s, (str, PathLike)) else n for s, n in zip(sources, names)]
    if len(names) != len(sources) or len(set(names)) < len(names):
        raise InputError(f"{len(sources)} files need as many different names; given: {', '.join(map(str, names))}.")
    return dict(zip(map(str, names), sources))


def column(frame: Any, name: str, file: str) -> Array:
    """Return a column's values, or say which columns there are."""
    if name not in frame.columns:
        raise UnknownName(f"column of {file}", name, map(str, frame.columns))
    return np.asarray(frame[name].astype(object).to_numpy(), dtype=object)


def is_missing(values: Array) -> Array:
    """Say which values are None, NaN or empty."""
    import pandas as pd

    empty: Array = np.asarray(pd.isna(values))
    if _kind(values) not in NO_TEXT:
        empty = empty | np.array([isinstance(v, str) and not v.strip() for v in values])
    return empty


def _kind(values: Array) -> str:
    """Return what the cells of a column are, as pandas calls it; "integer", "string" and so on if they are all of one kind."""
    import pandas as pd

    return str(pd.api.types.infer_dtype(values, skipna=True))


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
    import pandas as pd

    found = []
    for values in columns:
        if _kind(values) in ONE_KIND:  # then equal cells have equal labels, and each is looked at once
            codes, distinct = pd.factorize(values, use_na_sentinel=False)
            found.append((codes, [_label(v) for v in distinct]))
        else:
            found.append((np.arange(len(values)), [_label(v) for v in values]))
    distinct_labels = sorted({label for _, labels in found for label in labels})
    if ends := [label for label in distinct_labels if label.endswith("\x00")]:
        raise InputError(
            f"the label {ends[0]!r} ends in a NUL character, which arrays of text cannot hold; remove it from the column."
        )
    classes = np.array(distinct_labels)
    places = {label: k for k, label in enumerate(classes.tolist())}
    made = [np.array([places[label] for label in labels], dtype=np.int64)[codes] for codes, labels in found]
    return Labels(classes, made)


def _label(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    text = str(value).strip()
    # "007" stays what it is
    return text.partition(".")[0] if WHOLE.fullmatch(text) else text


@dataclass(frozen=True)
class MatchedRows:
    """Rows that every file has: their names, where they are in each file, and the rows without a partner."""

    ids: Array
    rows: dict[str, Ints]
    unmatched: dict[str, list[Any]]
    notes: tuple[Note, ...]


def match_rows(frames: Mapping[str, Any], id: str | None) -> MatchedRows:
    """Match the rows of all files by name, or by place if no column of names is given."""
    if id is None:
        return _match_by_place(frames)
    if (numbered := _same_numbers(frames, id)) is not None:
        n = len(numbered)
        return MatchedRows(
            np.array(list(map(str, numbered.tolist())), dtype=object),
            {file: np.arange(n) for file in frames},
            {file: [] for file in frames},
            (),
        )
    keys = {file: _keys(frame, id, file) for file, frame in frames.items()}
    first, *others = (list(k) for k in keys.values())
    if all(k == first for k in others):  # the same rows in the same order, as most pairs of files have them
        n = len(first)
        rows = {file: np.arange(n) for file in keys}
        return MatchedRows(np.array(first, dtype=object), rows, {file: [] for file in keys}, ())
    shared = set.intersection(*(set(k) for k in keys.values()))
    if not shared:
        heads = "; ".join(f"{file}: {', '.join(map(repr, list(k)[:3]))}" for file, k in keys.items())
        raise InputError(f"the files share no value of {id!r} ({heads}); check that it names the same thing in each.")
    order = [key for key in next(iter(keys.values())) if key in shared]
    rows = {file: np.array([k[key] for key in order], dtype=np.int64) for file, k in keys.items()}
    unmatched = {file: [key for key in k if key not in shared] for file, k in keys.items()}
    lost = {file: left for file, left in unmatched.items() if left}
    notes = tuple(
        note("U025", f"{len(left)} of {len(keys[file])} rows of {file} are not in every file: {_first_few(left)}")
        for file, left in lost.items()
    )
    return MatchedRows(np.array(order, dtype=object), rows, unmatched, notes)


def _same_numbers(frames: Mapping[str, Any], id: str) -> Array | None:
    """Return the names of rows if they are whole numbers, each once, and the same in all files; looking them up as words takes ten times as long."""
    found: Array | None = None
    for file, frame in frames.items():
        values = column(frame, id, file)
        if _kind(values) != "integer" or is_missing(values).any():
            return None
        try:
            whole = values.astype(np.int64)
        except (OverflowError, TypeError, ValueError):
            return None
        if found is None:
            found = whole
            if not np.diff(np.sort(whole)).all():  # numpy's `unique` hashes, which takes ten times as long
                return None
        elif not np.array_equal(found, whole):
            return None
    return found


def _keys(frame: Any, id: str, file: str) -> dict[Any, int]:
    values = column(frame, id, file)
    lost = is_missing(values)
    if lost.any():
        raise InputError(
            f"{file}: {id!r} is missing in {int(lost.sum())} rows (first: row {int(np.argmax(lost)) + 1})."
        )
    labels = _row_labels(values)
    keys: dict[Any, int] = dict(zip(labels, range(len(labels))))
    if len(keys) < len(labels):
        times = Counter(labels)
        twice = [label for label, count in times.items() if count > 1]
        raise InputError(
            f"{file}: {len(twice)} values of {id!r} stand in several rows ({_first_few(twice)}); every row needs its "
            "own name. Repeated answers to one item belong in one row (their mean), or need a finer id and cluster="
            f"{id!r}."
        )
    return keys


def _row_labels(values: Array) -> list[str]:
    """Return the label of each row; whole numbers and plain words need no closer look."""
    kind = _kind(values)
    if kind == "integer":
        return list(map(str, values.tolist()))
    if kind == "string":
        return [_label(v) if "." in v or v[:1].isspace() or v[-1:].isspace() else v for v in values]
    return [_label(v) for v in values]


def _match_by_place(frames: Mapping[str, Any]) -> MatchedRows:
    sizes = {file: len(frame) for file, frame in frames.items()}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{file}: {size}" for file, size in sizes.items())
        raise InputError(
            f"the files have different numbers of rows ({counts}); name the column by which rows can be matched."
        )
    n = next(iter(sizes.values()))
    text = "rows were paired by their place in the files, as no column of names was given"
    notes = (note("U016", text),) if len(frames) > 1 else ()
    return MatchedRows(
        np.arange(1, n + 1).astype(object), dict.fromkeys(frames, np.arange(n)), {f: [] for f in frames}, notes
    )


def _first_few(values: Sequence[Any]) -> str:
    shown = ", ".join(map(str, values[:SHOWN]))
    return shown if len(values) <= SHOWN else f"{shown}, and {len(values) - SHOWN} more"
