"""Results as CSV and JSON, made piece by piece."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from unseen.core.result import plain
from unseen.show.sections import Table
from unseen.web._payload import table_value

__all__ = ["study_csv", "study_json", "table_csv"]

PIECE = 2000  # rows: about 200 kB, so that a download of any size needs little memory
LINE = "\r\n"
NUMBERS = ("estimate", "truth", "lower", "upper", "spread", "p_value", "seconds")
NAMES = ("population", "model", "n", "method")


def _field(value: Any) -> Any:
    """Return a CSV field; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    value = table_value(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _csv(lines: Iterator[Sequence[Any]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=LINE)
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


def _pieces(columns: Mapping[str, Any], names: Sequence[str]) -> Iterator[list[list[Any]]]:
    """Yield runs of rows as plain lists, so that a million rows never stand in memory as Python objects."""
    for start in range(0, len(columns["cell"]), PIECE):
        yield [columns[name][start : start + PIECE].tolist() for name in names]


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
    # a cell is written once, not once for each of its replications
    heads = [
        next(_csv(iter([[k, *(cell.get(name) for name in NAMES)]]))).removesuffix(LINE) for k, cell in enumerate(cells)
    ]
    yield next(_csv(iter([["cell", *NAMES, "replication", *known]])))
    for piece in _pieces(columns, ["cell", "replication", *known]):
        lines = (
            f"{heads[cell]},{replication},{','.join([repr(v) if v == v else '' for v in numbers])}"
            for cell, replication, *numbers in zip(*piece)
        )
        yield LINE.join(lines) + LINE


def study_json(
    head: Mapping[str, Any], columns: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a study as one JSON object: what it is, its cells, and its finished tasks."""
    known = [name for name in NUMBERS if name in columns]
    opening = json.dumps({**plain(dict(head)), "cells": plain(list(cells))}, ensure_ascii=False)
    yield opening[:-1] + ', "results": [\n'
    keys = [f'"{name}": ' for name in known]
    between = ""
    for piece in _pieces(columns, ["cell", "replication", *known]):
        lines = (
            f'{{"cell": {cell}, "replication": {replication}, '
            + ", ".join([key + (repr(v) if isfinite(v) else "null") for key, v in zip(keys, numbers)])
            + "}"
            for cell, replication, *numbers in zip(*piece)
        )
        yield between + ",\n".join(lines)
        between = ",\n"
    yield "\n]}\n"
