"""A file, a folder of Parquet files or a bundled name as checked data, and where the features of a sample were read."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data, Task
from unseen.core.errors import InputError, UnknownName
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.bundled import load, names
from unseen.datasets.conversion import as_data, missing_in, part_of, with_positive
from unseen.datasets.identifiers import without_identifiers
from unseen.datasets.source import SourceFile, open_source

__all__ = ["Origin", "origin_of", "read", "subsample"]


@dataclass(frozen=True)
class Origin:
    """Where a sample was read, and how: enough for another process that reaches the path to read the same rows.

    Parameters
    ----------
    path : str
        Absolute path of the file or folder.
    target : str or None
        As in `read`.
    options : tuple of pairs
        The other arguments of `read`.
    fingerprint : str
        Of what was read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "small.csv"
    ...     _ = file.write_text("a,y\\n1,u\\n2,v\\n4,u\\n")
    ...     data = read(file, "y")
    ...     origin = origin_of(data.X)
    ...     origin.read().fingerprint == origin.fingerprint == data.fingerprint, len(origin.sizes())
    (True, 1)
    """

    path: str
    target: str | None
    options: tuple[tuple[str, Any], ...]
    fingerprint: str

    def read(self) -> Data:
        """Read it again."""
        return read(self.path, self.target, **dict(self.options))

    def sizes(self) -> tuple[int, ...]:
        """Return the bytes of the file, or of each file of the folder; nothing if this process does not reach it."""
        try:
            source = open_source(self.path)
            return tuple(part.stat().st_size for part in source.parts or (source.path,))
        except (InputError, OSError):
            return ()


_origins: dict[int, Origin] = {}


def origin_of(X: Any) -> Origin | None:
    """Return where these very features were read; None for others, copies and parts of them included."""
    return _origins.get(id(X))


def _note_origin(data: Data, path: str | PathLike[str], target: str | None, options: Mapping[str, Any]) -> None:
    """Remember where features come from as long as they exist; by identity, so that nothing made from them is taken for them."""
    origin = Origin(os.path.abspath(path), target, tuple(options.items()), data.fingerprint)
    _origins[id(data.X)] = origin
    weakref.finalize(data.X, _origins.pop, id(data.X), None)


@dataclass(frozen=True)
class _Reading:
    """What to read from a file: the target, the columns of the other roles, what to leave out, and how text is written."""

    target: str | None
    columns: Mapping[str, str | None]
    drop: tuple[str, ...]
    _: KW_ONLY
    sep: str | None
    decimal: str | None
    positive: Any
    task: Task | None
    missing_target: str


def read(
    path_or_name: str | PathLike[str],
    target: str | None = None,
    *,
    groups: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    ids: str | None = None,
    positive: Any = None,
    task: Task | None = None,
    n: int | None = None,
    seed: RandomState = 0,
    sep: str | None = None,
    decimal: str | None = None,
    drop: Iterable[str] = (),
    missing_target: str = "drop",
    keep_names: bool = False,
) -> Data:
    """Read a table from a file, or a bundled data set by name.

    Parameters
    ----------
    path_or_name : path or str
        CSV, TSV, Parquet, ARFF or NPZ, gzipped or not; a folder of Parquet files, which are one table in the order of their
        names; or a name that `unseen.datasets.names()` lists. If both exist, the file is read.
    target : str, optional
        Column to predict. A bundled set knows its own; an NPZ archive has `y` by default; any other file needs it.
    groups, time, weights, ids : str, optional
        Columns with the group, place in time, weight and name of a row; they are no features.
    positive : label, optional
        The class that sensitivity and AUC are about.
    task : {"classification", "regression"}, optional
        Guessed from the target by default, see `as_data`.
    n : int, optional
        Use a simple random sample of so many rows, in the order of the file. It is not stratified; only if the draw
        misses a class altogether, one row of that class replaces one of the largest class drawn.
    seed : int
        Seed of that sample.
    sep, decimal : str, optional
        Field separator and decimal mark of a text file; found from the file by default.
    drop : iterable of str
        Columns to leave out.
    missing_target : {"drop", "error"}
        Leave rows without a target out, with a note (U043), or refuse the file.
    keep_names : bool
        Keep text columns that differ in every row as features, as a trained model may want them; by default they are left out,
        with a note (U044).

    Returns
    -------
    Data
        Features from a table are a pandas frame with text as categories and NaN for a missing value; from an
        NPZ archive an array.

    Notes
    -----
    A first column without a name (row names written by R or pandas) becomes `ids` if its values differ, never a
    feature.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "patients.csv"
    ...     _ = file.write_text("age;dose;outcome\\n61;1,5;well\\n70;2,5;ill\\n55;0,5;well\\n")
    ...     data = read(file, "outcome")
    >>> data.X["dose"].tolist(), data.positive
    ([1.5, 2.5, 0.5], 'well')
    >>> read("breast-cancer", n=80, seed=0).n
    80
    """
    columns = {"groups": groups, "time": time, "weights": weights, "ids": ids}
    wanted = _Reading(
        target,
        columns,
        tuple(drop),
        sep=sep,
        decimal=decimal,
        positive=positive,
        task=task,
        missing_target=missing_target,
    )
    place = Path(path_or_name)
    from_file = _exists(place) or str(path_or_name) not in names()
    if from_file:
        data = _from_file(path_or_name, wanted)
        data = data if keep_names else without_identifiers(data)
    else:
        given = [k for k, v in (columns | {"sep": sep, "decimal": decimal, "drop": wanted.drop}).items() if v]
        if given:
            raise InputError(f"{path_or_name!r} is a bundled data set and takes no {given[0]}; that is for files.")
        data = _read_bundled(str(path_or_name), target, positive, task)
    data = data if n is None else subsample(data, n, seed)
    if from_file and (n is None or isinstance(seed, int)):  # a generator draws another sample the next time
        asked = {**columns, "positive": positive, "task": task, "n": n, "seed": seed if n else 0, "sep": sep}
        asked |= {"decimal": decimal, "drop": wanted.drop, "missing_target": missing_target, "keep_names": keep_names}
        _note_origin(data, path_or_name, target, asked)
    return data


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def _read_bundled(name: str, target: str | None, positive: Any, task: Task | None) -> Data:
    data = load(name)
    if target not in (None, data.target_name):
        raise UnknownName(f"target of {name!r}", target, [data.target_name], "A bundled set knows its own target.")
    if task in (None, data.task):
        return data if positive is None else with_positive(data, positive)
    again = as_data(data.X, data.y, positive=positive, task=task, target_name=data.target_name)
    return replace(again, names=data.names)


def subsample(data: Data, n: int, seed: RandomState = 0) -> Data:
    """Return a simple random sample of n rows in their old order, every class kept; rows without names are named by their old number.

    Examples
    --------
    >>> subsample(load("iris"), 30, seed=1).n
    30
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise InputError(f"n is {n!r}; the number of rows to use is a whole number of at least 2.")
    if n > data.n:
        raise InputError(f"n is {n}, but there are only {data.n} rows; leave n out, or use at most {data.n}.")
    order = stream(root_seed(seed), "subsample").permutation(data.n)
    rows = np.sort(_with_every_class(data, order, int(n)))
    part = part_of(data, rows)
    # so that what is found in the sample can be found in the file
    return part if part.ids is not None else replace(part, ids=rows + 1)


