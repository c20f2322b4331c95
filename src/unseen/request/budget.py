"""A budget of seconds: what is left of it, and how many rows and folds it allows, from fits that are timed."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.rng import stream, task_seed
from unseen.core.training import fit_rows
from unseen.request.request import Request

__all__ = [
    "SLACK",
    "Affordable",
    "TimeBudget",
    "affordable_folds",
    "affordable_units",
    "draw_units",
    "expected_seconds",
]

FIRST_TRIAL = 200  # units of the first timed fit: few enough that it takes no time for any usual model
GROWTH = (4, 2)  # of the trials: all but the last together cost a third of it; half as fast where that takes too long
TRIAL_SHARE = 0.1  # of what is left that a further trial may take
WARM_SHARE = 0.25  # of what is left, for a second fit of the first trial: the first fit of a process imports and prepares what no later one does
STEADY_SHARE = 0.01  # of what is left, for repeating a trial: the quickest counts, as whatever else the machine does only adds to a fit of milliseconds
MOST_REPEATS = 5
LARGEST_FIT = 1 / 3  # of the budget, for a fit on all rows: it is made once, and three folds cost two of it
FIT_OF_TEN = 0.07  # of the budget, for a fit on a subsample: eleven of them leave a fifth for the rest
RESERVE = 0.08  # of the budget, for estimates, checks and notes after the last fit
# from what is usual to the fewest that test every unit
FOLDS = (10, 5, 3, 2)
SLACK = 1.15  # fits vary: a round is started only if so many times its expected time is left


@dataclass(frozen=True)
class TimeBudget:
    """Seconds that a run may take from `start` on; None is no limit.

    Examples
    --------
    >>> TimeBudget(None).left(), 0 < TimeBudget(60.0).left() < 60
    (inf, True)
    """

    seconds: float | None
    start: float = field(default_factory=time.perf_counter)

    @property
    def until(self) -> float | None:
        """Time of `time.perf_counter` by which the last fit must end; None without a limit."""
        return None if self.seconds is None else self.start + self.seconds * (1 - RESERVE)

    def left(self) -> float:
        """Return the seconds left for fits."""
        return math.inf if self.until is None else self.until - time.perf_counter()

    def allows(self, seconds: float) -> bool:
        """Say whether something that should take so long may begin."""
        return SLACK * seconds <= self.left()


def draw_units(data: Data, count: int, seed: int) -> Data:
    """Return the rows of `count` units drawn at random, in their order, with every class among them.

    Examples
    --------
    >>> import unseen
    >>> some = draw_units(unseen.datasets.load("iris"), 30, 0)
    >>> some.n, len(set(some.y.tolist()))
    (30, 3)
    """
    place = stream(seed, "rows").permutation(data.n_units)
    if data.classes is not None:
        for code in range(len(data.classes)):  # the first two units of each class go to the front
            own = np.unique(data.units[data.codes == code])
            place[own[np.argsort(place[own])[:2]]] = -1
    chosen = np.zeros(data.n_units, dtype=bool)
    chosen[np.argsort(place, kind="stable")[:count]] = True
    return data.take(np.flatnonzero(chosen[data.units]))


@dataclass(frozen=True, kw_only=True)
class Affordable:
    """Units that a budget allows, and the seconds that a fit on them, and one on all units, should take."""

    units: int
    seconds: float
    of_all: float


def affordable_units(request: Request, budget: TimeBudget) -> Affordable:
    """Return how many units may be used, and how long a fit should take: fits on growing parts are timed.

    All of them if a fit should take at most a third of the budget, else as many as leave time for ten folds; if there is no time
    for two folds of a few hundred, an error says how much a fit takes.
    """
    assert budget.seconds is not None
    data, n = request.data, request.data.n_units
    first = data if n <= FIRST_TRIAL else draw_units(data, FIRST_TRIAL, request.seed)
    sizes, times = [min(n, FIRST_TRIAL)], [_time_fit(request, first)]
    if times[0] <= WARM_SHARE * budget.left():
        times = [min(times[0], _time_quickest(request, first, budget))]
    while True:
        whole = expected_seconds(sizes, times, n)
        # small trials may be alike by accident: only a time in proportion to the units ends them early
        if max(whole, times[-1] * n / sizes[-1]) <= FIT_OF_TEN * budget.seconds:
            break
        room = TRIAL_SHARE * budget.left()
        nexts = (growth * sizes[-1] for growth in GROWTH)
        following = next((size for size in nexts if size < n and expected_seconds(sizes, times, size) <= room), n)
        if following == n:
            break
        times.append(_time_quickest(request, draw_units(data, following, request.seed), budget))
        sizes.append(following)
    if whole <= LARGEST_FIT * budget.seconds:
        return Affordable(units=n, seconds=whole, of_all=whole)
    if times[-1] > LARGEST_FIT * budget.seconds and sizes[-1] <= FIRST_TRIAL:
        size = sizes[-1]
        what = f"one fit on {'all ' if size == n else ''}{size:,}{'' if size == n else f' of {n:,}'} {data.unit}s"
        raise InputError(
            f"{what} takes {times[-1]:.2g} s, too long for an answer within {budget.seconds:g} s; give a budget of at least "
            f"{math.ceil(4.5 * times[-1])} s, or none."
        )
    units, over = min(n - 1, FIRST_TRIAL), n
    while over - units > max(1, units // 100):
        middle = (units + over) // 2
        fits = expected_seconds(sizes, times, middle) <= FIT_OF_TEN * budget.left()
        units, over = (middle, over) if fits else (units, middle)
    return Affordable(units=units, seconds=expected_seconds(sizes, times, units), of_all=whole)


def expected_seconds(sizes: Sequence[int], times: Sequence[float], n: int) -> float:
    """Return how long a fit on n units should take, from fits on growing numbers of them.

    What grows faster than the units goes on so; what grows more slowly is a fixed part and a part for each unit.

    Examples
    --------
    >>> expected_seconds([200], [0.1], 800), expected_seconds([200, 800], [0.1, 1.6], 1600)
    (0.4, 6.4)
    >>> round(expected_seconds([200, 800], [0.1, 0.16], 1600), 6)
    0.24
    """
    size, seconds = sizes[-1], times[-1]
    if len(sizes) == 1:
        return seconds * n / size
    power = math.log(seconds / times[-2]) / math.log(size / sizes[-2])
    if power >= 1:
        return float(seconds * (n / size) ** power)
    return float(seconds + max(seconds - times[-2], 0.0) / (size - sizes[-2]) * (n - size))


def _time_fit(request: Request, data: Data) -> float:
    start = time.perf_counter()
    fit_rows(request.model, data, task_seed(request.seed, "fit", "trial"))
    return max(time.perf_counter() - start, 1e-6)


def _time_quickest(request: Request, data: Data, budget: TimeBudget) -> float:
    """Return the seconds of a fit; if it is quick, of the quickest of several."""
    spare = STEADY_SHARE * budget.left()
    times = [_time_fit(request, data)]
    while len(times) < MOST_REPEATS and sum(times) + times[-1] <= spare:
        times.append(_time_fit(request, data))
    return min(times)


def affordable_folds(seconds: float, budget: TimeBudget, workers: int, n_units: int) -> int:
    """Return how many folds there is time for, if a fit on all rows takes so many seconds.

    Examples
    --------
    >>> affordable_folds(0.01, TimeBudget(60.0), 1, 500), affordable_folds(15.0, TimeBudget(60.0), 1, 500)
    (10, 3)
    """
    fitting = [k for k in FOLDS if k <= n_units and budget.allows((k - 1) * seconds / min(workers, k))]
    return fitting[0] if fitting else 2
