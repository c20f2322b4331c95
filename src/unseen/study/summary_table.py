"""The summary of a study as a table of a page: Monte-Carlo errors in brackets, what is the same throughout in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unseen.show.sections import Table, TableCell

__all__ = ["ORDER", "WORDS", "split_columns", "summary_table", "with_error"]

SAME = ("population", "model", "target")
ORDER = ("population", "model", "n", "method", "replications", "failed", "bias", "rms", "coverage", "width", "correlation", "size",
         "power", "truth", "variance", "internal", "total", "target_bias", "seconds", "target")  # fmt: skip
# what stands in a table of its own: variances, and what the target of a method is
LATE = ("variance", "internal", "total", "target_bias", "target")
WORDS = {
    "replications": "done",
    "truth": "true error",
    "variance": "deviation variance",
    "rms": "RMS",
    "total": "variance",
    "internal": "internal variance",
    "target_bias": "bias to target",
    "n": "n",
}


def with_error(value: float | None, error: float | None) -> Any:
    """Return a number with its Monte-Carlo error in brackets, both to the second digit of the error.

    Examples
    --------
    >>> with_error(0.012345, 0.00041).text, with_error(0.5, None), with_error(12.0, 0.0).text
    ('0.01235 (0.00041)', 0.5, '12 (0)')
    >>> with_error(-0.0004, 0.023).text
    '0.000 (0.023)'
    """
    if value is None or error is None or not math.isfinite(value) or not math.isfinite(error):
        return value
    if error <= 1e-7 * abs(value):  # rounding, or nothing varied
        return TableCell(f"{value:.4g} (0)", value)
    places = min(max(1 - math.floor(math.log10(error)), 0), 9)
    return TableCell(f"{round(value, places) + 0.0:.{places}f} ({error:.{places}f})", value)


def summary_table(rows: Sequence[dict[str, Any]], caption: str = "") -> tuple[Table | None, list[str]]:
    """Return the rows of a summary with errors beside their numbers, and sentences for what is the same throughout.

    Examples
    --------
    >>> rows = [{"model": "lda", "n": n, "bias": 0.01, "bias_error": 0.002} for n in (20, 40)]
    >>> table, words = summary_table(rows)
    >>> table.columns, table.rows[0][1].text, words
    (['n', 'bias'], '0.0100 (0.0020)', ['In every cell: model lda.'])
    """
    if not rows:
        return None, []
    names = list(dict.fromkeys(k for row in rows for k in row))
    names = [n for n in names if not (n.endswith("_error") and n[:-6] in names)]
    names.sort(key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    same = {n: rows[0].get(n) for n in names if n in SAME and len({row.get(n) for row in rows}) == 1}
    if len(rows) == 1:
        same = {}
    names = [n for n in names if n not in same and not (n == "failed" and not any(row.get(n) for row in rows))]
    names = [n for n in names if any(row.get(n) is not None and row[n] == row[n] for row in rows)]
    body = [[_shown(row, n) for n in names] for row in rows]
    words = [f"In every cell: {', '.join(f'{k} {v}' for k, v in same.items())}."] if same else []
    return Table([WORDS.get(n, n.replace("_", " ")) for n in names], body, caption), words


def _shown(row: dict[str, Any], name: str) -> Any:
    """Return a cell; seconds say how long, so that two digits without an error are enough."""
    if name == "seconds" and isinstance(row.get(name), float) and math.isfinite(row[name]):
        return TableCell(f"{row[name]:.2g}", row[name])
    return with_error(row.get(name), row.get(f"{name}_error")) if f"{name}_error" in row else row.get(name)


def split_columns(table: Table) -> tuple[Table, Table | None]:
    """Return the columns that people ask for first, which fit on a screen, and a table of the others, if there are any.

    Examples
    --------
    >>> first, others = split_columns(Table(["n", "method", "bias", "variance"], [[20, "loo", 0.1, 0.02]]))
    >>> first.columns, others.columns
    (['n', 'method', 'bias'], ['n', 'method', 'variance'])
    """
    late = {WORDS.get(name, name.replace("_", " ")) for name in LATE}
    names = {WORDS.get(name, name) for name in ("population", "model", "n", "method")}
    first = [k for k, word in enumerate(table.columns) if word not in late]
    others = [k for k, word in enumerate(table.columns) if word in late or word in names]
    if len(first) == len(table.columns):
        return table, None
    parts = [
        Table([table.columns[k] for k in kept], [[row[k] for k in kept] for row in table.rows])
        for kept in (first, others)
    ]
    return replace(parts[0], caption=table.caption), parts[1]
