"""What training sets add to the variance of a mean of left-out losses (Efron & Stein, 1981; Wager & Athey, 2018).

The mean is that over units of their mean losses when they were left out. The variance over units holds all that goes with a unit as a
test case, the way in which each training set treats it included. Two parts are left. A unit that is tested is also trained on, which
moves the losses of the others: twice the covariance of the two roles. And what all test cases have in common if the training set
changes: the variance of training sets. The infinitesimal jackknife of `subsampling` counts the treatment of a test case twice, once
with the unit that is tested and once with the units that are trained on, so that it is too large by about that much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.losses import LossTable

__all__ = ["VariancePart", "split_deviations", "training_moves", "variance_of_roles", "variance_of_sets"]

# splits whose overlaps with all others are held in memory at once
BLOCK = 512


@dataclass(frozen=True)
class VariancePart:
    """A part of a variance, which may come out negative, and the variance that the chance of few splits gives to it."""

    value: float
    noise: float


def training_moves(table: LossTable) -> Floats:
    """Return the matrix split x unit of how far a training set moves the weight of a unit.

    A drawn unit takes another's place, hence the division by the share left out; a bootstrap sample gives a unit its number of copies.
    """
    data, n = table.data, table.data.n_units
    rows = np.bincount(data.units, minlength=n)
    drawn = np.array([np.bincount(data.units[table.plan.splits[j].train], minlength=n) for j in table.completed]) / rows
    if table.plan.design == "bootstrap":
        return np.asarray(drawn - 1)
    share = drawn.mean(axis=1, keepdims=True)
    return np.asarray((drawn - share) / (1 - share))


def split_deviations(table: LossTable, weight: Floats) -> Floats:
    """Return the matrix split x unit of losses less the row's own mean, as they enter a mean over rows of these weights."""
    row, n = table.test.row, table.data.n_units
    place = np.full(len(table.plan), -1)
    place[table.completed] = np.arange(len(table.completed))
    times = np.bincount(row, minlength=table.data.n)
    entry = weight[row] * (table.test.value - table.by_row()[row]) / (times[row] * weight[times > 0].sum())
    cell = place[table.test.split] * n + table.data.units[row]
    return np.asarray(np.bincount(cell, entry, len(table.completed) * n).reshape(-1, n), dtype=float)


def variance_of_roles(moves: Floats, deviations: Floats, own: Floats) -> VariancePart:
    """Return twice the covariance of what units contribute as test cases, which is `own`, and as training cases."""
    products = 2 * (moves @ own) * deviations.sum(axis=1)
    return VariancePart(float(products.sum()), float(len(products) * products.var()))


def variance_of_sets(moves: Floats, deviations: Floats) -> VariancePart:
    """Return the variance that training sets give to a mean: of units' influences on it as training cases, and of chance in few splits.

    Influences are squared as products of different test cases in different splits, so that neither what a training set does to a single
    test case nor the chance of few splits counts as an influence. The noise is that of products which share nothing.
    """
    means = deviations.sum(axis=1)
    value = float((np.square(means) - np.square(deviations).sum(axis=1)).sum())
    noise = 0.0
    for start in range(0, len(moves), BLOCK):
        some = slice(start, start + BLOCK)
        products = (moves[some] @ moves.T) * (np.outer(means[some], means) - deviations[some] @ deviations.T)
        products[np.arange(len(products)), np.arange(start, start + len(products))] = 0.0  # a split with itself
        value += float(products.sum())
        noise += 2 * float(np.square(products).sum())
    return VariancePart(value, noise)
