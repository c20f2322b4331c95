"""Results as CSV and JSON, made piece by piece."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unseen.core.show import plain
from unseen.report._sections import Table
from unseen.web._payload import shown

__all__ = ["study_csv", "study_json", "table_csv"]

PIECE = 2000
NUMBERS = ("estimate", "truth", "lower", "upper", "spread", "p_value", "seconds")
NAMES = ("population", "model", "n", "method")


def _field(value: Any) -> Any:
    """Return a CSV field; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    value = shown(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _csv(lines: Iterator[Sequence[Any]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for number, line in enumerate(lines, 1):
        writer.writerow([_field(v) for v in line])
        if number % PIECE == 0:
            yield out.getvalue()
            out.seek(0)
            out.truncate()
    yield out.getvalue()


def table_csv(table: Table) -> Iterator[str]:
    """Yield a table as CSV text.

    Examples
    --------
    >>> "".join(table_csv(Table(["a", "b"], [["=1+1", None], ["x", 0.5]]))).splitlines()
    ['a,b', "'=1+1,", 'x,0.5']
    """

    def lines() -> Iterator[Sequence[Any]]:
        yield list(table.columns)
        yield from ([getattr(v, "text", v) for v in row] for row in table.rows)

    return _csv(lines())


def _pieces(columns: Mapping[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """Yield runs of rows as plain lists, so that a million rows never stand in memory as Python objects."""
    total = len(columns["cell"])
    for start in range(0, total, PIECE):
        yield {name: values[start : start + PIECE].tolist() for name, values in columns.items()}


def study_csv(columns: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield one line per finished task, its cell written out.

    Parameters
    ----------
    columns : mapping of str to ndarray
        What `store.columns(name)` returns.
    cells : sequence of mapping
        What `store.cells(name)` returns.
    """
    known = [name for name in NUMBERS if name in columns]

    def lines() -> Iterator[Sequence[Any]]:
        yield ["cell", *NAMES, "replication", *known]
        for piece in _pieces(columns):
            for k, cell in enumerate(piece["cell"]):
                names = [cells[cell].get(name) for name in NAMES]
                yield [cell, *names, piece["replication"][k], *(piece[name][k] for name in known)]

    return _csv(lines())


def study_json(
    head: Mapping[str, Any], columns: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a study as one JSON object: what it is, its cells, and its finished tasks."""
    known = ["cell", "replication", *(name for name in NUMBERS if name in columns)]
    opening = json.dumps({**plain(dict(head)), "cells": plain(list(cells))}, ensure_ascii=False)
    yield opening[:-1] + ', "results": [\n'
    first = True
    for piece in _pieces(columns):
        lines = [
            json.dumps(plain({name: piece[name][k] for name in known}), allow_nan=False)
            for k in range(len(piece["cell"]))
        ]
        yield ("" if first else ",\n") + ",\n".join(lines)
        first = False
    yield "\n]}\n"
