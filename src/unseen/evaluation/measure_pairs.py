"""Measures of whole sets from files of predictions: one model's loss, and paired differences of two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.core.scale import as_loss
from unseen.estimators.bootstrap_intervals import bca_ends
from unseen.evaluation.measure import one_measure
from unseen.evaluation.measure_intervals import LEAST_UNITS, ONE_NUMBER, ROUND_OFF, BootstrapIntervals, blocks_of
from unseen.evaluation.scored_cases import ScoredCases, scored_cases_of
from unseen.measures.area_variance import area_freedom, delong
from unseen.significance.paired import comparison_of

__all__ = ["set_difference", "set_estimate"]

# as in `unseen.measure`
N_BOOTSTRAP = 2000
# bounds the memory of one block of resamples
CELLS_AT_ONCE = 2_000_000
# stands for infinitely many degrees of freedom, which JSON cannot hold
MOST_FREEDOM = 1e9


def set_estimate(table: LossTable, level: float) -> Estimate:
    """Return a measure of one file's predictions as a loss, with the interval `unseen.measure` gives it."""
    source, measure = table.source[0], table.measure
    cases = scored_cases_of(source)
    boot = BootstrapIntervals(cases=cases, n_draws=N_BOOTSTRAP, seed=source.seed, level=level)
    made = one_measure(boot, measure)
    if made is None:
        raise InputError(f"{measure.id} is undefined on these predictions or on most of their resamples.")
    _, offset, sign = as_loss(measure)
    ends = made.interval
    if ends is not None:
        low, high = sorted(offset + sign * end for end in ends)
        ends = Interval(low, high, level)
    return replace(made, value=offset + sign * made.value, interval=ends, loss=table.loss)


def set_difference(a: LossTable, b: LossTable, level: float) -> Comparison:
    """Return the paired difference of a measure: DeLong's for areas, else by resampling the units of both together."""
    difference = a.minus(b)
    one, two = scored_cases_of(a.source[0]), scored_cases_of(b.source[0])
    if a.measure.id == "auc":
        value, se, df, ends = _area_difference(one, two, level)
        method = "delong"
    else:
        value, se, ends = _bootstrap_difference(a, one, two, level)
        df = float(one.n_units - 1)
        method = "paired-bootstrap"
    notes = () if ends is not None else (_no_interval_note(one, value),)
    interval = None if ends is None else Interval(*ends, level).clip(*difference.range)
    made = Estimate(
        value=value,
        std_error=se,
        interval=interval,
        df=df,
        method=method,
        target=Target.MODEL,
        loss=difference.loss,
        n_units=one.n_units,
        n_fits=0,
        notes=notes,
    )
    return _comparison(difference, made, level)


def _no_interval_note(cases: ScoredCases, value: float) -> Note:
    if cases.n_units < LEAST_UNITS:
        return note("U009", f"fewer than {LEAST_UNITS} independent units: no interval by resampling")
    why = "the two never differ" if value == 0 else "the difference has no spread over units"
    return note("U010", f"{why}, so no interval can be given")


def _comparison(difference: LossTable, made: Estimate, level: float) -> Comparison:
    from scipy.special import stdtr

    se, df = made.std_error or 0.0, made.df or MOST_FREEDOM
    statistic = made.value / se if se > 0 else (0.0 if made.value == 0 else None)
    p = float(2 * stdtr(df, -abs(statistic))) if statistic is not None else float("nan")
    return comparison_of(difference, made, level, statistic=statistic, reference=f"t({df:.4g})", p=p)


def _area_difference(
    one: ScoredCases, two: ScoredCases, level: float
) -> tuple[float, float, float, tuple[float, float] | None]:
    """Return difference, standard error, degrees of freedom (Satterthwaite's: a rare class leaves few) and t interval."""
    from scipy.special import stdtrit

    positive = one.y == one.positive
    first, second = one.column(one.positive), two.column(two.positive)
    areas, c = delong(positive, first, second, units=one.units)
    se = float(np.sqrt(max(c[0, 0] + c[1, 1] - 2 * c[0, 1], 0.0)))
    df = min(area_freedom(positive, first, one.units, minus=second), MOST_FREEDOM)
    value, half = float(areas[1] - areas[0]), float(stdtrit(df, (1 + level) / 2)) * se
    return value, se, df, (value - half, value + half) if se > 0 else None


def _bootstrap_difference(
    a: LossTable, one: ScoredCases, two: ScoredCases, level: float
) -> tuple[float, float, tuple[float, float] | None]:
    """Return difference, bootstrap standard error and BCa ends, 0 and None for few units; both models see the same resamples."""
    _, _, sign = as_loss(a.measure)
    n = one.n_units
    step = max(1, CELLS_AT_ONCE // one.n)
    id = a.measure.id
    rng = stream(a.source[0].seed, "paired-bootstrap", f"1 - {ONE_NUMBER[id]}" if id in ONE_NUMBER else a.loss)

    def differences(units: Floats) -> Floats:
        weights = units[:, one.units] * one.weight
        first, second = (_values(a.measure, cases, weights) for cases in (one, two))
        return sign * (first - second)

    draws = [
        differences(rng.multinomial(n, np.full(n, 1 / n), min(step, N_BOOTSTRAP - k)).astype(float))
        for k in range(0, N_BOOTSTRAP, step)
    ]
    blocks = blocks_of(n)
    left = [differences((blocks != k)[None].astype(float)) for k in range(int(blocks[-1]) + 1)]
    value = float(differences(np.ones((1, n)))[0])
    kept, rest = (v[np.isfinite(v)] for v in (np.concatenate(draws), np.concatenate(left)))
    if not np.isfinite(value) or len(kept) < N_BOOTSTRAP / 2:
        raise InputError(f"{a.measure.id} is undefined on these predictions or on most of their resamples.")
    if np.ptp(kept) <= ROUND_OFF or n < LEAST_UNITS:
        return value, 0.0, None
    return value, float(kept.std(ddof=1)), bca_ends(value, kept, rest, level)


def _values(measure: Any, cases: ScoredCases, weights: Floats) -> Floats:
    return np.asarray(measure.of_weights(cases.y, cases.value, cases.score, weights, cases.positive))
