"""One face for every result: frame, dict, figure, report, text and notebook view."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike
from types import UnionType
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from unseen.core.errors import InputError

__all__ = ["Result", "from_dict", "plain"]

Record = TypeVar("Record")
# columns of this package and their names in R's broom
TIDY = {
    "std_error": "std.error",
    "lower": "conf.low",
    "upper": "conf.high",
    "level": "conf.level",
    "p": "p.value",
    "p_adjusted": "adj.p.value",
    "difference": "estimate",
}
LONGEST_LINE = 160  # characters of `repr`: two lines of a narrow terminal


def plain(value: Any) -> Any:
    """Turn a result into what JSON can hold; NaN and infinities become None.

    Examples
    --------
    >>> plain({"a": np.float64(1.5), "b": float("nan"), "c": np.arange(2)})
    {'a': 1.5, 'b': None, 'c': [0, 1]}
    """
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    return str(value)


def _key(key: Any) -> str:
    return " vs ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def from_dict(cls: type[Record], values: Mapping[str, Any]) -> Record:
    """Make a record again from what `to_dict` or `plain` made of it, by the types of its fields.

    Fields that are not in `values` keep their defaults. Numbers that were not finite come back as NaN, arrays and tuples from
    lists, records inside a record from mappings; records and arrays among the values stay as they are.

    Parameters
    ----------
    cls : dataclass
        Class of the record.
    values : mapping
        Plain values by field name; other keys are left out.

    Examples
    --------
    >>> from unseen.core.estimate import Interval
    >>> from_dict(Interval, {"low": 0.1, "high": 0.3, "level": 0.95})
    Interval(low=0.1, high=0.3, level=0.95)
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{cls.__name__} is made from a mapping of its fields; given: {type(values).__name__}.")
    types, made = get_type_hints(cls), {}
    for f in dataclasses.fields(cls):  # type: ignore[arg-type]
        required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if f.name in values:
            made[f.name] = _from_plain(types[f.name], values[f.name], f"{cls.__name__}.{f.name}")
        elif required:
            raise InputError(f"{cls.__name__}.{f.name} is missing.")
    return cls(**made)


def _from_plain(kind: Any, value: Any, name: str) -> Any:
    """Return a plain value as the type of its field says."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        if value is None and type(None) in parts:
            return None
        return _from_plain(next(part for part in parts if part is not type(None)), value, name)
    if kind is float and value is None:
        return math.nan
    try:
        if dataclasses.is_dataclass(kind):
            return value if isinstance(value, kind) else from_dict(kind, value)  # type: ignore[arg-type]
        if origin is np.ndarray:
            return _array(value, get_args(parts[1])[0])
        if origin is tuple:
            values = _list(value)
            each = parts[:1] * len(values) if parts[1:] == (...,) else parts
            return tuple(_from_plain(part, one, name) for part, one in zip(each, values, strict=True))
        if origin in (list, Sequence):
            return [_from_plain(parts[0], one, name) for one in _list(value)]
        if origin in (dict, Mapping):
            return {key: _from_plain(parts[1], one, name) for key, one in value.items()}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return kind(value)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{name} cannot be made from {str(value)[:60]!r}.") from error
    if isinstance(kind, type) and not isinstance(value, kind):
        raise InputError(f"{name} is {str(value)[:60]!r}; it must be a {kind.__name__}.")
    return value


def _list(value: Any) -> Sequence[Any]:
    """Return a list as it is; the letters of a text are none."""
    if not isinstance(value, (list, tuple)):
        raise TypeError("no list")
    return value


def _array(value: Any, dtype: Any) -> Any:
    """Return nested lists as an array; an array of any type is kept as it is."""
    if isinstance(value, np.ndarray):
        return value
    if dtype is Any:
        return np.array(_list(value))
    return np.array(_numbers(_list(value)) if issubclass(dtype, np.number) else _list(value), dtype=dtype)


def _numbers(values: Sequence[Any]) -> list[Any]:
    """Return nested lists of numbers, None as NaN; texts and truth values are no numbers, though numpy would read them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.append(_numbers(value))
        elif value is None:
            found.append(math.nan)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append(value)
        else:
            raise TypeError("no number")
    return found


