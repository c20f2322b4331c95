"""Standard error of the leave-one-out bootstrap by the delta method after the bootstrap (Efron & Tibshirani, 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.losses import LossTable

__all__ = ["OutOfBag", "out_of_bag"]


@dataclass(frozen=True)
class OutOfBag:
    """Mean over units of their out-of-bag errors, its standard error, and what the latter rests on."""

    value: float
    std_error: float
    n_replicates: int
    n_units: int


def _unit_losses(table: LossTable) -> tuple[Floats, Floats]:
    """Return matrices replicate x unit: the mean loss of a unit where it was out of bag (else 0), and how often drawn."""
    data, done = table.data, table.completed
    place = np.full(len(table.plan), -1)
    place[done] = np.arange(len(done))
    n = data.n_units
    cell = place[table.test.split] * n + data.units[table.test.row]
    weight = table.row_weights(table.test.row)
    total = np.bincount(cell, weight, len(done) * n)
    sums = np.bincount(cell, weight * table.test.value, len(done) * n)
    losses = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0).reshape(-1, n)
    rows_per_unit = np.bincount(data.units, minlength=n)
    drawn = np.array([np.bincount(data.units[table.plan.splits[j].train], minlength=n) for j in done]) / rows_per_unit
    return losses, drawn


def out_of_bag(table: LossTable) -> OutOfBag:
    """Return the leave-one-out bootstrap error with its standard error, cleared of the bootstrap's own noise.

    With E_j the out-of-bag mean of unit j over its T_j replicates, moving weight to unit i changes the estimate by
    D_i = (E_i - E)/n + sum_b (N_ib - 1) r_b, where r_b = (1/n) sum_j I_jb (L_jb - E_j)/T_j. That is the paper's influence
    with its losses centred unit by unit, so that a shift of all losses leaves it alone. The sum of squares of D_i contains
    the Monte-Carlo variance of its second term, which is estimated over the replicates and taken off.
    """
    losses, drawn = _unit_losses(table)
    outside = drawn == 0
    times = outside.sum(axis=0)
    seen = times > 0
    losses, drawn, outside, times = losses[:, seen], drawn[:, seen], outside[:, seen], times[seen]
    n, replicates = int(seen.sum()), len(losses)
    by_unit = (losses * outside).sum(axis=0) / times
    value = float(by_unit.mean())
    rest = (outside * (losses - by_unit) / times).mean(axis=1)
    products = (drawn - 1) * rest[:, None]
    influence = (by_unit - value) / n + products.sum(axis=0)
    noise = replicates * products.var(axis=0, ddof=1)
    variance = np.square(influence).sum() - noise.sum()
    floor = np.square((by_unit - value) / n).sum()
    return OutOfBag(value, float(np.sqrt(max(variance, floor))), replicates, n)