def _with_every_class(data: Data, order: Ints, n: int) -> Ints:
    if data.classes is None:
        return order[:n]
    if n < len(data.classes):
        raise InputError(f"n is {n}, but the target has {len(data.classes)} classes; use at least one row for each.")
    chosen = list(order[:n])
    counts = np.bincount(data.codes[order[:n]], minlength=len(data.classes))
    for code in np.flatnonzero(counts == 0):
        largest = int(np.argmax(counts))
        out = max(k for k, row in enumerate(chosen) if data.codes[row] == largest)
        chosen[out] = next(row for row in order[n:] if data.codes[row] == code)
        counts[largest] -= 1
        counts[code] += 1
    return np.array(chosen, dtype=np.int64)


def _from_file(path: str | PathLike[str], wanted: _Reading) -> Data:
    if not _exists(Path(path)) and isinstance(path, str) and not Path(path).suffix and "/" not in path:
        raise UnknownName("data set or file", path, names(), "A path to a file works too.")
    source = open_source(path)
    if source.kind != "delimited" and (wanted.sep or wanted.decimal):
        raise InputError(f"sep and decimal are for CSV and TSV files; {str(path)!r} is read as {source.kind}.")
    try:
        if source.kind == "npz":
            return _from_arrays(source, wanted)
        return _from_frame(_frame(source, wanted), source, wanted)
    except MemoryError as error:
        raise InputError(f"the file {str(path)!r} needs more memory than there is; read a part of it.") from error


def _frame(source: SourceFile, wanted: _Reading) -> Any:
    if source.kind == "parquet":
        from unseen.datasets.parquet import read_parquet

        return read_parquet(source)
    if source.kind == "arff":
        from unseen.datasets.arff import read_arff

        return read_arff(source)
    from unseen.datasets.delimited import read_delimited

    as_text = [c for c in (wanted.columns["groups"], wanted.columns["ids"]) if c is not None]
    return read_delimited(source, sep=wanted.sep, decimal=wanted.decimal, as_text=as_text)


