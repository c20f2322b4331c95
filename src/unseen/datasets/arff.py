"""Attribute-relation files (ARFF): a small reader of our own that keeps nominal values and missing marks."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.datasets.source import GZIP_ERRORS, SourceFile

__all__ = ["Attribute", "read_arff"]

log = logging.getLogger("unseen")

# rows held as text at a time, so that memory follows the numbers and not the text
_BLOCK = 20_000
_NUMBERS = ("numeric", "real", "integer")
_FIELD = re.compile(r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"]*?)\s*(,|$)""", re.DOTALL)
_NAME = re.compile(r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)\s*(.*)""", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A declared column: its name, its kind ("number", "nominal", "text" or "date") and its nominal levels."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()


def read_arff(source: SourceFile) -> Any:
    """Return the table as a pandas frame: numbers, categories with the declared levels, text and dates.

    Dense files only; `?` is missing, quotes of both kinds and backslash escapes are understood, `%` starts a comment
    line. Sparse rows, relational attributes and instance weights are refused by name.
    """
    import pandas as pd

    try:
        attributes, blocks = _blocks(source, "utf-8-sig")
    except UnicodeDecodeError:
        log.warning("%s is not UTF-8; its text was read as latin-1", source.path)
        attributes, blocks = _blocks(source, "latin-1")
    except GZIP_ERRORS as error:
        raise source.damage_error(error) from error
    if not blocks:
        raise InputError(f"the file {str(source.path)!r} declares attributes but has no rows after @data.")
    parts = [np.concatenate(column) for column in zip(*blocks)]
    return pd.DataFrame({a.name: _typed_column(a, p, source) for a, p in zip(attributes, parts)})


def _blocks(source: SourceFile, encoding: str) -> tuple[list[Attribute], list[list[Any]]]:
    """Return the declared columns, and their values in blocks of rows, so that text is not kept longer than needed."""
    with io.TextIOWrapper(source.open(), encoding=encoding) as file:
        lines = enumerate(file, 1)
        attributes = _header(lines, source)
        rows = _rows(lines, len(attributes), source)
        blocks: list[list[Any]] = []
        while block := list(islice(rows, _BLOCK)):
            blocks.append([_block_values(a, k, block, source) for k, a in enumerate(attributes)])
    return attributes, blocks


def _line_error(source: SourceFile, line: int, what: str) -> InputError:
    return InputError(f"line {line} of {str(source.path)!r}: {what}")


def _header(lines: Iterator[tuple[int, str]], source: SourceFile) -> list[Attribute]:
    attributes: list[Attribute] = []
    for number, raw in lines:
        line = raw.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if not line or line.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            break
        if word != "@attribute":
            raise _line_error(
                source, number, f"{line[:40]!r} is not part of an ARFF header (@relation, @attribute, @data)."
            )
        attributes.append(_attribute(line.split(None, 1)[1] if " " in line or "\t" in line else "", number, source))
    else:
        raise InputError(f"the file {str(source.path)!r} has no @data line; it is not a complete ARFF file.")
    names = [a.name for a in attributes]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise InputError(f"{str(source.path)!r} declares {twice[0]!r} twice; give each attribute its own name.")
    if len(attributes) < 2:
        raise InputError(
            f"{str(source.path)!r} declares {len(attributes)} attributes; a target and a feature are needed."
        )
    return attributes


def _attribute(text: str, line: int, source: SourceFile) -> Attribute:
    match = _NAME.match(text)
    if not match:
        raise _line_error(source, line, "an @attribute line needs a name and a type.")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        levels = _split(kind[1:-1])
        if levels is None or len(set(levels)) != len(levels):
            raise _line_error(source, line, f"the levels of {name!r} are not a list of different values.")
        return Attribute(name, "nominal", tuple(level or "" for level in levels))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMBERS:
        return Attribute(name, "number")
    if word in ("string", "date"):
        return Attribute(name, "text" if word == "string" else "date")
    raise _line_error(
        source, line, f"attribute {name!r} has the type {kind[:40]!r}; numeric, nominal, string and date can be read."
    )


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.DOTALL)
    return text


def _split(line: str) -> list[str | None] | None:
    """Return the fields of a line, None for a missing one; None in all if the quotes do not match."""
    if "'" not in line and '"' not in line:
        return [None if (f := field.strip()) == "?" else f for field in line.split(",")]
    fields: list[str | None] = []
    place = 0
    while True:
        match = _FIELD.match(line, place)
        if not match:
            return None
        fields.append(None if match[1] == "?" else _unquote(match[1]))
        place = match.end()
        if match[2] == "":
            return fields


def _rows(lines: Iterator[tuple[int, str]], width: int, source: SourceFile) -> Iterator[tuple[int, list[str | None]]]:
    for number, raw in lines:
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise _line_error(source, number, "sparse rows are not read; save the file in dense form.")
        fields = _split(line)
        if fields is None:
            raise _line_error(source, number, "a quotation mark is not closed.")
        if len(fields) != width:
            weight = " (instance weights are not read)" if (fields[-1] or "").startswith("{") else ""
            raise _line_error(source, number, f"there are {len(fields)} values for {width} attributes{weight}.")
        yield number, fields


def _block_values(attribute: Attribute, k: int, block: list[tuple[int, list[str | None]]], source: SourceFile) -> Any:
    if attribute.kind == "number":
        return np.array([_number(row[k], line, attribute, source) for line, row in block], dtype=float)
    if attribute.kind == "nominal":
        codes: dict[str | None, int] = {level: c for c, level in enumerate(attribute.levels)} | {None: -1}
        try:
            return np.array([codes[row[k]] for _, row in block], dtype=np.int32)
        except KeyError as error:
            line = next(line for line, row in block if row[k] not in codes)
            raise _line_error(
                source, line, f"{error.args[0]!r} is not a declared level of {attribute.name!r}."
            ) from None
    return np.array([row[k] for _, row in block], dtype=object)


def _number(text: str | None, line: int, attribute: Attribute, source: SourceFile) -> float:
    if text is None:
        return np.nan
    try:
        return float(text)
    except ValueError:
        hint = " (decimal commas are not allowed in ARFF)" if "," in text else ""
        raise _line_error(source, line, f"{text[:40]!r} is not a number for {attribute.name!r}{hint}.") from None


def _typed_column(attribute: Attribute, values: Any, source: SourceFile) -> Any:
    import pandas as pd

    if attribute.kind == "nominal":
        return pd.Categorical.from_codes(values, categories=pd.Index(attribute.levels, dtype=object))
    if attribute.kind == "text":
        return pd.Series(values, dtype=object).where(pd.notna(values), np.nan).astype("category")
    if attribute.kind == "date":
        try:
            return pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601", utc=True).dt.tz_localize(None)
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"{str(source.path)!r}: a value of the date {attribute.name!r} is not in ISO form (2026-03-01)."
            ) from error
    return _whole(values)


def _whole(values: Any) -> Any:
    """Return whole numbers as integers, so that a file means the same in ARFF as in CSV."""
    exact = np.all(np.isfinite(values)) and np.all(values == np.round(values)) and np.all(np.abs(values) < 2**53)
    return values.astype(np.int64) if exact else values
