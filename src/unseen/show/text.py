"""Results as text: aligned tables, and errors as people say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["RATES", "percent_or_number", "text_table"]

# losses whose mean is a share of cases
RATES = frozenset({"zero-one"})


def percent_or_number(value: float, loss: str) -> str:
    """Return an error as people say it: a percentage for a rate, else four digits, large numbers written out.

    Examples
    --------
    >>> percent_or_number(0.125, "zero-one"), percent_or_number(25620.3, "squared")
    ('12.5%', '25620')
    """
    if loss in RATES:
        return f"{100 * value:.1f}%"
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def text_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    head: bool = True,
    indent: str = "",
) -> str:
    """Return rows as an aligned text table; numbers to four significant digits, None as a dash.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping per line.
    columns : sequence of str or mapping of str to str, optional
        Which keys to show, in this order, or their headings by key; all keys of the first row by default.
    head : bool
        Whether the first line shows the headings.
    indent : str
        What every line begins with.

    Examples
    --------
    >>> print(text_table([{"method": "kfold", "value": 0.12345}]))
    method  value
    kfold   0.1235
    >>> print(text_table([{"a": 1, "b": None}], {"b": "second", "a": "first"}, indent="  "))
      second  first
      -       1
    """
    if not rows:
        return "(none)"
    names = list(rows[0]) if columns is None else list(columns)
    headings = [columns[name] for name in names] if isinstance(columns, Mapping) else names
    lines = [[_cell(row.get(name)) for name in names] for row in rows]
    if head:
        lines.insert(0, headings)
    widths = [max(len(line[k]) for line in lines) for k in range(len(names))]
    return "\n".join(indent + "  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
