"""Results as text: aligned tables, and errors as people say them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

__all__ = ["RATES", "percent_or_number", "text_table", "three_digits"]

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


def three_digits(value: float) -> str:
    """Return a number to three digits, large ones written out.

    Examples
    --------
    >>> three_digits(0.012345), three_digits(2088.1)
    ('0.0123', '2088')
    """
    return f"{value + 0.0:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value + 0.0:.3g}"


def text_table(
    rows: Sequence[Mapping[str, Any] | Sequence[Any]],
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    header: bool = True,
    right: Collection[str] = (),
    indent: str = "",
    omit_empty: bool = False,
) -> str:
    """Return rows as an aligned text table; numbers to four significant digits, "-" for None.

    Parameters
    ----------
    rows : sequence of mappings, or of sequences of cells
        One per line. Sequences hold their cells in the order of `columns`.
    columns : sequence of str or mapping of str to str, optional
        Keys of the columns, in order, or their headings by key; by default the keys of the first row.
    header : bool
        Whether the names stand in the first line.
    right : collection of str
        Columns whose cells end at the same place; the others begin there.
    indent : str
        Text before every line.
    omit_empty : bool
        Whether columns are left out in which every cell is None or "".

    Examples
    --------
    >>> print(text_table([{"method": "kfold", "value": 0.12345}]))
    method  value
    kfold   0.1235
    >>> print(text_table([("kfold", 8), ("loo", 120)], ["method", "fits"], header=False, right={"fits"}, indent="  "))
      kfold    8
      loo    120
    """
    if not rows:
        return "(none)"
    names = _keys(rows[0]) if columns is None else list(columns)
    lines = [[row.get(name) for name in names] if isinstance(row, Mapping) else list(row) for row in rows]
    shown = [k for k in range(len(names)) if not omit_empty or any(line[k] not in (None, "") for line in lines)]
    cells = [[_cell(line[k], omit_empty) for k in shown] for line in lines]
    if header:
        headings = list(columns.values()) if isinstance(columns, Mapping) else names
        cells.insert(0, [headings[k] for k in shown])
    widths = [max(len(line[k]) for line in cells) for k in range(len(shown))]
    justify = [str.rjust if names[k] in right else str.ljust for k in shown]
    return "\n".join(
        (indent + "  ".join(put(c, w) for put, c, w in zip(justify, line, widths))).rstrip() for line in cells
    )


def _keys(row: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    if not isinstance(row, Mapping):
        raise TypeError("rows of plain cells need the names of their columns; give columns.")
    return list(row)


def _cell(value: Any, dash_empty: bool) -> str:
    if value is None or (dash_empty and value == ""):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
