"""Expected test error of networks: along their score, around a level from copies or from the zoos; by their training error where they do not fit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.nets.modules.net import Net
from unseen.nets.ranking.ranking_record import ExpectedErrors

Bools = npt.NDArray[np.bool_]

__all__ = ["ErrorOrder", "GapLevel", "expected_errors", "gap_level", "order_of_errors", "stand_apart"]

LEAST, MOST = (
    0.05,
    0.95,
)  # bounds of a correlation: a measure without one still decides between networks that are otherwise alike
NO_ORDER = 1e-6  # spread of places that only the lot among ties makes
LEARNED = 0.9  # of the error of guessing: a network above it has learned next to nothing, and hardly changes its mind about any input
# a network stands apart if its training error is clearly above that of the others, at most one in three; studies/checkpoint_ranking.py judges the rule
APART_SHARE, APART_BY, APART_ERRORS = 3, 0.02, 3.0


@dataclass(frozen=True)
class GapLevel:
    """How large gaps are here: the typical gap, the error of its logarithm, and where it comes from."""

    gap: float
    log_error: float
    source: str

    def __post_init__(self) -> None:
        if not (math.isfinite(self.gap) and 0 < self.gap <= 1) or not self.log_error >= 0:
            raise InputError(f"the level is {self.gap!r} with error {self.log_error!r}; a gap lies between 0 and 1.")


@cache
def _transfer() -> dict[str, Any]:
    """What `studies/gap_transfer.py` found on the zoos."""
    held: dict[str, Any] = json.loads((files("unseen.nets.ranking") / "gap_transfer.json").read_text(encoding="utf-8"))
    return held


def correlation(measures: Iterable[str]) -> float:
    """Return how far a ranking by these measures follows the test error among networks of the same data: the mean over them of what each had on the zoos.

    Examples
    --------
    >>> correlation(["always-generalize"]) > correlation(["path-norm"]) >= 0.05
    True
    """
    known = _transfer()["agreement"]
    found = [known.get(name, 0.0) for name in measures]
    return float(np.clip(np.mean(found), LEAST, MOST))


def gap_level(nets: Mapping[str, Net]) -> GapLevel:
    """Return the typical gap: from copies trained on 80% if the networks bring them, else that of the zoos.

    No measure told the level of data left out better than the zoos' typical gap did (studies/gap_transfer.py).
    """
    copies = [net for net in nets.values() if net.copy80 is not None]
    if copies:
        return _level_of_copies(copies)
    said = _transfer()["level"]
    return GapLevel(said["typical"], said["log_error"], "the typical gap of the zoos")


def _level_of_copies(nets: Sequence[Net]) -> GapLevel:
    """Return the mean gap of copies between the rows they were trained on and those held out."""
    gaps, rows = [], []
    for net in nets:
        assert net.copy80 is not None
        held = net.copy80.held_out
        seen = np.ones(net.n, dtype=bool)
        seen[held.cpu().numpy()] = False
        twin = Net(net.copy80.module, net.X_train, net.y_train, value_range=net.value_range)
        wrong = (twin.logits(net.X_train).argmax(1) != net.y_train).cpu().numpy()
        gaps.append(float(wrong[~seen].mean() - wrong[seen].mean()))
        rows.append(int((~seen).sum()))
    gap = max(float(np.mean(gaps)), 0.5 / max(rows))
    # all copies share their held-out rows: their number, not that of the copies, limits what is known
    return GapLevel(min(gap, 1.0), math.sqrt(gap * (1 - min(gap, 0.99)) / max(rows)) / gap, "copies trained on 80%")


@dataclass(frozen=True)
class ErrorOrder:
    """Expected errors, the same in every simulation of the measures' draws, how much of each is gap, and which networks are judged by their training error."""

    errors: Floats
    simulated: Floats
    share_of_gap: Floats
    apart: Bools


