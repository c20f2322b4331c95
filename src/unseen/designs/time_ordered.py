"""Rolling-origin evaluation: train on the past, test on what comes next (Tashman, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.notes import Note, note
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import check_count, check_fraction, lacks_class, make_plan, rows_of, too_rare

__all__ = ["TimeOrdered", "units_in_time"]


@register
@dataclass(frozen=True)
class TimeOrdered(Design):
    """An expanding window: models are trained on all units before a block of time and tested on that block.

    Units of the same time are never on two sides of a split. With groups, whole groups are ordered by the time of
    their first row.

    Parameters
    ----------
    n_splits : int
        Number of test blocks, of nearly equal size.
    start : float
        Share of the units that the first model is trained on; what follows is tested, each unit once.
    gap : int
        Units left out between training part and test block, if outcomes become known late.

    References
    ----------
    Tashman, L. J. (2000). Out-of-sample tests of forecasting accuracy: an analysis and review. International Journal
    of Forecasting 16, 437-450.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> data = unseen.datasets.as_data(X, y, time=np.arange(442))
    >>> plan = TimeOrdered(4).plan(data, np.random.default_rng(0))
    >>> [(len(s.train), len(s.test)) for s in plan]
    [(221, 55), (276, 55), (331, 55), (386, 56)]
    """

    n_splits: int = 10
    start: float = 0.5
    gap: int = 0
    id: ClassVar[str] = "time-ordered"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_splits` splits in the order of time; nothing is drawn."""
        check_count(self.id, "n_splits", self.n_splits)
        check_count(self.id, "gap", self.gap, 0)
        share = check_fraction(self.id, self.start, "start")
        if data.order is None:
            raise InputError(
                f"{self.id} needs to know when each row was seen; give time=..., or choose a design that shuffles."
            )
        units, times, notes = units_in_time(data)
        first, late = self._first_cut(data, units, times, max(round(share * len(units)), 1 + self.gap))
        edges = self._edges(times, first)
        splits = [
            Split(rows_of(data, units[: a - self.gap]), rows_of(data, units[a:b]), repeat=0, fold=j)
            for j, (a, b) in enumerate(pairwise(edges))
        ]
        return make_plan(self, data, splits, (*notes, *late))

    def _first_cut(self, data: Data, units: Ints, times: Array, cut: int) -> tuple[int, tuple[Note, ...]]:
        """Return where testing starts: after the planned share, or later, once every class has been seen."""
        cut = wanted = _past_ties(times, cut)
        while cut < len(units) and lacks_class(data, rows_of(data, units[: cut - self.gap])):
            cut = _past_ties(times, cut + 1)
        if cut >= len(units):
            raise too_rare(self.id, data) if wanted < len(units) else self._too_short(times)
        if cut == wanted:
            return cut, ()
        return cut, (note("U020", f"testing starts at unit {cut} instead of {wanted}, once every class has been seen"),)

    def _edges(self, times: Array, first: int) -> Ints:
        planned = np.linspace(first, len(times), self.n_splits + 1).astype(np.int64)
        edges = np.unique([_past_ties(times, int(edge)) for edge in planned])
        if len(edges) != self.n_splits + 1:
            raise self._too_short(times)
        return edges.astype(np.int64)

    def _too_short(self, times: Array) -> InputError:
        return InputError(
            f"{self.id}: {len(np.unique(times))} distinct times cannot give {self.n_splits} test blocks after the first "
            f"{self.start:.0%} of the units; use fewer splits or a smaller start."
        )


def _past_ties(times: Array, edge: int) -> int:
    """Return the first place at or after `edge` at which time moves on."""
    if 0 < edge < len(times):
        return int(np.searchsorted(times, times[edge - 1], side="right"))
    return edge


def units_in_time(data: Data) -> tuple[Ints, Array, tuple[Note, ...]]:
    """Return units in the order of time and their times; a group counts from its first row on."""
    assert data.order is not None
    distinct, rank = np.unique(data.order, return_inverse=True)
    first = np.full(data.n_units, len(distinct))
    last = np.full(data.n_units, -1)
    np.minimum.at(first, data.units, rank.reshape(-1))
    np.maximum.at(last, data.units, rank.reshape(-1))
    units = np.argsort(first, kind="stable").astype(np.int64)
    overlapping = int(np.sum(np.maximum.accumulate(last[units])[:-1] > first[units][1:]))
    notes: tuple[Note, ...] = ()
    if overlapping:
        notes = (note("U006", f"{overlapping} of {data.n_units} groups begin before an earlier group ends"),)
    return units, first[units], notes
