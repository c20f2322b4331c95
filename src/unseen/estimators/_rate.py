"""Counts behind a rate: how many units' worth of evidence, and how many of them were errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval
from unseen.core.losses import LossTable
from unseen.core.method import check_table, finish
from unseen.core.notes import Note, note
from unseen.estimators._unit_mean import of_the_model, unit_mean

__all__ = ["Rate", "rate_estimate", "rate_of"]


@dataclass(frozen=True)
class Rate:
    """Share of errors and the number of independent rows it is worth, with the loss's range and a remark."""

    share: float
    size: float
    low: float
    span: float
    notes: tuple[Note, ...] = ()


def rate_of(method: Any, table: LossTable) -> Rate:
    """Return the rate of a two-valued loss; grouped or weighted rows count as n_eff = p (1 - p) / SE^2 rows.

    The effective size is that of Korn and Graubard (1998, Survey Methodology 24, 193-201), between 1 and the rows.
    """
    low, high = table.range
    values = table.test.value
    if not np.all((values == low) | (values == high)):
        raise NotApplicable(f"{method.id} is an interval for a rate; {table.loss} takes other values, so use wald.")
    mean = unit_mean(table)
    if mean.n_units < 1 or (mean.n_units < 2 and mean.n_rows > 1):
        raise InputError(f"{method.id} needs at least 2 held-out units; there is {mean.n_units}.")
    share = (mean.value - low) / (high - low)
    dependent = mean.n_rows > mean.n_units or np.ptp(table.row_weights(table.test.row)) > 0
    if not dependent:
        return Rate(share, float(mean.n_rows), low, high - low)
    variance = (mean.std_error / (high - low)) ** 2
    size = float(mean.n_units) if variance == 0 else float(np.clip(share * (1 - share) / variance, 1, mean.n_rows))
    text = f"{mean.n_rows} rows of {mean.n_units} units count as {size:.1f} independent ones"
    return Rate(share, size, low, high - low, (note("U016", text),))


def rate_estimate(
    method: Any, table: LossTable, level: float, ends: Callable[[Rate, float], tuple[float, float]]
) -> Estimate:
    """Return the rate of held-out rows, its standard error and the interval that `ends(rate, level)` gives a share."""
    level = check_table(method, table, level)
    rate = rate_of(method, table)
    low, high = (rate.low + rate.span * end for end in ends(rate, level))
    se = rate.span * np.sqrt(rate.share * (1 - rate.share) / rate.size)
    value = rate.low + rate.span * rate.share
    made = finish(method, table, value, se, Interval(low, high, level), None, notes=rate.notes)
    return of_the_model(made, table)
