"""Results as text: aligned tables, and errors as people say them."""

from __future__ import annotations

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


def text_table(rows: list[dict[str, Any]], columns: list[str] | None = None) -> str:
    """Return rows as an aligned text table; numbers to four significant digits.

    Examples
    --------
    >>> print(text_table([{"method": "kfold", "value": 0.12345}]))
    method  value
    kfold   0.1235
    """
    if not rows:
        return "(none)"
    names = columns or list(rows[0])
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[k]) for line in cells)) for k, name in enumerate(names)]
    lines = [names, *cells]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
