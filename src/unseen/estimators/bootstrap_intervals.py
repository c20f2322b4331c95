"""Bootstrap of the held-out units for any measure of a set of predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval
from unseen.core.losses import LossTable
from unseen.core.method import finish
from unseen.core.notes import note
from unseen.core.registry import find
from unseen.core.rng import stream
from unseen.estimators._unit_mean import of_the_model

__all__ = ["Resampled", "measure_of", "no_variation", "resampled", "with_interval"]

MOST_BLOCKS = 400
CELLS_AT_ONCE = 4_000_000
ROUND_OFF = 1e-12
LEAST_UNITS, FEW_UNITS = 5, 20


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """A measure's value, its bootstrap draws, its leave-one-out values, and the measure's name and range."""

    value: float
    draws: Floats
    left_out: Floats
    name: str
    range: tuple[float, float]


def measure_of(method: Any) -> Any:
    """Return the measure a method was asked for, or None for the table's own loss."""
    return None if method.measure == "auto" else find(method.measure, "measures")()


def resampled(method: Any, table: LossTable, n_bootstrap: int) -> Resampled:
    """Return what percentile and BCa intervals are made of; whole units (groups) are drawn and left out."""
    if n_bootstrap < 100:
        raise InputError(f"{method.id} needs at least 100 bootstrap draws; n_bootstrap is {n_bootstrap}.")
    measure, rows = measure_of(method), table.test.row
    if measure is not None and measure.task not in (table.data.task, "any"):
        raise NotApplicable(f"{method.id}: {measure.id} is a measure for {measure.task}.")
    tested, place = np.unique(table.data.units[rows], return_inverse=True)
    n = len(tested)
    if n < LEAST_UNITS:
        raise InputError(f"{method.id} needs at least {LEAST_UNITS} held-out units; there are {n}.")
    rng = stream(table.source[0].seed, method.id, method.measure)
    draws = rng.multinomial(n, np.full(n, 1 / n), n_bootstrap).astype(float)
    blocks = np.arange(n) * min(n, MOST_BLOCKS) // n
    left = np.array([blocks != k for k in range(blocks[-1] + 1)], dtype=float)
    weight = table.row_weights(rows)
    values = [_values(measure, table, w, place.reshape(-1), weight) for w in (np.ones((1, n)), draws, left)]
    kept = values[1][np.isfinite(values[1])]
    if not np.isfinite(values[0][0]) or len(kept) < n_bootstrap / 2:
        raise InputError(f"{method.id}: {method.measure} is undefined on this test part or on most of its resamples.")
    name, span = (table.loss, table.range) if measure is None else (measure.id, measure.range)
    return Resampled(
        value=float(values[0][0]), draws=kept, left_out=values[2][np.isfinite(values[2])], name=name, range=span
    )


def _values(measure: Any, table: LossTable, units: Floats, place: Any, weight: Floats) -> Floats:
    """Return the measure for each row of unit multiplicities."""
    step = max(1, CELLS_AT_ONCE // len(place))
    parts = [_some(measure, table, units[k : k + step][:, place] * weight) for k in range(0, len(units), step)]
    return np.concatenate(parts)


def _some(measure: Any, table: LossTable, weights: Floats) -> Floats:
    if measure is None:
        return np.asarray(weights @ table.test.value / weights.sum(axis=1))
    data, test = table.data, table.source[0].test
    y = data.target[test.row]
    code = 1 if data.classes is None or data.positive is None else int(np.searchsorted(data.classes, data.positive))
    if hasattr(measure, "of_weights"):
        return np.asarray(measure.of_weights(y, test.value, test.score, weights, code))
    if hasattr(measure, "of_set"):
        return np.array([measure.of_set(y, test.value, test.score, w, code) for w in weights])
    return np.asarray(weights @ measure.per_example(y, test.value, test.score) / weights.sum(axis=1))


def with_interval(
    method: Any, table: LossTable, r: Resampled, ends: tuple[float, float] | None, level: float
) -> Estimate:
    """Return the estimate with its bootstrap standard error; no interval where the draws do not vary."""
    placed = replace(table, range=r.range)
    notes = () if ends is not None else (note("U010", "all resamples of the held-out units gave the same value"),)
    n = len(np.unique(table.data.units[table.test.row]))
    if n < FEW_UNITS:
        notes = (*notes, note("U009", f"only {n} held-out units, of which a bootstrap shows too little spread"))
    interval = None if ends is None else Interval(float(ends[0]), float(ends[1]), level)
    made = finish(method, placed, r.value, float(r.draws.std(ddof=1)), interval, None, notes=notes)
    return of_the_model(replace(made, loss=r.name), table)


def no_variation(r: Resampled) -> bool:
    """Say whether the draws are all the same but for rounding."""
    return float(np.ptp(r.draws)) <= ROUND_OFF * max(1.0, abs(r.value))
