"""Which rows belong to which slice: by the values of a column, by quantiles of a number, by two columns crossed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName

__all__ = [
    "RowsOfSlice",
    "bare_columns",
    "columns_by_lookup",
    "columns_by_name",
    "columns_of_data",
    "sample_with_columns",
    "slice_rows",
]

# quarters of a number with more different values than this; fewer are values of their own, such as a stage or a year
MOST_NUMBERS, PARTS = 8, 4
# more lines no longer fit a figure, and intervals that hold together for more are too wide to tell much
MOST_SLICES = 60
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class RowsOfSlice:
    """One slice: the column it comes from, its name there, and which rows it has."""

    column: str
    name: str
    rows: Array


def columns_by_name(by: Any, n: int) -> dict[str, Array]:
    """Return the columns given to slice by: a frame, a mapping, a named series, or one plain array.

    Parameters
    ----------
    by : frame, mapping of str to array, series or array
        One value per row in each column.
    n : int
        Number of rows.

    Examples
    --------
    >>> columns_by_name({"site": ["a", "b", "a"]}, 3)["site"].tolist()
    ['a', 'b', 'a']
    >>> list(columns_by_name(["a", "b"], 2))
    ['slice']
    """
    if isinstance(by, str):
        raise InputError(
            f"by is {by!r}, a name, and there are no columns to look it up in; give the values, one per row."
        )
    if hasattr(by, "columns"):
        given = {str(name): by[name] for name in by.columns}
    elif isinstance(by, Mapping):
        given = {str(name): values for name, values in by.items()}
    else:
        given = {str(getattr(by, "name", None) or "slice"): by}
    if not given:
        raise InputError("by holds no column; give the values to slice by, one per row.")
    made = {name: np.asarray(values) for name, values in given.items()}
    for name, values in made.items():
        if values.shape != (n,):
            raise InputError(f"by: {name!r} has shape {values.shape} for {n} rows; give one value per row.")
    return made


def columns_of_data(by: Any, data: Data) -> dict[str, Array]:
    """Return the columns to slice a sample by: named columns of its table, or values as `columns_by_name` takes them.

    Names may be those of features, of the target or of the column of groups; "a,b" is both, "a*b" crosses two, "a:5" takes fifths of a number.

    Examples
    --------
    >>> from unseen.datasets import load
    >>> list(columns_of_data("petal width (cm):3", load("iris")))
    ['petal width (cm):3']
    """

    def look_up(name: str) -> Array | None:
        if name in data.names:
            values = data.X[name] if hasattr(data.X, "columns") else data.X[:, [data.names.index(name)]]
            return np.asarray(values.toarray() if hasattr(values, "toarray") else values).reshape(-1)
        if data.groups is not None and name in (data.group_name, "groups"):
            return data.groups
        return data.y if name == data.target_name else None

    names = [by] if isinstance(by, str) else by
    texts = isinstance(names, (list, tuple)) and bool(names) and all(isinstance(name, str) for name in names)
    if not texts or (len(names) == data.n and all(look_up(name) is None for name in names)):
        return columns_by_name(by, data.n)
    return columns_by_lookup(names, look_up, [*data.names, data.target_name])


def columns_by_lookup(
    names: Sequence[str], look_up: Callable[[str], Array | None], known: Sequence[str]
) -> dict[str, Array]:
    """Return columns by name; "a,b" is both of two, "a*b" crosses them and "a:5" asks for fifths, unless a column is called so."""

    def column(name: str) -> Array:
        found = look_up(name)
        if found is not None:
            return found
        first, star, rest = name.partition("*")
        if star:
            return _cross_columns({part.strip(): column(part.strip()) for part in (first, rest)})
        bare, colon, count = name.rpartition(":")
        if colon and count.isdigit():
            return column(bare)
        raise UnknownName("column to slice by", name, known)

    apart = [
        part for name in names for part in ([name] if look_up(name) is not None else map(str.strip, name.split(",")))
    ]
    return {name: column(name) for name in apart}


def _cross_columns(columns: Mapping[str, Array]) -> Array:
    """Return the values of two columns together; a number with many values counts by its quantiles."""
    one, two = (slice_rows({name: values}, least=1) for name, values in columns.items())
    out = np.full(len(one[0].rows), None, dtype=object)
    for a in one:
        for b in two:
            if MISSING not in (a.name, b.name):
                out[a.rows & b.rows] = f"{a.name}, {b.name}"
    return out


def slice_rows(columns: Mapping[str, Array], *, least: int = 2) -> tuple[RowsOfSlice, ...]:
    """Return the slices of all columns: one per value, or quarters of a number with many values.

    Parameters
    ----------
    columns : mapping of str to array
        Values by column; a name that ends in ":5" asks for fifths of its number.
    least : int
        Slices that a column must have.

    Examples
    --------
    >>> parts = slice_rows({"site": np.array(["a", "b", "a"]), "age:2": np.array([20.0, 50.0, 70.0])})
    >>> [(p.column, p.name, p.rows.tolist()) for p in parts][2:]
    [('age', 'below 50', [True, False, False]), ('age', 'from 50', [False, True, True])]
    """
    out: list[RowsOfSlice] = []
    for given, values in columns.items():
        name, colon, count = given.rpartition(":")
        parts = int(count) if colon and count.isdigit() and "*" not in name else None
        found = _slices_of_column(name if parts else given, values, parts)
        if len(found) < least:
            raise InputError(f"all rows have the same value of {given!r}; there is nothing to slice by.")
        out += found
    if len(out) > MOST_SLICES:
        counts = ", ".join(
            f"{name} {sum(p.column == name.rpartition(':')[0] or p.column == name for p in out)}" for name in columns
        )
        raise InputError(
            f"there would be {len(out)} slices ({counts}), and at most {MOST_SLICES} can be told apart; join values, or take "
            "quantiles of a number, as in 'age:4'."
        )
    return tuple(out)


def _slices_of_column(name: str, values: Array, parts: int | None) -> list[RowsOfSlice]:
    import pandas as pd

    lost = np.asarray(pd.isna(values))
    there = values[~lost]
    if there.dtype == object and len(there) and all(isinstance(v, (int, float, np.number)) for v in there):
        values, there = values.astype(float), there.astype(float)
    number = there.dtype.kind in "fiu"
    if parts is not None and not number:
        raise InputError(f"{name!r} holds no numbers, so it has no quantiles; leave ':{parts}' out.")
    if parts is not None and parts < 2:
        raise InputError(f"{name}:{parts} asks for {parts} part; give at least 2.")
    missing = [RowsOfSlice(name, MISSING, lost)] if lost.any() else []
    if number and (parts is not None or len(np.unique(there)) > MOST_NUMBERS):
        return [*_quantile_slices(name, values.astype(float), lost, parts or PARTS), *missing]
    texts = np.array([_text(v) for v in values], dtype=object)
    if number:
        order = [_text(v) for v in np.unique(there)]
    else:
        order = sorted(set(texts[~lost]))
    return [*(RowsOfSlice(name, text, (texts == text) & ~lost) for text in order), *missing]


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    return str(value)


def _quantile_slices(name: str, values: Array, lost: Array, parts: int) -> list[RowsOfSlice]:
    ordered = np.sort(values[~lost])
    cuts = np.unique(ordered[[len(ordered) * k // parts for k in range(1, parts)]])
    cuts = cuts[cuts > ordered[0]]  # a cut at the smallest value would leave its lower part empty
    place = np.searchsorted(cuts, values, side="right")
    shown = [f"{cut:.4g}" for cut in cuts]
    names = [f"below {shown[0]}", *(f"{a} to {b}" for a, b in pairwise(shown)), f"from {shown[-1]}"] if shown else []
    return [RowsOfSlice(name, text, (place == k) & ~lost) for k, text in enumerate(names)]


def bare_columns(names: Sequence[str]) -> list[str]:
    """Return the columns behind names such as "site*sex" or "age:5".

    Examples
    --------
    >>> bare_columns(["site*sex", "age:5"])
    ['site', 'sex', 'age']
    """
    parts = [part.strip() for name in names for both in name.split(",") for part in both.split("*")]
    return [part.rpartition(":")[0] if part.rpartition(":")[2].isdigit() else part for part in parts]


def sample_with_columns(
    by: Sequence[str] | None, drop: Sequence[str], read: Callable[[list[str]], Data]
) -> tuple[Data, dict[str, Array] | None]:
    """Return a sample that is read without the columns in `drop`, and the columns to slice it by, which may be among these.

    Parameters
    ----------
    by : sequence of str or None
        Names of the columns to slice by.
    drop : sequence of str
        Columns that are no features.
    read : callable
        Reads the sample without the columns it is given.
    """
    if not by:
        return read(list(drop)), None
    kept = [name for name in drop if name in (*by, *bare_columns(by))]
    data = read([name for name in drop if name not in kept])
    columns = columns_of_data(list(by), data)
    if not kept:
        return data, columns
    names = tuple(name for name in data.names if name not in kept)
    return replace(data, X=data.X[list(names)], names=names), columns