def stand_apart(train: Floats, rows: int, guessing: float = 1.0) -> Bools:
    """Return which networks do not fit their training data as the others do: measures of those say little about their error.

    A network stands apart if its training error is above the reference by more than three sampling errors and .02. The reference is the largest training error after the worst third is set
    aside (one network if there are two), so that no more than a third can stand apart and a few failures do not move it. Whoever has learned next to nothing always stands apart.

    Parameters
    ----------
    train : ndarray
        Training errors.
    rows : int
        Training examples behind them.
    guessing : float
        Error of naming the largest class.

    Examples
    --------
    >>> stand_apart(np.array([0.3, 0.0, 0.02, 0.01]), 1000).tolist()
    [True, False, False, False]
    >>> stand_apart(np.array([0.3, 0.25, 0.35, 0.0]), 1000).tolist()  # most fit like this
    [False, False, False, False]
    """
    learned = train < LEARNED * guessing
    if learned.sum() < 2:
        return ~learned
    known = np.sort(train[learned])
    reference = float(known[len(known) - max(1, len(known) // APART_SHARE) - 1])
    sampling = math.sqrt(max(reference * (1 - reference), 1 / rows) / rows)
    apart: Bools = ~learned | (train > reference + APART_BY + APART_ERRORS * sampling)
    return apart


def order_of_errors(
    score: Floats,
    simulated: Floats,
    train: Floats,
    level: float,
    measures: Iterable[str],
    *,
    rows: int,
    guessing: float = 1.0,
) -> ErrorOrder:
    """Return expected errors: of networks that fit their training data along the score, of the others below them by their training error.

    Parameters
    ----------
    score : ndarray
        Mean places, 0 to 1.
    simulated : ndarray of shape (simulations, networks)
        The same under the measures' own draws.
    train : ndarray
        Training errors.
    level : float
        Typical gap.
    measures : iterable of str
        What the scores rest on.
    rows : int
        Training examples behind the training errors.
    guessing : float
        Error of naming the largest class.

    Notes
    -----
    Among networks that fit alike the training error is left out: added to a predicted gap it had the order backwards on zoos with wrong labels (tau -.46 on
    `cifar-noise`, where the measure alone has .87). The level is the mean training error of those that fit plus the typical gap, raised until none of them is
    expected below its own training error. Networks that stand apart have no part in it: their training error plus the typical gap, which shrinks towards guessing, is what is expected of them.

    Examples
    --------
    >>> two = np.array([0.5, 0.5])
    >>> order_of_errors(two, two[None], np.array([0.0, 0.0]), 0.1, ["vpm"], rows=100, guessing=0.5).errors.tolist()
    [0.1, 0.1]
    >>> found = order_of_errors(two, two[None], np.array([0.0, 0.3]), 0.1, ["vpm"], rows=100, guessing=0.5)
    >>> found.errors.round(3).tolist(), found.apart.tolist()
    ([0.1, 0.34], [False, True])
    """
    apart = stand_apart(train, rows, guessing)
    fit = ~apart
    alone = np.minimum(train + level * np.maximum(1 - train / guessing, 0.0), 1.0)
    if not fit.any():
        return ErrorOrder(alone, np.broadcast_to(alone, simulated.shape), _share(alone, train), apart)
    follow = correlation(measures)
    size = float(np.std(score[fit])) or float(np.std(simulated[:, fit]))
    along = follow * _transfer()["spread"] / size if size > NO_ORDER else 0.0
    middle = score[fit].mean()
    places = np.full(len(score), middle)
    places[fit] = _expected_places(score[fit], simulated[:, fit])
    factor, drawn = (np.exp(along * (x - middle)) for x in (places, np.where(fit, simulated, middle)))
    base = float(train[fit].mean())
    whole = base + level * float(np.mean(1 - train[fit] / guessing))
    whole = max(whole, float(np.max(train[fit] / factor[fit])))
    errors, moved = (np.minimum(whole * f, 1.0) for f in (factor, drawn))
    # below the last that fits, whatever the level
    errors, moved = (
        np.where(apart, np.maximum(alone, (1 + 1e-9) * e[..., fit].max(axis=-1, keepdims=True)), e)
        for e in (errors, moved)
    )
    common = 1 - base / whole if whole > 0 else 0.0
    return ErrorOrder(errors, moved, np.where(apart, _share(errors, train), common), apart)


def _expected_places(score: Floats, simulated: Floats) -> Floats:
    """Return places expected over draws, in the order of the score: networks that the draws cannot tell apart are near, however far apart they came out.

    Where the expected places have another order than the score, those concerned share their mean (isotonic regression by pooling adjacent violators).
    """
    order = np.argsort(score, kind="stable")
    pools: list[tuple[float, int]] = []
    for place in simulated.mean(axis=0)[order].tolist():
        pools.append((place, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    places = np.empty(len(score))
    places[order] = np.repeat([mean for mean, _ in pools], [count for _, count in pools])
    return places


def _share(errors: Floats, train: Floats) -> Floats:
    """Return how much of each error exceeds the training error, as a share of it."""
    shares: Floats = np.where(errors > 0, 1 - train / np.where(errors > 0, errors, 1.0), 0.0)
    return shares


def expected_errors(
    *,
    train: Floats,
    found: ErrorOrder,
    order: Ints,
    level: GapLevel,
    measures: Iterable[str],
    rng: np.random.Generator,
) -> ExpectedErrors:
    """Return expected errors with intervals, networks in the order asked for, the first the best.

    Parameters
    ----------
    train : ndarray
        Training errors.
    found : ErrorOrder
        Expected errors, and those under the measures' own draws.
    order : ndarray of int
        Networks from the best to the worst.
    level : GapLevel
        Typical gap; its error moves all networks alike.
    measures : iterable of str
        What the ranking rests on.
    rng : Generator
        Of what the measures miss.
    """
    spread = _transfer()["spread"] * math.sqrt(1 - correlation(measures) ** 2)
    train, error, simulated = train[order], found.errors[order], found.simulated[:, order]
    apart, share = found.apart[order], found.share_of_gap[order]
    missed = np.exp(spread * rng.standard_normal(simulated.shape) - spread**2 / 2)
    alone = np.maximum(simulated * missed, np.minimum(train, simulated))
    moved = np.exp(level.log_error * rng.standard_normal((len(simulated), 1)))
    whole = np.minimum(alone * (1 + share * (moved - 1)), 1.0)
    low, high = np.quantile(np.minimum(alone, 1.0), [0.025, 0.975], axis=0)
    lowest, highest = np.quantile(whole, [0.025, 0.975], axis=0)
    below = (whole < whole[:, :1]).mean(axis=0) + 0.5 * (whole == whole[:, :1]).mean(axis=0)
    return ExpectedErrors(
        error=tuple(error.tolist()),
        train_error=tuple(train.tolist()),
        gap=tuple((error - train).tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        lowest=tuple(lowest.tolist()),
        highest=tuple(highest.tolist()),
        probability_better=tuple(below.tolist()),
        apart=tuple(apart.tolist()),
        level=level.gap,
        source=level.source,
    )
