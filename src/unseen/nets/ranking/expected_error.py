"""Expected test error of networks: training error plus a gap predicted from their ranking, its level from copies or from the zoos."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnseenError
from unseen.nets.measures.measure import build_measure
from unseen.nets.measures.value import MeasureValue
from unseen.nets.modules.net import Net
from unseen.nets.ranking.ranking_record import ExpectedErrors

__all__ = ["GapLevel", "expected_errors", "gap_level", "order_of_errors"]

LEAST, MOST = (
    0.05,
    0.95,
)  # bounds of a correlation: a measure without one still decides between networks that are otherwise alike
LEVEL_DRAWS = 2  # of the measure that tells the level: its error is a few hundredths of what the transfer misses


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
    """Return how far a ranking by these measures follows the gap: the mean over them of what each had within the zoos.

    Examples
    --------
    >>> correlation(["always-generalize"]) > correlation(["path-norm"]) >= 0.05
    True
    """
    known = _transfer()["agreement"]
    found = [known.get(name, 0.0) for name in measures]
    return float(np.clip(np.mean(found), LEAST, MOST))


def gap_level(nets: Mapping[str, Net], table: Mapping[str, Sequence[MeasureValue]], seed: int) -> GapLevel:
    """Return the typical gap: from copies trained on 80 % if the networks bring them, else as it transfers from the zoos."""
    copies = [net for net in nets.values() if net.copy80 is not None]
    if copies:
        return _level_of_copies(copies)
    said = _transfer()["level"]
    values = [v.value for v in table.get(said["measure"], ())]
    if not values:
        measure = build_measure(said["measure"])
        try:
            values = [measure(net, draws=LEVEL_DRAWS, random_state=seed).value for net in nets.values()]
        except UnseenError:
            values = []
    if not values or min(values) <= 0:
        return GapLevel(said["typical"], said["typical_log_error"], "the zoos' typical gap")
    log = said["intercept"] + said["slope"] * float(np.mean(np.log(values)))
    # beyond what the zoos have shown a line is no guide
    return GapLevel(float(np.clip(math.exp(log), 0.005, 0.9)), said["log_error"], f"{said['measure']}, as on the zoos")


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


def _gaps(scores: Floats, like: Floats, level: float, follow: float) -> Floats:
    """Return gaps along scores, the spread and mean of `like` being the zoos' own."""
    size = float(np.std(like)) or float(np.std(scores))
    z = (scores - like.mean()) / size if size > 0 else np.zeros_like(scores)
    return np.asarray(level * np.exp(follow * _transfer()["spread"] * z))


def order_of_errors(
    score: Floats, simulated: Floats, train: Floats, level: float, measures: Iterable[str], *, guessing: float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Return gaps, expected errors, and the expected error in every simulation of the measures' draws.

    A net that has learned nothing has no gap: gaps shrink in proportion as the training error nears that of guessing.

    Examples
    --------
    >>> two = np.array([0.5, 0.5])
    >>> order_of_errors(two, two[None], np.array([0.0, 0.25]), 0.1, ["vpm"], guessing=0.5)[0].tolist()
    [0.1, 0.05]
    """
    follow = correlation(measures)
    room = np.clip(1 - train / guessing, 0.0, 1.0)
    gaps = room * _gaps(score, score, level, follow)
    return gaps, train + gaps, train + room * _gaps(simulated, score, level, follow)


def expected_errors(
    *,
    train: Floats,
    gaps: Floats,
    simulated: Floats,
    level: GapLevel,
    measures: Iterable[str],
    rng: np.random.Generator,
) -> ExpectedErrors:
    """Return expected errors with intervals, networks in the order given, the first the best.

    Parameters
    ----------
    train, gaps : ndarray
        Training error and predicted gap.
    simulated : ndarray
        Expected errors under the measures' own draws: simulations, networks.
    level : GapLevel
        Typical gap; its error moves all networks alike.
    measures : iterable of str
        What the ranking rests on.
    rng : Generator
        Of what the measures miss.
    """
    spread = _transfer()["spread"] * math.sqrt(1 - correlation(measures) ** 2)
    missed = np.exp(spread * rng.standard_normal(simulated.shape) - spread**2 / 2)
    alone = train + (simulated - train) * missed
    shared = np.exp(level.log_error * rng.standard_normal((len(simulated), 1)))
    whole = np.minimum(train + (alone - train) * shared, 1.0)
    low, high = np.quantile(np.minimum(alone, 1.0), [0.025, 0.975], axis=0)
    lowest, highest = np.quantile(whole, [0.025, 0.975], axis=0)
    below = (whole < whole[:, :1]).mean(axis=0) + 0.5 * (whole == whole[:, :1]).mean(axis=0)
    return ExpectedErrors(
        error=tuple((train + gaps).tolist()),
        train_error=tuple(train.tolist()),
        gap=tuple(gaps.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        lowest=tuple(lowest.tolist()),
        highest=tuple(highest.tolist()),
        probability_better=tuple(below.tolist()),
        level=level.gap,
        source=level.source,
    )
