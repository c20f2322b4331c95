"""Counts behind a rate: how many units' worth of evidence, and how many of them were errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval
from unseen.core.losses import LossTable
from unseen.core.method import check_table, finish
from unseen.core.notes import Note, note
from unseen.estimators.unit_mean import for_this_model, unit_mean

__all__ = ["Rate", "rate_estimate", "rate_of", "trusted_size"]


def trusted_size(size: float, rows: int, units: int, level: float) -> float:
    """Return the effective size that an interval may count on, if its standard error comes from so many units.

    The size is reduced by the square of the ratio of two quantiles of Student's t, with rows - 1 and units - 1 degrees of
    freedom, because an error from few units is uncertain itself; it stays between 1 and the rows.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    >>> round(trusted_size(20.0, 80, 8, 0.95), 2), trusted_size(20.0, 80, 80, 0.95)
    (14.17, 20.0)
    """
    from scipy.special import stdtrit

    if units < 2 or units >= rows:
        return float(np.clip(size, 1, rows))
    tail = (1 + level) / 2
    ratio = float(stdtrit(rows - 1, tail) / stdtrit(units - 1, tail))
    return float(np.clip(size * ratio**2, 1, rows))


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Share of errors and the number of independent rows an interval may count on, with its error, range and a remark."""

    share: float
    size: float
    error: float
    low: float
    span: float
    notes: tuple[Note, ...] = ()


def rate_of(method: Any, table: LossTable, level: float) -> Rate:
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
        return _rate(share, float(mean.n_rows), low, high)
    variance = (mean.std_error / (high - low)) ** 2
    raw = float(mean.n_units) if variance == 0 else share * (1 - share) / variance
    rate = _rate(share, float(np.clip(raw, 1, mean.n_rows)), low, high)
    size = raw if variance == 0 else trusted_size(raw, mean.n_rows, mean.n_units, level)
    text = f"{mean.n_rows} rows of {mean.n_units} units count as {size:.1f} independent ones"
    return replace(rate, size=size, notes=(note("U016", text),))


def _rate(share: float, size: float, low: float, high: float) -> Rate:
    return Rate(share=share, size=size, error=float(np.sqrt(share * (1 - share) / size)), low=low, span=high - low)


def rate_estimate(
    method: Any, table: LossTable, level: float, ends: Callable[[Rate, float], tuple[float, float]]
) -> Estimate:
    """Return the rate of held-out rows, its standard error and the interval that `ends(rate, level)` gives a share."""
    level = check_table(method, table, level)
    rate = rate_of(method, table, level)
    low, high = (rate.low + rate.span * end for end in ends(rate, level))
    se = rate.span * rate.error
    value = rate.low + rate.span * rate.share
    made = finish(method, table, value, se, Interval(low, high, level), None, notes=rate.notes)
    return for_this_model(made, table)
