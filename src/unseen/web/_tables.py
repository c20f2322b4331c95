"""Tables on a page: short ones whole and sorted by the browser, long ones sorted and cut into pages here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from unseen.show.page import numeric, sort_key
from unseen.show.sections import Table

__all__ = ["WHOLE", "TableView", "view"]

WHOLE = 300  # rows that a browser sorts at once
# four screens of rows
PAGE = 100


@dataclass(frozen=True, kw_only=True)
class TableView:
    """A table as one page shows it."""

    id: str
    table: Table
    numbers: list[bool]
    total: int
    first: int
    heads: list[dict[str, str]]
    before: str
    after: str

    @property
    def last(self) -> int:
        """Number of the last row shown, counted from 1."""
        return self.first + len(self.table.rows) - 1

    @property
    def whole(self) -> bool:
        """Whether every row is shown, so that the browser may sort them."""
        return not self.heads


def _order(value: Any) -> tuple[int, float, str]:
    key = sort_key(value)
    try:
        return (0, float(key), "") if key else (2, 0.0, "")
    except ValueError:
        return (1, 0.0, key.casefold())


def _sort_rows(rows: Sequence[Any], column: int, falling: bool) -> list[Any]:
    """Return rows in order of a column; empty cells come last, either way."""
    filled = [r for r in rows if sort_key(r[column]) != ""]
    empty = [r for r in rows if sort_key(r[column]) == ""]
    return sorted(filled, key=lambda r: _order(r[column]), reverse=falling) + empty


def _number(text: str | None, limit: int) -> int:
    return min(int(text), limit) if text is not None and text.isascii() and text.isdigit() and len(text) < 9 else 0


def view(table: Table, id: str, query: Sequence[tuple[str, str]] = (), whole: int = WHOLE) -> TableView:
    """Return what to show of a table, as the query of the address asks for it.

    Parameters
    ----------
    table : Table
        All rows.
    id : str
        Name of the table on its page: its part of the query begins with it.
    query : sequence of (str, str)
        Query of the address; parts that make no sense are passed over.
    whole : int
        Rows up to which a table is not cut.

    Examples
    --------
    >>> v = view(Table(["a"], [[k] for k in range(1000)]), "t", [("t.page", "2"), ("t.sort", "0"), ("t.order", "down")])
    >>> v.table.rows[0], v.first, v.last, v.total, v.before
    ([799], 201, 300, 1000, '?t.sort=0&t.order=down&t.page=1#t')
    """
    numbers = numeric(table)
    total = len(table.rows)
    if total <= whole:
        return TableView(
            id=id, table=table, numbers=numbers, total=total, first=1 if total else 0, heads=[], before="", after=""
        )
    given = {name: value for name, value in query if name.startswith(f"{id}.")}
    others = [(n, v) for n, v in query if n not in (f"{id}.page", f"{id}.sort", f"{id}.order")]
    column = _number(given[f"{id}.sort"], len(table.columns) - 1) if f"{id}.sort" in given else None
    falling = given.get(f"{id}.order") == "down"
    rows = list(table.rows) if column is None else _sort_rows(table.rows, column, falling)
    page = _number(given.get(f"{id}.page"), (total - 1) // PAGE)
    shown = rows[page * PAGE : (page + 1) * PAGE]

    def place(page: int, column: int | None, falling: bool) -> str:
        sort = [] if column is None else [(f"{id}.sort", str(column)), (f"{id}.order", "down" if falling else "up")]
        return f"?{urlencode([*others, *sort, (f'{id}.page', str(page))])}#{id}"

    heads = [
        {
            "place": place(0, k, k == column and not falling),
            "sort": "none" if k != column else "descending" if falling else "ascending",
        }
        for k in range(len(table.columns))
    ]
    before = place(page - 1, column, falling) if page else ""
    after = place(page + 1, column, falling) if (page + 1) * PAGE < total else ""
    cut = Table(table.columns, shown, table.caption, table.sortable)
    return TableView(
        id=id, table=cut, numbers=numbers, total=total, first=page * PAGE + 1, heads=heads, before=before, after=after
    )
