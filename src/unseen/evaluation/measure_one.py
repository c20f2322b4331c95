"""One measure of a set of predictions, with the interval that suits it."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.estimate import Estimate
from unseen.core.registry import find
from unseen.evaluation.measure_input import Judged
from unseen.evaluation.measure_intervals import Bootstrap, area_estimate, rate_estimate
from unseen.evaluation.measure_rates import balanced_estimate, d_prime_estimate

__all__ = ["RATES", "of_set", "of_table", "one_measure", "rate_of_class"]

RATES = (
    "sensitivity",
    "specificity",
    "false-alarm-rate",
    "miss-rate",
    "positive-predictive-value",
    "negative-predictive-value",
)
SUMS = {"balanced-accuracy": balanced_estimate, "d-prime": d_prime_estimate}


def one_measure(j: Judged, boot: Bootstrap, one: Any, level: float) -> Estimate | None:
    """Return a measure with the same interval as in the full list: Wilson's, one made of Wilson's, DeLong's or BCa."""
    if one.id == "accuracy":
        return rate_estimate(j, "accuracy", j.y == j.value, np.ones(j.n, bool), level)
    if one.id in RATES and j.size == 2 and one.average in ("auto", "positive"):
        return rate_of_class(j, one.id, one.id, j.positive, level)
    if one.id == "auc" and j.size == 2:
        return area_estimate(j, "auc", j.y == j.positive, j.column(j.positive), level)
    if one.id in SUMS and j.simple:
        return SUMS[one.id](j, level)
    if hasattr(one, "of_tables"):
        return of_table(j, boot, one.id, built=one)
    return of_set(j, boot, one)


def rate_of_class(j: Judged, id: str, name: str, code: int, level: float) -> Estimate | None:
    """Return a rate of one class against the rest: its parts are counted case by case."""
    true, said = j.y == code, j.value == code
    cells = [c.astype(float) for c in (true & said, true & ~said, ~true & said, ~true & ~said)]
    part, whole = find(id, "measures")().share(*cells)
    return rate_estimate(j, name, part, whole, level)


def of_table(j: Judged, boot: Bootstrap, id: str, code: int | None = None, built: Any = None) -> Estimate | None:
    """Return a measure of the confusion matrix, of one class against the rest where a code is given."""
    cls = find(id, "measures")
    one = built or (cls(average="positive") if code is not None else cls())
    place = j.positive if code is None else code
    name = id if code is None else f"{id}[{j.label(code)}]"
    return boot.of_tables(name, lambda tables: one.of_tables(tables, place), one.range)


def of_set(
    j: Judged, boot: Bootstrap, one: Any, name: str | None = None, y: Any = None, value: Any = None
) -> Estimate | None:
    """Return any measure by the bootstrap of units."""
    y, value = (j.y, j.value) if y is None else (y, value)
    name = name or one.id
    if one.kind == "set":
        return boot.of_weights(name, lambda w: one.of_weights(y, value, j.score, w, j.positive), one.range)
    losses = one.per_example(y, value, j.score)
    return boot.of_weights(name, lambda w: w @ losses / w.sum(axis=1), one.range)
