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

    With q_b = (1/n) sum_i I_ib L_ib and E_i the out-of-bag mean of unit i, the influence of unit i is
    D_i = (2 + 1/(n-1)) (E_i - E)/n + sum_b (N_ib - Nbar_i) q_b / sum_b I_ib. The sum of squares of D_i contains the
    Monte-Carlo variance of its second term, which is estimated over the replicates and taken off.
    """
    losses, drawn = _unit_losses(table)
    outside = drawn == 0
    times = outside.sum(axis=0)
    seen = times > 0
    losses, drawn, outside, times = losses[:, seen], drawn[:, seen], outside[:, seen], times[seen]
    n, replicates = int(seen.sum()), len(losses)
    by_unit = (losses * outside).sum(axis=0) / times
    value = float(by_unit.mean())
    share = (losses * outside).sum(axis=1) / n
    centred = share - share.mean()
    moved = drawn - drawn.mean(axis=0)
    steer = centred @ moved / times
    influence = (2 + 1 / (n - 1)) * (by_unit - value) / n + steer
    products = centred[:, None] * moved
    noise = replicates * products.var(axis=0, ddof=1) / np.square(times)
    variance = np.square(influence).sum() - noise.sum()
    floor = np.square((by_unit - value) / n).sum()
    return OutOfBag(value, float(np.sqrt(max(variance, floor))), replicates, n)
