"""A kept record of any kind as facts and tables; what is no plain value is named, never table_value or opened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unseen.show.page import cell
from unseen.show.sections import Table

__all__ = ["LONGEST_TEXT", "PayloadView", "facts_of", "fit_columns", "record_of", "rows_table", "table_value"]

LONGEST_TEXT = 2000  # characters of one cell; a longer text is in the JSON
LONGEST_LIST = 12  # values of a list in one cell
MOST_COLUMNS = 10  # of a table on a page; a dozen no longer fit beside each other at 1,200 px
LONGEST_WORD = 40  # characters; a list of longer texts is written line by line
FIRST = ("rows", "estimates", "pairs", "cells", "models", "checks", "measures", "runs")
# stores keep the keys of a payload in alphabetical order; readers want names first and numbers in their usual order
COLUMNS = (
    "table", "cell", "subject", "quantity", "unit", "coefficient", "column", "name", "population", "model", "n", "experiment", "check",
    "method", "measure", "a", "b", "test", "code", "title",
    "text", "advice", "published", "ours", "z", "verdict", "value", "estimate", "difference", "std error", "mc error", "lower",
    "upper", "interval low", "interval high", "interval level", "level", "p", "p adjusted", "limits", "passed", "prob superior",
)  # fmt: skip
# what tells two rows apart, and how sure a number is, stays on the page
ALWAYS = ("test", "lower", "upper", "interval low", "interval high")
LAST = ("note", "notes", "seconds", "target", "target kind", "target n train", "remark")
SENTENCES = ("sentence", "headline", "title", "summary")
Scalar = (str, int, float, bool, type(None))


@dataclass(frozen=True, kw_only=True)
class PayloadView:
    """What a page shows of a payload: a sentence, facts, named tables, groups of further facts, and the rest as JSON text."""

    lead: str
    facts: Table | None
    tables: dict[str, Table]
    groups: dict[str, Table] = field(default_factory=dict)
    rest: dict[str, str] = field(default_factory=dict)


def table_value(value: Any) -> Any:
    """Return a value as a table may show it.

    Examples
    --------
    >>> table_value([1, 2]), table_value(b"abc"), table_value({"low": 0.1, "high": 0.25})
    ('1, 2', '(3 bytes, not shown)', 'low 0.1, high 0.25')
    >>> table_value(object())
    '(an object of class object, not shown)'
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT - 1] + "…"
    if isinstance(value, Scalar):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"({len(value)} bytes, not shown)"
    if isinstance(value, Mapping):
        return table_value(", ".join(f"{_title(k)} {_short(v)}" for k, v in value.items())) if value else "–"
    if isinstance(value, Sequence):
        # sentences stand on lines of their own
        between = "\n" if any(isinstance(v, str) and len(v) > LONGEST_WORD for v in value) else ", "
        head = between.join(str(_short(v)) for v in value[:LONGEST_LIST])
        more = f", … ({len(value)} in all)" if len(value) > LONGEST_LIST else ""
        return table_value(head + more) if value else "–"
    return f"(an object of class {type(value).__name__}, not shown)"


def _short(value: Any) -> Any:
    if isinstance(value, Mapping) and "code" in value:
        return value["code"]
    if isinstance(value, float):
        return f"{value:.4g}"
    return table_value(value)


def _title(key: Any) -> str:
    return str(key).replace("_", " ")


def _flat(row: Mapping[Any, Any], above: str = "") -> dict[str, Any]:
    """Return a row whose inner mappings became columns of their own."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{above} {_title(key)}".strip()
        if isinstance(value, Mapping) and value and all(isinstance(v, Scalar) for v in value.values()):
            out.update(_flat(value, name))
        else:
            out[name] = table_value(value)
    return out


def rows_table(rows: Sequence[Mapping[Any, Any]], caption: str = "", ordered: bool = False) -> Table:
    """Return rows as a table, empty columns left out; in the usual order of columns unless the rows are `ordered`.

    Examples
    --------
    >>> rows_table([{"method": "kfold", "interval": {"low": 0.1, "high": 0.2}, "df": None}]).columns
    ['method', 'interval low', 'interval high']
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    names = [n for n in names if any(row.get(n) not in (None, "", "–") for row in flat)]
    if not ordered:
        names.sort(key=_rank)
    return Table(names, [[row.get(name) for name in names] for row in flat], caption)


