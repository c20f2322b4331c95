"""Whether losses of neighbouring units are alike: a permutation test within strata (Besag & Clifford, 1991)."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.rng import stream

__all__ = ["dependence_notes", "lag_one_test"]

DEPENDENCE_LEVEL = 0.001
LEAST_FOR_DEPENDENCE = 30
MOST_FOR_DEPENDENCE = 20_000
PERMUTATIONS = 1_999
ENOUGH_EXCEEDING = 20


def dependence_notes(table: LossTable) -> list[Note]:
    """Return U006 where losses of neighbouring units are alike."""
    data = table.data
    losses = _unit_losses(table)
    order = _unit_order(data)
    tested = order[np.isfinite(losses[order])][:MOST_FOR_DEPENDENCE]
    if len(tested) < LEAST_FOR_DEPENDENCE:
        return []
    strata = _unit_strata(data, order)[tested]
    correlation, p = lag_one_test(losses[tested], strata, stream(0, "lag-one", table.plan.fingerprint))
    if p > DEPENDENCE_LEVEL:
        return []
    place = "time" if data.order is not None else "the order of the rows"
    what = "groups" if data.groups is not None else "rows"
    text = (
        f"losses of {what} next to each other in {place} are correlated ({correlation:.2f}, p = {p:.1g}); "
        "either they depend on each other, or the file is sorted by something that matters"
    )
    return [note("U006", text)]


def _unit_losses(table: LossTable) -> Floats:
    """Return the mean rank of the test losses of each unit, so that single large losses do not decide.

    In the time-ordered design neighbours share a model: there the mean of each split is taken off.
    """
    from scipy.stats import rankdata

    value = rankdata(table.test.value)
    if table.plan.design == "time-ordered":
        sizes = np.maximum(np.bincount(table.test.split, minlength=len(table.plan)), 1)
        value = value - (np.bincount(table.test.split, value, len(table.plan)) / sizes)[table.test.split]
    units = table.data.units[table.test.row]
    with np.errstate(invalid="ignore"):
        return np.bincount(units, value, table.data.n_units) / np.bincount(units, minlength=table.data.n_units)


def _unit_order(data: Data) -> Ints:
    """Return units in time, or in the order in which they first appear."""
    rows = np.arange(data.n) if data.order is None else np.argsort(data.order, kind="stable")
    first = np.full(data.n_units, data.n, dtype=np.int64)
    np.minimum.at(first, data.units[rows], np.arange(data.n))
    return np.argsort(first, kind="stable").astype(np.int64)


def _unit_strata(data: Data, order: Ints) -> Ints:
    """Return strata of the units where they are sorted by the target, which alone makes losses alike; else one stratum.

    Sorted by class: hardly more changes of class along the order than there are classes. Sorted by number: a rank
    correlation of target and order above 0.9; the strata are then tenths of the ranks.
    """
    means = np.bincount(data.units, np.asarray(data.target, dtype=float)) / np.bincount(data.units)
    if data.classes is not None:
        codes = np.round(means).astype(np.int64)
        changes = np.count_nonzero(np.diff(codes[order]))
        return codes if changes <= 2 * (len(data.classes) - 1) else np.zeros_like(codes)
    ranks = np.argsort(np.argsort(means, kind="stable"), kind="stable").astype(np.int64)
    if abs(np.corrcoef(ranks[order], np.arange(len(order)))[0, 1]) <= 0.9:
        return np.zeros_like(ranks)
    return 10 * ranks // len(ranks)


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
    strata = np.unique(strata, return_inverse=True)[1].reshape(-1)
    centred = losses - (np.bincount(strata, losses) / np.bincount(strata))[strata]
    total = float(centred @ centred)
    if total <= 1e-12 * max(1.0, float(losses @ losses)):
        return 0.0, 1.0
    observed = float(centred[1:] @ centred[:-1])
    by_stratum = np.argsort(strata, kind="stable")
    shuffled, exceed = np.empty_like(centred), 0
    for k in range(1, PERMUTATIONS + 1):
        shuffled[by_stratum] = centred[np.argsort(strata + rng.random(len(strata)))]
        exceed += float(shuffled[1:] @ shuffled[:-1]) >= observed - 1e-9 * total
        if exceed == ENOUGH_EXCEEDING:
            return observed / total, exceed / k
    return observed / total, (exceed + 1) / (PERMUTATIONS + 1)
