"""A budget of seconds: what is left of it, and how many rows and folds it allows, from fits that are timed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.rng import stream, task_seed
from unseen.core.training import fit_rows
from unseen.request.request import Request

__all__ = ["SLACK", "Affordable", "TimeBudget", "affordable_folds", "affordable_units", "draw_units"]

FIRST_TRIAL = 200  # units of the first timed fit: few enough that it takes no time for any usual model
GROWTH = 4  # of the trials: all but the last together cost a third of it
TRIAL_SHARE = 0.1  # of the budget that a further trial may take
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
    size, power = min(n, FIRST_TRIAL), 1.0
    before = 0.0
    while True:
        seconds = _time_fit(request, data if size == n else draw_units(data, size, request.seed))
        if before:
            power = max(1.0, math.log(seconds / before) / math.log(GROWTH))
        expected = seconds * (n / size) ** power
        if expected <= LARGEST_FIT * budget.seconds:
            return Affordable(units=n, seconds=expected, of_all=expected)
        if GROWTH * size >= n or seconds * GROWTH**power > TRIAL_SHARE * budget.left():
            break
        size, before = GROWTH * size, seconds
    left = budget.left()
    if seconds > LARGEST_FIT * budget.seconds and size <= FIRST_TRIAL:
        what = f"one fit on {'all ' if size == n else ''}{size:,}{'' if size == n else f' of {n:,}'} {data.unit}s"
        raise InputError(
            f"{what} takes {seconds:.2g} s, too long for an answer within {budget.seconds:g} s; give a budget of at least "
            f"{math.ceil(4.5 * seconds)} s, or none."
        )
    units = min(n - 1, max(int(size * (FIT_OF_TEN * left / seconds) ** (1 / power)), FIRST_TRIAL))
    return Affordable(units=units, seconds=seconds * (units / size) ** power, of_all=expected)


def _time_fit(request: Request, data: Data) -> float:
    start = time.perf_counter()
    fit_rows(request.model, data, task_seed(request.seed, "fit", "trial"))
    return max(time.perf_counter() - start, 1e-6)


def affordable_folds(seconds: float, budget: TimeBudget, workers: int, n_units: int) -> int:
    """Return how many folds there is time for, if a fit on all rows takes so many seconds.

    Examples
    --------
    >>> affordable_folds(0.01, TimeBudget(60.0), 1, 500), affordable_folds(15.0, TimeBudget(60.0), 1, 500)
    (10, 3)
    """
    fitting = [k for k in FOLDS if k <= n_units and budget.allows((k - 1) * seconds / min(workers, k))]
    return fitting[0] if fitting else 2