def fit_columns(table: Table, most: int = MOST_COLUMNS) -> Table:
    """Return a table with the columns that fit on a screen: those that most rows have, and ends of intervals.

    Examples
    --------
    >>> fit_columns(Table(["a", "b", "c"], [[1, None, 3], [1, None, 3], [1, 2, 3]]), most=2).columns
    ['a', 'c']
    """
    if len(table.columns) <= most:
        return table
    filled = [sum(row[k] not in (None, "", "–") for row in table.rows) for k in range(len(table.columns))]
    must = [k for k, name in enumerate(table.columns) if name in ALWAYS][:most]
    common = [k for k, number in enumerate(filled) if 2 * number > len(table.rows) and k not in must]
    kept = sorted([*must, *common[: most - len(must)]]) or list(range(most))
    left = len(table.columns) - len(kept)
    more = f"{left} more columns are" if left > 1 else "1 more column is"
    caption = f"{table.caption} {more} in the downloads.".strip()
    rows = [[row[k] for k in kept] for row in table.rows]
    return Table([table.columns[k] for k in kept], rows, caption, table.sortable)


def _rank(name: str) -> int:
    if name in LAST:
        return len(COLUMNS) + 1 + LAST.index(name)
    return COLUMNS.index(name) if name in COLUMNS else len(COLUMNS)


def _as_table(value: Any) -> Table | None:
    """Return the table a value is, in any of the three ways results write them; None if it is none."""
    if isinstance(value, Mapping):
        columns, rows = value.get("columns"), value.get("rows")
        if isinstance(columns, list) and isinstance(rows, list) and all(isinstance(r, list) for r in rows):
            width = len(columns)
            return Table(
                list(map(str, columns)), [[*map(table_value, r[:width]), *[None] * (width - len(r))] for r in rows]
            )
        if len(value) and all(isinstance(v, Mapping) and v for v in value.values()):
            return rows_table([{"name": key, **_without(inner, key)} for key, inner in value.items()])
    if isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
        return rows_table(value)
    return None


def _without(inner: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    """Return a row without the columns that only say its name again."""
    return {k: v for k, v in inner.items() if not (v == key and k in ("name", "method", "id")) and k != "name"}


def facts_of(values: Mapping[str, Any], caption: str = "") -> Table | None:
    """Return single values as a table of two columns, None if there are none."""
    flat = sorted(_flat(values).items(), key=lambda pair: _rank(pair[0]))
    rows = [[name, cell(value)] for name, value in flat if value not in (None, "", "–")]
    return Table(["what", "value"], rows, caption, sortable=False) if rows else None


def record_of(payload: Any) -> PayloadView:
    """Return what a page shows of a payload.

    Examples
    --------
    >>> r = record_of({"sentence": "It errs.", "n": 20, "rows": [{"a": 1}, {"a": 2}], "deep": {"x": {"y": [[1], [2]]}}})
    >>> r.lead, r.facts.rows, list(r.tables), list(r.rest)
    ('It errs.', [['n', '20']], ['rows', 'deep'], [])
    """
    if not isinstance(payload, Mapping):
        table = _as_table(payload)
        return PayloadView(
            lead="", facts=None if table else facts_of({"value": payload}), tables={"rows": table} if table else {}
        )
    lead_key = next((k for k in SENTENCES if isinstance(payload.get(k), str)), None)
    tables: dict[str, Table] = {}
    facts: dict[str, Any] = {}
    groups: dict[str, Table] = {}
    rest: dict[str, str] = {}
    for key, value in payload.items():
        if key == lead_key or _is_empty(value):
            continue
        table = _as_table(value)
        group = facts_of(value) if isinstance(value, Mapping) else None
        if table is not None:
            tables[_title(key)] = table
        elif group is not None:
            groups[_title(key)] = group
        elif isinstance(value, Scalar) or not _is_json(value) or _is_flat(value):
            facts[str(key)] = value
        else:
            rest[_title(key)] = json.dumps(value, indent=2, ensure_ascii=False)
    ordered = sorted(tables, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    lead = str(payload[lead_key]) if lead_key else ""
    return PayloadView(
        lead=lead, facts=facts_of(facts), tables={n: tables[n] for n in ordered}, groups=groups, rest=rest
    )


def _is_empty(value: Any) -> bool:
    """Say whether there is no value anywhere in it."""
    if isinstance(value, Mapping):
        return all(map(_is_empty, value.values()))
    return value is None or (isinstance(value, (list, tuple)) and all(map(_is_empty, value)))


def _is_flat(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, Scalar) for v in value)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