def _from_frame(frame: Any, source: SourceFile, wanted: _Reading) -> Data:
    target = wanted.target
    held = [str(c) for c in frame.columns]
    if len(set(held)) < len(held):
        raise InputError(f"{str(source.path)!r} has several columns of the same name; give each its own.")
    frame.columns = held
    if target is None:
        shown = ", ".join(held[:8]) + (", ..." if len(held) > 8 else "")
        raise InputError(f"which column of {str(source.path)!r} is to be predicted? Give --target, one of: {shown}.")
    roles = {"target": target} | {role: name for role, name in wanted.columns.items() if name is not None}
    _check_columns(roles, wanted.drop, held, source)
    row_names = _row_names(frame, held, roles, source)
    used = {*roles.values(), *wanted.drop, *([held[0]] if row_names is not None or held[0] == "" else [])}
    features = frame.drop(columns=[c for c in held if c in used])
    if features.shape[1] == 0:
        raise InputError(
            f"no feature column is left in {str(source.path)!r} beside {', '.join(map(repr, sorted(used)))}."
        )
    _check_target(frame[target].to_numpy(), target, source, wanted)
    parts = {role: None if name is None else frame[name] for role, name in wanted.columns.items()}
    order = None if parts["time"] is None else _check_time(parts["time"], source)
    return as_data(
        features,
        frame[target],
        groups=parts["groups"],
        sample_weight=parts["weights"],
        time=order,
        ids=row_names if parts["ids"] is None else parts["ids"],
        positive=wanted.positive,
        task=wanted.task,
        target_name=target,
        missing_target=wanted.missing_target,
    )


def _check_columns(columns: dict[str, str], drop: tuple[str, ...], held: list[str], source: SourceFile) -> None:
    for role, name in [*columns.items(), *(("drop", name) for name in drop)]:
        if name not in held:
            data_first = sum(h.replace(".", "", 1).isdigit() for h in held) > len(held) / 2
            hint = " Its first line looks like data: add a line of column names." if data_first else ""
            raise UnknownName(f"{role} column", name, held, f"The file is {str(source.path)!r}.{hint}")
    roles: dict[str, str] = {}
    for role, name in [*columns.items(), *(("drop", name) for name in drop)]:
        if name in roles and roles[name] != role:
            raise InputError(f"the column {name!r} was given both as {roles[name]} and as {role}; it can be one only.")
        roles[name] = role


def _row_names(frame: Any, held: list[str], roles: dict[str, str], source: SourceFile) -> Any:
    """Return a first column without a name if it names the rows; refuse other columns without a name."""
    if "" in held[1:]:
        raise InputError(f"column {held.index('', 1) + 1} of {str(source.path)!r} has no name; give it one.")
    if held[0] != "" or "ids" in roles:
        return None
    column = frame[""]
    if column.isna().any() or column.nunique() < len(column):
        raise InputError(f"the first column of {str(source.path)!r} has no name and its values repeat; give it a name.")
    return column


def _check_target(values: Array, name: str, source: SourceFile, wanted: _Reading) -> None:
    """Refuse a target that is missing everywhere, or anywhere if such rows are not to be left out."""
    if wanted.missing_target == "error" or missing_in(values).all():
        _refuse_missing(values, f"the target {name!r}", source)


def _refuse_missing(values: Array, what: str, source: SourceFile) -> None:
    lost = missing_in(values)
    if lost.any():
        rows = np.flatnonzero(lost) + 1
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        listed = ", ".join(map(str, rows[:5].tolist())) + more
        raise InputError(
            f"{what} is missing in {len(rows)} of {len(values)} rows of {str(source.path)!r} (row {listed}; the first row under the names is 1); remove these rows from the file, or fill them in."
        )


def _check_time(column: Any, source: SourceFile) -> Any:
    values = column.to_numpy()
    _refuse_missing(values, f"the time {column.name!r}", source)
    if values.dtype.kind in "fiuM":
        return column
    raise InputError(
        f"the time column {column.name!r} holds values such as {str(values[0])!r}, which cannot be put in order; give numbers or ISO dates (2026-03-01)."
    )


def _from_arrays(source: SourceFile, wanted: _Reading) -> Data:
    from unseen.datasets.npz import read_npz

    if wanted.drop:
        raise InputError("drop names columns of a table; an NPZ archive has arrays without column names.")
    arrays, features, name = read_npz(source, wanted.target)
    for role, array in wanted.columns.items():
        if array is not None and array not in arrays:
            raise UnknownName(f"{role} array", array, arrays, f"The file is {str(source.path)!r}.")
    if arrays[name].ndim == 1:
        _check_target(arrays[name], name, source, wanted)
    parts = {role: None if c is None else arrays[c] for role, c in wanted.columns.items()}
    return as_data(
        arrays[features],
        arrays[name],
        groups=parts["groups"],
        sample_weight=parts["weights"],
        time=parts["time"],
        ids=parts["ids"],
        positive=wanted.positive,
        task=wanted.task,
        target_name=name,
        missing_target=wanted.missing_target,
    )
