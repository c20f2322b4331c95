"""U006: losses of neighbouring rows are alike, by a permutation test within strata (Besag & Clifford, 1991)."""

from __future__ import annotations

import numpy as np

from unseen.checks.registry import check
from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.rng import stream

__all__ = ["dependent_rows", "lag_one_test", "unit_order"]

# every run is tested without being asked, so that false alarms must be rare
ALARM_LEVEL = 0.001
# with fewer units only a correlation above 3.09 / sqrt(30) = 0.56 would reach the level
LEAST_UNITS = 30
# bounds the time of the permutations
MOST_UNITS = 20_000
# from here on the sum over neighbours is normal enough to see that it is nowhere near the level
NORMAL_UNITS = 1_000
# the smallest p-value is 1 / 2,000, half the level
PERMUTATIONS = 1_999
# the p-value is then known well enough (Besag & Clifford's h)
ENOUGH_EXCEEDING = 20
# a rank correlation of target and order above this counts as a file sorted by its target
SORTED = 0.9
# tenths of the target's ranks: losses within one are alike in level, and still many
TARGET_STRATA = 10


@check(
    "U006",
    "run",
    title="dependent rows",
    sentence="Test losses of neighbouring units are correlated, in time or in the order of the rows: a permutation test of the "
    f"lag-one correlation of their ranks rejects at level {ALARM_LEVEL:g}, from {LEAST_UNITS} units on. In a file sorted by the "
    "target, losses are permuted within classes (or tenths of the target), so that sorting alone gives no alarm; sorting by a "
    "feature that matters can give one. The design `time-ordered` gives it too, if groups overlap in time.",
    advice="Give `time` or `groups`, or read the interval as too narrow.",
)
def dependent_rows(table: LossTable) -> tuple[Note, ...]:
    """Return U006 if losses of neighbouring units are alike.

    Examples
    --------
    >>> import unseen
    >>> dependent_rows(unseen.run("lda", unseen.datasets.load("iris"), random_state=0).losses())
    ()
    """
    data = table.data
    losses = _unit_losses(table)
    order = unit_order(data)
    tested = order[np.isfinite(losses[order])][:MOST_UNITS]
    if len(tested) < LEAST_UNITS:
        return ()
    strata = _unit_strata(data, order)[tested]
    correlation, p = lag_one_test(losses[tested], strata, stream(0, "lag-one", table.plan.fingerprint))
    if p > ALARM_LEVEL:
        return ()
    place = "time" if data.order is not None else "the order of the rows"
    what = "groups" if data.groups is not None else "rows"
    text = (
        f"losses of {what} next to each other in {place} are correlated ({correlation:.2f}, p = {p:.1g}); "
        "either they depend on each other, or the file is sorted by something that matters"
    )
    return (note("U006", text),)


def _unit_losses(table: LossTable) -> Floats:
    """Return the mean rank of the test losses of each unit, so that single large losses do not decide.

    In the time-ordered design neighbours share a model, so the mean of each split is subtracted.
    """
    from scipy.stats import rankdata

    value = rankdata(table.test.value)
    if table.plan.design == "time-ordered":
        sizes = np.maximum(np.bincount(table.test.split, minlength=len(table.plan)), 1)
        value = value - (np.bincount(table.test.split, value, len(table.plan)) / sizes)[table.test.split]
    units = table.data.units[table.test.row]
    with np.errstate(invalid="ignore"):
        return np.bincount(units, value, table.data.n_units) / np.bincount(units, minlength=table.data.n_units)


def unit_order(data: Data) -> Ints:
    """Return units in time, or in the order in which they first appear."""
    rows = np.arange(data.n) if data.order is None else np.argsort(data.order, kind="stable")
    first = np.full(data.n_units, data.n, dtype=np.int64)
    np.minimum.at(first, data.units[rows], np.arange(data.n))
    return np.argsort(first, kind="stable").astype(np.int64)


def _unit_strata(data: Data, order: Ints) -> Ints:
    """Return strata of the units if they are sorted by the target, which alone makes losses alike; else one stratum.

    Sorted by class: at most twice as many changes of class along the order as a file in blocks of classes has.
    Sorted by number: a rank correlation of target and order above 0.9; the strata are then tenths of the ranks.
    """
    means = np.bincount(data.units, np.asarray(data.target, dtype=float)) / np.bincount(data.units)
    if data.classes is not None:
        codes = np.round(means).astype(np.int64)
        changes = np.count_nonzero(np.diff(codes[order]))
        return codes if changes <= 2 * (len(data.classes) - 1) else np.zeros_like(codes)
    ranks = np.argsort(np.argsort(means, kind="stable"), kind="stable").astype(np.int64)
    if abs(np.corrcoef(ranks[order], np.arange(len(order)))[0, 1]) <= SORTED:
        return np.zeros_like(ranks)
    return TARGET_STRATA * ranks // len(ranks)


def lag_one_test(losses: Floats, strata: Ints, rng: np.random.Generator) -> tuple[float, float]:
    """Test whether losses next to each other are alike, by permutation within strata.

    Parameters
    ----------
    losses : ndarray
        One loss, or mean rank of losses, per unit, in order.
    strata : ndarray of int
        Stratum of each unit. Losses are centred within the strata and permuted within them only, so that rows
        sorted by class, with classes of different difficulty, give no alarm.
    rng : Generator
        Source of the permutations.

    Returns
    -------
    correlation, p_value : float
        Lag-one correlation, and the share of permutations with one at least as large, ties counted, never 0.
        Permutations stop early once 20 exceed it (Besag & Clifford), and at 1,999.

    References
    ----------
    Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(lag_one_test(rng.random(100), np.zeros(100, int), rng)[1] > 0.001)
    True
    >>> round(lag_one_test(np.repeat(rng.random(50), 2), np.zeros(100, int), rng)[1], 4)
    0.0005
    """
    from scipy.special import ndtr

    strata = np.unique(strata, return_inverse=True)[1].reshape(-1)
    centred = losses - (np.bincount(strata, losses) / np.bincount(strata))[strata]
    total = float(centred @ centred)
    if total <= 1e-12 * max(1.0, float(losses @ losses)):
        return 0.0, 1.0
    observed = float(centred[1:] @ centred[:-1])
    if len(losses) >= NORMAL_UNITS and strata.max() == 0 and observed < 2 * total / np.sqrt(len(losses)):
        # so small a sum is far from the level, whatever the losses: its deviation is total / sqrt(n) (Wald & Wolfowitz, 1943)
        return observed / total, float(ndtr(-observed * np.sqrt(len(losses)) / total))
    by_stratum = np.argsort(strata, kind="stable")
    shuffled, exceed = np.empty_like(centred), 0
    for k in range(1, PERMUTATIONS + 1):
        shuffled[by_stratum] = centred[np.argsort(strata + rng.random(len(strata)))]
        exceed += float(shuffled[1:] @ shuffled[:-1]) >= observed - 1e-9 * total
        if exceed == ENOUGH_EXCEEDING:
            return observed / total, exceed / k
    return observed / total, (exceed + 1) / (PERMUTATIONS + 1)
