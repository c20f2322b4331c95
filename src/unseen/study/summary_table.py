"""The summary of a study as a table of a page: rates in per cent, Monte-Carlo errors in brackets, what is the same throughout in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unseen.show.sections import Table, TableCell
from unseen.show.style import is_rate

__all__ = ["ORDER", "WORDS", "split_columns", "summary_table", "unit_of", "with_error"]

SAME = ("population", "model", "target")
ORDER = ("population", "model", "n", "method", "replications", "failed", "bias", "rms", "coverage", "width", "correlation", "size",
         "power", "truth", "variance", "internal", "total", "target_bias", "seconds", "target")  # fmt: skip
# what stands in a table of its own: variances, and what the target of a method is
LATE = ("variance", "internal", "total", "target_bias", "target")
# errors, differences of errors, and shares of replications, by column
ERRORS = frozenset({"rms", "truth", "width"})
GAPS = frozenset({"bias", "target_bias"})
SHARES = frozenset({"coverage", "size", "power"})
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


def unit_of(name: str, loss: str) -> str:
    """Return how a column of a summary is shown: "%", "points" for differences of rates, or "" for plain numbers.

    Shares of intervals and of rejections are rates whatever the loss is.

    Examples
    --------
    >>> unit_of("rms", "zero-one"), unit_of("bias", "zero-one"), unit_of("bias", "squared"), unit_of("coverage", "squared")
    ('%', 'points', '', '%')
    """
    if name in SHARES or (name in ERRORS and is_rate(loss)):
        return "%"
    return "points" if name in GAPS and is_rate(loss) else ""


def with_error(value: float | None, error: float | None = None, unit: str = "") -> Any:
    """Return a number with its Monte-Carlo error in brackets, both to the second digit of the error.

    Examples
    --------
    >>> with_error(0.012345, 0.00041).text, with_error(0.5), with_error(12.0, 0.0).text
    ('0.01235 (0.00041)', 0.5, '12 (0)')
    >>> with_error(-0.0004, 0.023).text, with_error(0.2531, 0.0042, "%").text, with_error(-0.02, None, "points").text
    ('0.000 (0.023)', '25.31% (0.42)', '-2.0')
    """
    if value is None or not math.isfinite(value):
        return value
    known = error is not None and math.isfinite(error)
    if not unit and not known:
        return value
    mark, sign, scale = "%" * (unit == "%"), "+" * (unit == "points"), 100 if unit else 1
    number = scale * value + 0.0
    if error is None or not known:
        return TableCell(f"{number:{sign}.1f}{mark}", value)
    if error <= 1e-7 * abs(value):  # rounding, or nothing varied
        return TableCell(f"{number:{sign}.4g}{mark} (0)", value)
    spread = scale * error
    places = min(max(1 - math.floor(math.log10(spread)), 0), 9)
    return TableCell(f"{round(number, places) + 0.0:{sign}.{places}f}{mark} ({spread:.{places}f})", value)


def summary_table(
    rows: Sequence[dict[str, Any]], caption: str = "", losses: Sequence[str] = ()
) -> tuple[Table | None, list[str]]:
    """Return the rows of a summary with errors beside their numbers, and sentences for what is the same throughout.

    Parameters
    ----------
    rows : sequence of dict
        One per cell.
    caption : str
        What stands above.
    losses : sequence of str
        What the errors of each row are means of: shares of cases are shown in per cent, their differences in points. Without it
        they are plain numbers.

    Examples
    --------
    >>> rows = [{"model": "lda", "n": n, "bias": 0.01, "bias_error": 0.002, "rms": 0.05} for n in (20, 40)]
    >>> table, words = summary_table(rows, losses=["zero-one"] * 2)
    >>> table.columns, [cell.text for cell in table.rows[0][1:]], words
    (['n', 'bias (points)', 'RMS'], ['+1.00 (0.20)', '5.0%'], ['In every cell: model lda.'])
    >>> summary_table(rows, losses=["squared"] * 2)[0].rows[0][1].text
    '0.0100 (0.0020)'
    """
    if not rows:
        return None, []
    losses = losses or [""] * len(rows)
    names = list(dict.fromkeys(k for row in rows for k in row))
    names = [n for n in names if not (n.endswith("_error") and n[:-6] in names)]
    names.sort(key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    same = {n: rows[0].get(n) for n in names if n in SAME and len({row.get(n) for row in rows}) == 1}
    if len(rows) == 1:
        same = {}
    names = [n for n in names if n not in same and not (n == "failed" and not any(row.get(n) for row in rows))]
    names = [n for n in names if any(row.get(n) is not None and row[n] == row[n] for row in rows)]
    units = {n: {unit_of(n, loss) for loss in losses} for n in names}
    body = [[_shown(row, n, loss, len(units[n]) > 1) for n in names] for row, loss in zip(rows, losses)]
    words = [f"In every cell: {', '.join(f'{k} {v}' for k, v in same.items())}."] if same else []
    heads = [WORDS.get(n, n.replace("_", " ")) + (" (points)" if units[n] == {"points"} else "") for n in names]
    return Table(heads, body, caption), words


def _shown(row: dict[str, Any], name: str, loss: str, named: bool) -> Any:
    """Return a cell; seconds say how long, so that two digits without an error are enough.

    `named` says that other rows of the column have another unit.
    """
    value = row.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return value
    if name == "seconds" and math.isfinite(value):
        return TableCell(f"{value:.2g}", value)
    unit = unit_of(name, loss)
    if not unit and f"{name}_error" not in row:
        return value
    made = with_error(value, row.get(f"{name}_error"), unit)
    return replace(made, text=f"{made.text} points") if named and unit == "points" else made


def split_columns(table: Table) -> tuple[Table, Table | None]:
    """Return the columns that people ask for first, which fit on a screen, and a table of the others, if there are any.

    Examples
    --------
    >>> first, others = split_columns(Table(["n", "method", "bias", "variance"], [[20, "loo", 0.1, 0.02]]))
    >>> first.columns, others.columns
    (['n', 'method', 'bias'], ['n', 'method', 'variance'])
    """
    late = {WORDS.get(name, name.replace("_", " ")) + unit for name in LATE for unit in ("", " (points)")}
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
