"""The check every table method starts with, and the ways most of them end."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.errors import DesignError, InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, Target, check_level
from unseen.core.losses import LossTable
from unseen.core.notes import Note, merge_notes, note

__all__ = [
    "bound_without_spread",
    "check_table",
    "count_tested_units",
    "finish",
    "no_spread",
    "normal_interval",
    "point_estimate",
    "split_freedom",
    "t_interval",
]


def check_table(method: Any, table: LossTable, level: float = 0.95) -> float:
    """Refuse a table the method is not valid for; return the checked level."""
    if table.plan.design not in method.designs:
        raise DesignError(
            f"{method.id} is not valid for the design {table.plan.design!r}; it needs {' or '.join(sorted(method.designs))}."
        )
    if table.is_difference and not method.linear:
        raise InputError(
            f"{method.id} is not linear in the losses and cannot be applied to a difference of two models."
        )
    if table.by_split and not method.by_split:
        raise NotApplicable(
            f"{method.id} needs the loss of each unit, and {table.loss} exists for whole test parts only; use corrected-t."
        )
    if "train" in method.needs and table.train is None:
        raise InputError(f"{method.id} needs training predictions; make the table with run(..., train=True).")
    if "full" in method.needs and table.full is None:
        raise InputError(f"{method.id} needs the fit on all rows; make the table with run(..., full=True).")
    if table.data.weights is not None and not method.weighted:
        raise InputError(f"{method.id} has no weighted form; leave the weights out or choose another method.")
    if len(table.completed) == 0:
        raise InputError(f"{method.id}: no split of this table was completed.")
    return check_level(level)


def point_estimate(
    method: Any, table: LossTable, value: float, *, notes: tuple[Note, ...] = (), n_train: float | None = None
) -> Estimate:
    """Return an estimate that has no valid interval."""
    return finish(method, table, value, None, None, None, notes=notes, n_train=n_train)


def t_interval(
    method: Any,
    table: LossTable,
    value: float,
    se: float,
    level: float,
    df: float,
    notes: tuple[Note, ...] = (),
    n_train: float | None = None,
) -> Estimate:
    """Return an estimate with a Student-t interval, cut at the ends of the loss's range."""
    from scipy.special import stdtrit

    return _wald(method, table, value, se, level, float(stdtrit(df, (1 + level) / 2)), df, notes, n_train)


def normal_interval(
    method: Any,
    table: LossTable,
    value: float,
    se: float,
    level: float,
    notes: tuple[Note, ...] = (),
    n_train: float | None = None,
) -> Estimate:
    """Return an estimate with a normal interval, cut at the ends of the loss's range."""
    from scipy.special import ndtri

    return _wald(method, table, value, se, level, float(ndtri((1 + level) / 2)), None, notes, n_train)


def _wald(
    method: Any,
    table: LossTable,
    value: float,
    se: float,
    level: float,
    quantile: float,
    df: float | None,
    notes: tuple[Note, ...],
    n_train: float | None,
) -> Estimate:
    if no_spread(se, table):
        return _without_spread(method, table, value, level, df, notes, n_train)
    interval = Interval(value - quantile * se, value + quantile * se, level)
    return finish(method, table, value, se, interval, df, notes=notes, n_train=n_train)


def no_spread(se: float, table: LossTable) -> bool:
    """Say whether a standard error is zero but for rounding."""
    return not se > 1e-13 * float(np.max(np.abs(table.test.value), initial=0.0))


def _without_spread(
    method: Any,
    table: LossTable,
    value: float,
    level: float,
    df: float | None,
    notes: tuple[Note, ...],
    n_train: float | None,
) -> Estimate:
    """All splits agree: bound a rate, or a perfect score, by Clopper-Pearson over the tested units, else give no interval."""
    interval, text = bound_without_spread(table, value, level)
    text = f"all splits gave the same value{', so no' if interval is None else '; the'} {text}"
    df = df if interval is None else None
    return finish(method, table, value, 0.0, interval, df, notes=(*notes, note("U010", text)), n_train=n_train)


def bound_without_spread(table: LossTable, value: float, level: float) -> tuple[Interval | None, str]:
    """Return Clopper-Pearson's interval of a value that does not vary, None if it bounds nothing, and a text about it."""
    low, high = table.range
    between = table.by_split and min(value - low, high - value) > 1e-12  # such as the area .5 of a constant
    if table.is_difference or between or not np.isfinite(high - low):
        return None, "interval can be given"
    from scipy.special import betaincinv

    units, which = count_tested_units(table)
    hits, tail = (value - low) / (high - low) * units, (1 - level) / 2
    ends = (
        0.0 if hits <= 0 else float(betaincinv(hits, units - hits + 1, tail)),
        1.0 if hits >= units else float(betaincinv(hits + 1, units - hits, 1 - tail)),
    )
    interval = Interval(low + (high - low) * ends[0], low + (high - low) * ends[1], level)
    return interval, f"interval is Clopper-Pearson's for {units} tested units{which}"


def count_tested_units(table: LossTable) -> tuple[int, str]:
    """Return how many independent units a value without spread rests on: for a measure of sets, those of the rarest class."""
    if not table.by_split:
        return int(np.isfinite(table.by_unit()).sum()), ""
    rows, data = np.unique(table.test.row), table.data
    if data.classes is None:
        return len(np.unique(data.units[rows])), ""
    each = [len(np.unique(data.units[rows[data.codes[rows] == k]])) for k in np.unique(data.codes[rows])]
    return min(each), " of the rarest class"


def split_freedom(table: LossTable, splits: int) -> int:
    """Return the degrees of freedom of a spread over splits: one less than these, or than the units if those are fewer.

    Many splits of few units show no more of them than there are: 25 splits of six groups at 24 degrees of freedom cover .90
    instead of .95.
    """
    return max(1, min(splits, table.data.n_units) - 1)


def finish(
    method: Any,
    table: LossTable,
    value: float,
    std_error: float | None,
    interval: Interval | None,
    df: float | None,
    *,
    notes: tuple[Note, ...] = (),
    n_train: float | None = None,
) -> Estimate:
    """Fill in what every table method reports, cutting the interval at the loss's range."""
    remarks = list(merge_notes(table.notes, notes))
    if interval is not None:
        cut = interval.clip(*table.range)
        if cut != interval:
            remarks.append(note("U007", f"the interval {interval} of {table.loss} was cut to {cut}"))
        interval = cut
    target: Target = method.target
    if target.kind == "algorithm":
        target = target.at_share(table.data, table.plan.mean_sizes()[1] if n_train is None else n_train)
    return Estimate(
        value=float(value),
        std_error=std_error if std_error is None else float(std_error),
        interval=interval,
        df=df,
        method=method.id,
        target=target,
        loss=table.loss,
        n_units=table.data.n_units,
        n_fits=table.n_fits,
        seconds=table.seconds,
        notes=tuple(remarks),
    )
