"""Expected test error of networks: along their score, around a level from copies or from the zoos; the gap is what exceeds the training error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.nets.modules.net import Net
from unseen.nets.ranking.ranking_record import ExpectedErrors

__all__ = ["ErrorOrder", "GapLevel", "expected_errors", "gap_level", "order_of_errors"]

LEAST, MOST = (
    0.05,
    0.95,
)  # bounds of a correlation: a measure without one still decides between networks that are otherwise alike
LEARNED = 0.9  # of the error of guessing: a network above it has learned next to nothing, and hardly changes its mind about any input


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
    """Return the typical gap: from copies trained on 80 % if the networks bring them, else that of the zoos.

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
    return GapLevel(min(gap, 1.0), math.sqrt(gap * (1 - min(gap, 0.99)) / max(rows)) / gap, "copies trained on 80 %")


@dataclass(frozen=True)
class ErrorOrder:
    """Expected errors, the same in every simulation of the measures' draws, and how much of their level is gap."""

    errors: Floats
    simulated: Floats
    share_of_gap: float


def order_of_errors(
    score: Floats, simulated: Floats, train: Floats, level: float, measures: Iterable[str], *, guessing: float = 1.0
) -> ErrorOrder:
    """Return expected errors that follow the score and not the training error.

    On zoos of networks that fit their labels and networks that do not, training error plus a predicted gap had the order backwards (tau -.46 on
    `cifar-noise`, where the measure alone has .87). The level is the mean training error plus the typical gap, raised until no network is
    expected below its own training error. A network that has learned next to nothing is judged by its training error alone.

    Examples
    --------
    >>> two = np.array([0.5, 0.5])
    >>> order_of_errors(two, two[None], np.array([0.0, 0.0]), 0.1, ["vpm"], guessing=0.5).errors.tolist()
    [0.1, 0.1]
    """
    follow, learned = correlation(measures), train < LEARNED * guessing
    if not learned.any():
        return ErrorOrder(train, np.broadcast_to(train, simulated.shape), 0.0)
    size = float(np.std(score)) or float(np.std(simulated))
    along = follow * _transfer()["spread"] / size if size > 0 else 0.0
    factor, drawn = (np.exp(along * (x - score.mean())) for x in (score, simulated))
    base = float(train[learned].mean())
    whole = base + level * float(np.mean(1 - train[learned] / guessing))
    whole = max(whole, float(np.max(train[learned] / factor[learned])))
    errors, moved = (np.minimum(whole * f, 1.0) for f in (factor, drawn))
    errors, moved = (np.where(learned, e, np.maximum(e, train)) for e in (errors, moved))
    return ErrorOrder(errors, moved, 1 - base / whole if whole > 0 else 0.0)


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
    missed = np.exp(spread * rng.standard_normal(simulated.shape) - spread**2 / 2)
    alone = np.maximum(simulated * missed, np.minimum(train, simulated))
    moved = np.exp(level.log_error * rng.standard_normal((len(simulated), 1)))
    whole = np.minimum(alone * (1 + found.share_of_gap * (moved - 1)), 1.0)
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
        level=level.gap,
        source=level.source,
    )
