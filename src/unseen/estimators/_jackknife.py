"""Standard error of the leave-one-out bootstrap by the delta method after the bootstrap (Efron & Tibshirani, 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.losses import LossTable

__all__ = ["OutOfBag", "influences", "out_of_bag", "unit_matrix", "variance_of"]


@dataclass(frozen=True)
class OutOfBag:
    """Mean over units of their out-of-bag errors, its standard error, and what the latter rests on."""

    value: float
    std_error: float
    n_replicates: int
    n_units: int


def unit_matrix(table: LossTable) -> tuple[Floats, Floats]:
    """Return matrices replicate x unit: the mean loss of a unit if it was out of bag (else 0), and how often drawn."""
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


def influences(losses: Floats, drawn: Floats, moved: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return each unit's out-of-bag error E_j, its influence D_j on their mean, and the Monte-Carlo variance of D_j.

    `moved` stands for N_ib - 1 below if units were not drawn with replacement.

    Moving weight to unit i changes the mean by D_i = (E_i - E)/n + sum_b (N_ib - 1) r_b, where
    r_b = (1/n) sum_j I_jb (L_jb - E_j)/T_j and T_j is how often unit j was out of bag. That is the paper's influence with
    its losses centred unit by unit, so that a shift of all losses leaves it alone.
    """
    outside = drawn == 0
    times = outside.sum(axis=0)
    by_unit = (losses * outside).sum(axis=0) / times
    rest = (outside * (losses - by_unit) / times).mean(axis=1)
    products = (drawn - 1 if moved is None else moved) * rest[:, None]
    influence = (by_unit - by_unit.mean()) / len(by_unit) + products.sum(axis=0)
    return by_unit, influence, len(losses) * products.var(axis=0, ddof=1)


def out_of_bag(table: LossTable) -> OutOfBag:
    """Return the leave-one-out bootstrap error with its standard error, cleared of the bootstrap's own noise.

    The sum of squared influences contains their Monte-Carlo variance, which is taken off; what is left is never less than
    the variance that fixed predictions would have.
    """
    losses, drawn = unit_matrix(table)
    seen = (drawn == 0).any(axis=0)
    by_unit, influence, noise = influences(losses[:, seen], drawn[:, seen])
    n, value = len(by_unit), float(by_unit.mean())
    variance = variance_of((by_unit - value) / n, influence, noise)
    return OutOfBag(value, float(np.sqrt(variance)), len(losses), n)


def variance_of(own: Floats, influence: Floats, noise: Floats) -> float:
    """Return the sum of squared influences less their Monte-Carlo variance, at least that of fixed predictions."""
    return max(float(np.square(influence).sum() - noise.sum()), float(np.square(own).sum()))
