"""Leave-out resampling: random splits, none drawn twice (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.core.registry import register
from unseen.designs._draw import (
    check_count,
    distinct_possible,
    lacks_class,
    make_plan,
    redraw_note,
    redrawing,
    rows_of,
    test_size,
    too_rare,
)
from unseen.designs.monte_carlo import random_test_units

__all__ = ["LeaveOut"]


@register
@dataclass(frozen=True)
class LeaveOut:
    """J distinct random splits, each leaving out a share of the units ("repeated learning-testing").

    Parameters
    ----------
    fraction : float
        Share gamma of the units left out; n2 = ceil(gamma n).
    n_splits : int
        Number of splits J, at most the binomial coefficient C(n, n2).

    Examples
    --------
    >>> import unseen
    >>> plan = LeaveOut(0.25, 200).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len({tuple(s.test) for s in plan})
    200
    """

    fraction: float = 0.25
    n_splits: int = 200
    id: ClassVar[str] = "leave-out"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_splits` distinct splits."""
        check_count(self.id, "n_splits", self.n_splits)
        n = data.n_units
        size = test_size(self.id, self.fraction, n)
        if distinct_possible(n, size, self.n_splits) <= max(2000, 4 * self.n_splits):
            splits, redrawn = self._from_all(data, size, rng)
        else:
            splits, redrawn = self._by_drawing(data, size, rng)
        return make_plan(self, data, splits, redraw_note(redrawn, self.n_splits))

    def _split(self, data: Data, test: Ints, repeat: int) -> Split:
        train = np.setdiff1d(np.arange(data.n_units), test)
        return Split(rows_of(data, train), rows_of(data, test), repeat)

    def _from_all(self, data: Data, size: int, rng: np.random.Generator) -> tuple[list[Split], int]:
        """List every test part and take the first that will do, in random order: no draw can run dry."""
        every = np.array(list(combinations(range(data.n_units), size)), dtype=np.int64)
        splits: list[Split] = []
        for drawn, k in enumerate(rng.permutation(len(every))):
            if len(splits) == self.n_splits:
                return splits, drawn - len(splits)
            split = self._split(data, every[k], len(splits))
            if not lacks_class(data, split.train):
                splits.append(split)
        if len(splits) < self.n_splits:
            raise too_rare(self.id, data)
        return splits, len(every) - len(splits)

    def _by_drawing(self, data: Data, size: int, rng: np.random.Generator) -> tuple[list[Split], int]:
        seen: set[bytes] = set()
        splits: list[Split] = []
        redrawn = 0

        def draw() -> Split:
            while True:
                test = np.sort(random_test_units(None, data.n_units, size, rng))
                key = test.astype("<i8").tobytes()
                if key not in seen:
                    seen.add(key)
                    return self._split(data, test, len(splits))

        for _ in range(self.n_splits):
            split, again = redrawing(self.id, data, draw)
            splits.append(split)
            redrawn += again
        return splits, redrawn
