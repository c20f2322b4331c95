"""Errors of kept results in the unit that the sentence above them has: per cent of cases, the root of squares, or the score asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unseen.assessment.wording import value_in_units
from unseen.core.scale import measure_name
from unseen.show.text import RATES, percent_or_number
from unseen.web._dots import number_of

__all__ = ["SHARES", "SQUARED", "KeptAnswer", "answer_of", "root", "row_in_units", "unit_of_column"]

SQUARED = "squared"  # told by its root, the RMSE
# columns of errors, which are shares if their loss is one
SHARES = (
    "value",
    "lower",
    "upper",
    "estimate",
    "difference",
    "std error",
    "interval low",
    "interval high",
    "expected rms",
    "worst rms",
)
ENDS = (("lower", "upper"), ("interval low", "interval high"))
POINTS = ("value", "estimate", *(name for pair in ENDS for name in pair))
MEASURED = (
    "loss",
    "term",
    "measure",
    "name",
)  # columns that say what the numbers of a row are, the first that is there


def root(value: float) -> float:
    """Return the root of a mean of squares; rounding may leave one below 0."""
    return math.sqrt(max(value, 0.0))


def row_in_units(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of estimates in the units of the report: a score for a loss made of it, and the root of a mean of squares.

    Examples
    --------
    >>> row_in_units({"method": "loo", "loss": "1 - auc", "value": 0.25, "interval low": 0.125, "interval high": 0.5})
    {'method': 'loo', 'loss': 'auc', 'value': 0.75, 'interval low': 0.5, 'interval high': 0.875}
    >>> row_in_units({"loss": "squared", "value": 4.0, "std error": 1.0})
    {'loss': 'rmse', 'value': 2.0, 'std error': 0.25}
    """
    loss = row.get("loss")
    if not isinstance(loss, str) or "difference" in row or value_in_units(loss, 0.0)[0] == loss:
        return dict(row)
    new = {**row, "loss": value_in_units(loss, 0.0)[0]}
    for name in POINTS:
        if (number := number_of(row.get(name))) is not None:
            new[name] = value_in_units(loss, number)[1]
    for low, high in ENDS:
        ends = [number for name in (low, high) if (number := number_of(new.get(name))) is not None]
        if len(ends) == 2:
            new[low], new[high] = sorted(ends)
    spread, value = number_of(row.get("std error")), number_of(new.get("value", new.get("estimate")))
    if loss == SQUARED and spread is not None:
        # by the delta method: the root moves half as fast as the square, divided by the root
        new["std error"] = spread / (2 * value) if value else None
    return new


def unit_of_column(name: str, row: Mapping[str, Any], gaps: bool) -> str:
    """Return the unit of a number in a row of a kept table: "%", "points" in a table of differences, or "".

    Examples
    --------
    >>> unit_of_column("value", {"loss": "zero-one"}, False), unit_of_column("lower", {"loss": "zero-one"}, True)
    ('%', 'points')
    >>> unit_of_column("value", {"loss": "squared"}, False), unit_of_column("n", {"loss": "zero-one"}, False)
    ('', '')
    """
    measured = next((row[one] for one in MEASURED if one in row), None)
    if not isinstance(measured, str) or measured not in RATES or name not in SHARES:
        return ""
    return "points" if gaps else "%"


@dataclass(frozen=True)
class KeptAnswer:
    """The number an assessment is told by, with its limits where it has any: the error, the RMSE, or the score asked for."""

    measure: str
    value: float
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """What it is called."""
        return "error" if self.measure in RATES else measure_name(self.measure)

    def say(self, value: float | None) -> str:
        """Return one of its numbers as text; empty for none."""
        return "" if value is None else percent_or_number(value, self.measure)


def answer_of(payload: Mapping[str, Any]) -> KeptAnswer | None:
    """Return what an assessment is told by; None for a record without an error.

    Examples
    --------
    >>> answer_of({"error": 4.0, "interval": [1.0, 9.0], "loss": "squared"})
    KeptAnswer(measure='rmse', value=2.0, low=1.0, high=3.0)
    >>> made = answer_of({"error": 0.1, "loss": "1 - auc", "measure": {"name": "auc", "value": 0.9, "lower": 0.8, "upper": 0.95}})
    >>> made.name, made.say(made.value)
    ('AUC', '0.9')
    """
    measure, others = payload.get("measure"), payload.get("measures")
    if isinstance(others, dict) and isinstance(others.get("rmse"), dict):  # what the sentence of a regression says
        measure = {"name": "rmse", **others["rmse"]}
    if isinstance(measure, dict) and measure.get("name") not in (None, *RATES, SQUARED):
        value, low, high = (number_of(measure.get(key)) for key in ("value", "lower", "upper"))
        return None if value is None else KeptAnswer(str(measure["name"]), value, low, high)
    value, ends, loss = number_of(payload.get("error")), payload.get("interval"), str(payload.get("loss", ""))
    if value is None:
        return None
    low, high = map(number_of, ends) if isinstance(ends, list) and len(ends) == 2 else (None, None)
    if loss == SQUARED:
        return KeptAnswer("rmse", root(value), None if low is None else root(low), None if high is None else root(high))
    return KeptAnswer(loss, value, low, high)
