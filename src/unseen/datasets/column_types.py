"""Types of text columns: numbers, truth values, dates or categories, found from their values."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from unseen.core.errors import InputError

__all__ = ["with_column_types"]

# marks that count as missing in a column of numbers, and as text in any other
SOFT_MISSING = frozenset({"", ".", "-", "--", "None", "none", "Missing", "missing"})
_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?|[+-]?\d+,")
_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_NO_MARK = re.compile(r"[+-]?\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?|[+-]?\d{1,3}(?:,\d{3})+\.\d*|[+-]?\d{1,3}(?:,\d{3}){2,}")
_GROUPED_COMMA = re.compile(r"[+-]?\d{1,3},\d{3}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


def with_column_types(frame: Any, sep: str, decimal: str | None, as_text: Collection[str]) -> Any:
    """Return the frame with every text column that holds numbers or dates turned into them, and the rest categories.

    Decimal commas are recognised if the separator is not a comma and no other column uses a decimal point. If that leaves two
    readings, the file is refused with the hint `--decimal`, so that numbers never become categories.
    """
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal is {decimal!r}; the decimal mark is . or ,")
    points = [] if decimal else [n for n, d in zip(frame.columns, frame.dtypes) if _has_fractions(frame[n], d)]
    changed = {}
    for name, dtype in zip(frame.columns, frame.dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
            continue
        column = frame[name]
        if name in as_text:
            changed[name] = column.astype(object)
        else:
            changed[name] = _column(column, name, sep, decimal, points)
    return frame.assign(**changed) if changed else frame


def _has_fractions(column: Any, dtype: Any) -> bool:
    if not (isinstance(dtype, np.dtype) and dtype.kind == "f"):
        return False
    values = column.to_numpy()
    values = values[np.isfinite(values)]
    return bool(np.any(values != np.round(values)))


def _column(column: Any, name: str, sep: str, decimal: str | None, points: list[str]) -> Any:
    import pandas as pd

    values = pd.Series(column.dropna().unique())
    if len(values) == 0:
        return column.astype(float)
    if all(isinstance(v, (bool, np.bool_)) for v in values):
        return column.map({True: 1.0, False: 0.0}).astype(float)
    text = values.map(str).str.strip()
    firm = [t for t in text if t not in SOFT_MISSING]
    if firm and _floats(firm) is not None and decimal != ",":
        return _map_values(column, values, text, lambda t: _floats([t])[0])  # type: ignore[index]
    if firm and any(c.isdigit() for c in firm[0]):
        if decimal == ",":
            numbers = _floats([_with_point(t) for t in firm])
            if numbers is not None:
                return _map_values(column, values, text, lambda t: _floats([_with_point(t)])[0])  # type: ignore[index]
        elif _is_comma_numbers(firm):
            _refuse_ambiguous_commas(firm, name, sep, decimal, points)
            return _map_values(column, values, text, lambda t: float(t.replace(",", ".")))
        elif _is_grouped_numbers(firm):
            raise _decimal_mark_error(name, firm, "with marks between thousands")
        if all(_DATE.fullmatch(t) for t in firm):
            return _dates(column, name)
    return column.map({v: t or np.nan for v, t in zip(values, text)}).astype("category")


def _floats(texts: list[str]) -> list[float] | None:
    try:
        if any("_" in t for t in texts):
            return None
        return [float(t) for t in texts]
    except ValueError:
        return None


def _with_point(text: str) -> str:
    return text.replace(".", "").replace(",", ".") if "," in text or _THOUSANDS.fullmatch(text) else text


def _is_comma_numbers(texts: list[str]) -> bool:
    return any("," in t for t in texts) and all(_COMMA.fullmatch(t) or _NO_MARK.fullmatch(t) for t in texts)


def _is_grouped_numbers(texts: list[str]) -> bool:
    kinds = (_THOUSANDS, _COMMA, _NO_MARK, _POINT)
    return any(_THOUSANDS.fullmatch(t) or "," in t for t in texts) and all(
        any(kind.fullmatch(t) for kind in kinds) for t in texts
    )


def _refuse_ambiguous_commas(texts: list[str], name: str, sep: str, decimal: str | None, points: list[str]) -> None:
    if decimal == ".":
        raise _decimal_mark_error(name, texts, "although the decimal mark was given as a point")
    if points:
        raise _decimal_mark_error(name, texts, f"while column {points[0]!r} has a decimal point")
    if sep == "," or (sep != ";" and all(_GROUPED_COMMA.fullmatch(t) or _NO_MARK.fullmatch(t) for t in texts)):
        raise _decimal_mark_error(name, texts, "in which the comma may be a decimal mark or stand between thousands")


def _decimal_mark_error(name: str, texts: list[str], why: str) -> InputError:
    example = next((t for t in texts if "," in t or "." in t), texts[0])
    return InputError(
        f"column {name!r} holds numbers such as {example!r} {why}; give --decimal , if the comma is the decimal mark, or remove the marks from the file."
    )


def _map_values(column: Any, values: Any, text: Any, number: Any) -> Any:
    table = {v: (np.nan if t in SOFT_MISSING else number(t)) for v, t in zip(values, text)}
    numbers = column.map(table).astype(float)
    whole = all(_WHOLE.fullmatch(t) for t in text) and not column.isna().any()
    return numbers.astype(np.int64) if whole and numbers.abs().max() < 2**53 else numbers


def _dates(column: Any, name: str) -> Any:
    import pandas as pd

    try:
        return pd.to_datetime(column.astype(object), format="ISO8601", utc=True).dt.tz_localize(None)
    except (ValueError, OverflowError) as error:
        odd = next((v for v in column.dropna().unique() if pd.isna(pd.to_datetime(v, errors="coerce"))), "")
        raise InputError(
            f"column {name!r} looks like dates, but {str(odd)!r} is not a date; write dates as 2026-03-01."
        ) from error
