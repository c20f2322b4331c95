"""What every comparison of two tables shares: the check, the statistics that need no test, and the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.comparison import Comparison, Rope, as_rope
from unseen.core.errors import DesignError, InputError, NotApplicable
from unseen.core.estimate import Estimate, check_level
from unseen.core.losses import LossTable
from unseen.core.method import finish
from unseen.core.notes import Note
from unseen.core.plan import Plan

__all__ = ["check_pair", "comparison_of", "from_estimate", "outer", "unit_values", "with_ropes", "without_interval"]


def outer(plan: Plan) -> Array:
    """Return a mask of the splits that cover the whole data; designs with splits inside parts have others too."""
    whole = np.array([s.part == -1 for s in plan.splits])
    return whole if whole.any() else ~whole


def unit_values(table: LossTable) -> Floats:
    """Return the (weighted) mean loss of each unit that an outer split tested."""
    keep = outer(table.plan)[table.test.split]
    rows, values = table.test.row[keep], table.test.value[keep]
    units, weight = table.data.units[rows], table.row_weights(rows)
    total = np.bincount(units, weight, table.data.n_units)
    tested = total > 0
    return np.asarray(np.bincount(units, weight * values, table.data.n_units)[tested] / total[tested])


def check_pair(test: Any, a: LossTable, b: LossTable, level: float) -> tuple[LossTable, float]:
    """Refuse tables that are not paired or of a design the test is not valid for; return a minus b and the level."""
    for table in (a, b):
        if table.plan.design not in test.designs:
            raise DesignError(
                f"{test.id} is not valid for the design {table.plan.design!r}; it needs {' or '.join(sorted(test.designs))}."
            )
        if table.data.weights is not None and not test.weighted:
            raise InputError(f"{test.id} has no weighted form; leave the weights out or choose another test.")
    if a.by_split and not test.by_split:
        raise NotApplicable(f"{test.id} needs the loss of each unit, and {a.loss} exists for whole test parts only.")
    difference = a.minus(b)
    if len(difference.completed) == 0:
        raise InputError(f"{test.id}: the two tables have no completed split in common.")
    if not np.all(np.isfinite(difference.test.value)):
        raise InputError(f"{test.id}: a loss is not a finite number; leave that model out or look at its predictions.")
    return difference, check_level(level)


def _share_of_splits(difference: LossTable) -> float | None:
    """Return the share of splits on which the first model is ahead; None if that says nothing.

    One split is no share of anything, and what a bootstrap sample leaves out is no split: samples differ in size and hold copies.
    """
    means = difference.split_means()[outer(difference.plan)[difference.completed]]
    if len(means) < 2 or difference.plan.design == "bootstrap":
        return None
    return float(np.mean(means < 0) + 0.5 * np.mean(means == 0))


def _effect(difference: LossTable, value: float) -> float | None:
    if difference.by_split:
        return None
    values = unit_values(difference)
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return float(value / spread) if spread > 0 else None


def comparison_of(
    difference: LossTable,
    estimate: Estimate,
    level: float,
    *,
    statistic: float | None,
    reference: str,
    p: float | None,
    rope: Rope | None = None,
) -> Comparison:
    """Return the record of one pair; models are named by their tables."""
    names = [table.model or f"model {k}" for k, table in enumerate(difference.source, 1)]
    return Comparison(
        a=names[0],
        b=names[1],
        estimate=estimate,
        statistic=statistic,
        reference=reference,
        p=p,
        p_adjusted=p,
        share_of_splits=_share_of_splits(difference),
        effect=_effect(difference, estimate.value),
        level=level,
        rope=rope,
    )


def without_interval(
    test: Any, difference: LossTable, value: float, notes: tuple[Note, ...] = (), std_error: float | None = None
) -> Estimate:
    """Return the difference as an estimate that has no interval."""
    return finish(test, difference, value, std_error, None, None, notes=notes)


def from_estimate(method: Any, difference: LossTable, level: float) -> Comparison:
    """Test a difference of zero by a method that gives it a standard error."""
    from scipy.special import ndtr, stdtr

    if not np.all(np.isfinite(difference.test.value)):
        raise InputError(
            f"{method.id}: a loss is not a finite number; leave that model out or look at its predictions."
        )
    estimate = method(difference, level=level)
    value, se, df = estimate.value, estimate.std_error, estimate.df
    if se is None:
        raise InputError(f"{method.id} gives no standard error, so it is no test; choose corrected-t, for example.")
    reference = "normal" if df is None else f"t({df:g})"
    if se == 0:
        statistic, p = (0.0, 1.0) if value == 0 else (None, float("nan"))
    else:
        statistic = value / se
        p = float(2 * (ndtr(-abs(statistic)) if df is None else stdtr(df, -abs(statistic))))
    return comparison_of(difference, estimate, level, statistic=statistic, reference=reference, p=p)


def with_ropes(
    pairs: Sequence[Comparison], rope: float | tuple[float, float], adjust: Callable[[list[float | None]], Any]
) -> tuple[Comparison, ...]:
    """Return comparisons with what their intervals allow to say about a region of practical equivalence.

    A pair by itself is decided if its interval lies on one side of an end of the region, or inside. With several pairs the
    size 1 - level at which it would just be decided is adjusted like any p-value, or the best of many equal models would be
    found better by more than the region. Posteriors of a Bayesian test are left as they are.
    """
    low, high = as_rope(rope)
    claims = [_claim(pair, low, high) for pair in pairs]
    sizes = adjust([size for size, _ in claims])
    return tuple(
        pair if pair.rope is not None else replace(pair, rope=Rope(low, high, _decision(size, words, pair.level)))
        for pair, size, (_, words) in zip(pairs, sizes, claims)
    )


def _claim(pair: Comparison, low: float, high: float) -> tuple[float | None, str]:
    """Return the smallest 1 - level at which the pair's interval decides, and what it then says."""
    from scipy.special import ndtr, stdtr

    value, se, df = pair.difference, pair.std_error, pair.estimate.df
    if pair.interval is None or not se or pair.rope is not None:
        return None, "undecided"

    def below(z: float) -> float:
        return float(ndtr(z) if df is None else stdtr(df, z))

    if value < low:
        return 2 * below((value - low) / se), "a better"
    if value > high:
        return 2 * below((high - value) / se), "b better"
    return 2 * max(below((low - value) / se), below((value - high) / se)), "equivalent"


def _decision(size: float | None, words: str, level: float) -> str:
    return words if size is not None and size < 1 - level else "undecided"
