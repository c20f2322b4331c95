"""The five statistics of Nadeau and Bengio, each for one algorithm's error and for the difference of two.

Every statistic aims at the error after training on n/2 rows: the test part is the other n/2, or n/10 of them with 40% of
the rows thrown out. `natural` trains on 9n/10. The conservative variance always comes from halves of the data, with 2n/5
rows to train on and n/10 to test. The last axis but one of every array is (error of A, error of A minus error of B).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from unseen.core.arrays import Floats, Ints

__all__ = [
    "LossesOf",
    "Moments",
    "Raw",
    "SplitOrders",
    "Statistic",
    "draw_split_orders",
    "moments",
    "raw_of",
    "statistics",
    "targets_of",
]

# (train rows, test rows), each (fits, size) -> losses of the two algorithms, (2, fits, test size)
LossesOf: TypeAlias = Callable[[Ints, Ints], Floats]
REPLICATIONS = 5  # of two-fold cross-validation, as the name of 5x2cv says


@dataclass(frozen=True)
class SplitOrders:
    """Random orders of the rows behind every fit on one data set."""

    outer: Ints
    pairs: Ints
    inner: Ints
    natural: Ints


@dataclass(frozen=True, kw_only=True)
class Raw:
    """What one data set gives (or many, stacked along the first axis).

    Parameters
    ----------
    one : ndarray (2, 2)
        Mean loss of the first split and its standard error over the test rows.
    pairs : ndarray (2, 10)
        Errors of five two-fold replications: five first halves, then their second halves.
    wide, narrow, natural : ndarray (2, J)
        Errors of J splits: n/2 tested, n/10 tested, and 9n/10 trained on.
    halves : ndarray (2, M)
        Differences of the mean errors of the two halves of M halvings.
    """

    one: Floats
    pairs: Floats
    wide: Floats
    narrow: Floats
    natural: Floats
    halves: Floats

    @staticmethod
    def stack(parts: Sequence[Raw]) -> Raw:
        """Join data sets along a new first axis."""
        return Raw(**{f.name: np.stack([getattr(part, f.name) for part in parts]) for f in fields(Raw)})


@dataclass(frozen=True)
class Statistic:
    """Values and standard errors, (data sets, 2), with the degrees of freedom (infinite: normal) and training size."""

    value: Floats
    std_error: Floats
    df: float
    n_train: int


def draw_split_orders(
    n: int, n_splits: int, n_halvings: int, inner_splits: int, rng: np.random.Generator
) -> SplitOrders:
    """Draw the splits; the halves of a halving are disjoint, and their splits are drawn inside them."""

    def shuffle(count: int) -> Ints:
        return rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)

    halves = shuffle(n_halvings).reshape(n_halvings, 2, 1, n // 2)
    inner = rng.permuted(np.repeat(halves, inner_splits, axis=2), axis=3)
    return SplitOrders(shuffle(n_splits), shuffle(REPLICATIONS), inner, shuffle(n_splits))


def targets_of(losses: Floats) -> Floats:
    """Return error of the first algorithm and difference of the two, from losses of both."""
    return np.stack([losses[0], losses[0] - losses[1]])


def raw_of(losses: LossesOf, orders: SplitOrders) -> Raw:
    """Run every fit of a data set and keep the errors of its splits."""
    n = orders.outer.shape[1]
    half, tenth = n // 2, n // 10
    wide = targets_of(losses(orders.outer[:, :half], orders.outer[:, half:]))
    natural = targets_of(losses(orders.natural[:, tenth:], orders.natural[:, :tenth]))
    both = np.concatenate([orders.pairs, np.roll(orders.pairs, half, axis=1)])
    pairs = targets_of(losses(both[:, :half], both[:, half:])).mean(axis=-1)
    rows = orders.inner.reshape(-1, orders.inner.shape[-1])
    inner = targets_of(losses(rows[:, tenth:], rows[:, :tenth])).mean(axis=-1)
    by_half = inner.reshape(2, len(orders.inner), 2, -1).mean(axis=-1)
    first = wide[:, 0]
    one = np.stack([first.mean(axis=-1), first.std(axis=-1, ddof=1) / np.sqrt(half)], axis=1)
    return Raw(
        one=one,
        pairs=pairs,
        wide=wide.mean(axis=-1),
        narrow=wide[:, :, :tenth].mean(axis=-1),
        natural=natural.mean(axis=-1),
        halves=by_half[:, :, 0] - by_half[:, :, 1],
    )


def statistics(raw: Raw, n: int, n_splits: int = 15, n_halvings: int = 10) -> dict[str, Statistic]:
    """Return every statistic by name, from the first `n_splits` splits and `n_halvings` halvings."""
    half, tenth = n // 2, n // 10
    first, second = raw.pairs[..., :REPLICATIONS], raw.pairs[..., REPLICATIONS:]
    five = np.sqrt(np.mean(np.square(first - second) / 2, axis=-1))
    spread = np.sqrt(np.mean(np.square(raw.halves[..., :n_halvings]), axis=-1) / 2)
    out = {
        "t-test": Statistic(raw.one[..., 0], raw.one[..., 1], half - 1, half),
        "5x2cv": Statistic(first[..., 0], five, REPLICATIONS, half),
    }
    settings = (
        ("n2=n/2", raw.wide, half, half),
        ("n2=n/10", raw.narrow, tenth, half),
        ("n1=9n/10", raw.natural, tenth, n - tenth),
    )
    for name, means, n_test, n_train in settings:
        used = means[..., :n_splits]
        J, value, deviation = used.shape[-1], used.mean(axis=-1), used.std(axis=-1, ddof=1)
        corrected = deviation * np.sqrt(1 / J + n_test / n_train)
        out[f"resampled-t {name}"] = Statistic(value, deviation / np.sqrt(J), J - 1, n_train)
        out[f"corrected-t {name}"] = Statistic(value, corrected, J - 1, n_train)
        out[f"conservative-z {name}"] = Statistic(value, spread, np.inf, n_train)
    return out


@dataclass(frozen=True)
class Moments:
    """Products of centred losses of one data set, whose means over data sets are s0, s3 and s2; each (2,).

    `loss` is the mean square, `within` the mean product of two losses of one split, `between` that of two splits' means.
    """

    loss: Floats
    within: Floats
    between: Floats


def moments(losses: Floats, expected: Floats) -> Moments:
    """Return the products for losses (2, J, n2) of the two targets, centred at their known expectations."""
    centred = losses - expected[:, None, None]
    J, size = losses.shape[1:]
    square = np.square(centred).mean(axis=(1, 2))
    totals = centred.sum(axis=2)
    within = (np.square(totals) - np.square(centred).sum(axis=2)).mean(axis=1) / (size * (size - 1))
    means = totals / size
    between = (np.square(means.sum(axis=1)) - np.square(means).sum(axis=1)) / (J * (J - 1))
    return Moments(square, within, between)