def _sentence_of(result: Any) -> str:
    """Return the answer of a result in a sentence: its own, its first finding, or the first line of its text."""
    own = next((getattr(result, name) for name in ("sentence", "sentences") if hasattr(result, name)), "")
    found = own() if callable(own) else own
    sentence = found if isinstance(found, str) else next(iter(found), "")
    return sentence or next(iter(str(result).splitlines()), "")


class Result:
    """Mixin of every result record: subclasses give `rows()` and `__str__`, the rest follows.

    Figures and report sections are found by the record's class at call time, so that computing
    never imports drawing.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Keep the one-line `repr`, which a dataclass would replace by all its fields."""
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        line = self.one_line()
        return f"<{line}>" if line.startswith(type(self).__name__) else f"<{type(self).__name__}: {line}>"

    def one_line(self) -> str:
        """Return the result in one line, as `repr` shows it."""
        if type(self).__str__ is object.__str__:  # no text of its own: its fields
            first = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self))  # type: ignore[arg-type]
        else:
            first = next(iter(str(self).splitlines()), "")
        return first if len(first) <= LONGEST_LINE else first[: LONGEST_LINE - 1].rstrip() + "…"

    shown_by: ClassVar[str] = ""
    """Package with the figures and sections of this kind of result; empty if the plain ones will do."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per line of `frame()`."""
        raise TypeError(f"{type(self).__name__} has no table form")

    def frame(self, *, tidy: bool = False) -> Any:
        """Return the result as a pandas DataFrame.

        Parameters
        ----------
        tidy : bool
            Name the columns as R's broom does: `estimate`, `std.error`, `conf.low`, `conf.high`, `conf.level`, `p.value`.
        """
        made = importlib.import_module("pandas").DataFrame(self.rows())
        return made.rename(columns={k: v for k, v in TIDY.items() if k in made}) if tidy else made

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: plain(getattr(self, f.name)) for f in fields if f.metadata.get("shown", True)}

    def to_json(self) -> str:
        """Return `to_dict()` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    @property
    def kept_as(self) -> str:
        """Word under which a store files results of this kind."""
        return type(self).__name__.lower()

    def to_record(self) -> dict[str, Any]:
        """Return what a store keeps: `to_dict()`, and the sentence that a page about the result begins with."""
        return {"sentence": _sentence_of(self), **self.to_dict()}

    def keep(self, store: str | PathLike[str], name: str) -> int:
        """File the result in a store, where `unseen serve` shows it, and return its number there.

        Parameters
        ----------
        store : str or path
            `sqlite:///studies.db`, `postgresql://user@host/database`, or the path of a file.
        name : str
            What it is called there.
        """
        with importlib.import_module("unseen.store").open_store(store) as opened:
            return int(opened.keep(self.kept_as, name, self.to_record()))

    def track(self, tracker: str = "mlflow", run: Any = None) -> Any:
        """Log the result to an experiment tracker: its values with their limits, its report and its table.

        Parameters
        ----------
        tracker : str
            Name of an adapter of the entry-point group `unseen.trackers`; "mlflow" is there.
        run : optional
            Id of the run to add to; the active run, or a new one, by default.

        Returns
        -------
        str
            What the adapter returns: for MLflow the id of the run.
        """
        return importlib.import_module("unseen.store.tracking").track(self, tracker, run)

    def plot(self, figure: str | None = None, ax: Any = None) -> Any:
        """Draw the figure registered for this kind of result and return its matplotlib axes.

        Parameters
        ----------
        figure : str, optional
            Name of a figure; the first registered one by default.
        ax : matplotlib Axes, optional
            Where to draw; new axes by default.
        """
        return importlib.import_module("unseen.show").draw(self, figure, ax)

    def report(self, path: str | PathLike[str]) -> str:
        """Write a self-contained HTML report and return its path."""
        return str(importlib.import_module("unseen.show").write(self, path))

    def _repr_html_(self) -> str:
        return str(importlib.import_module("unseen.show").fragment(self))
