"""The bootstrap: train on n draws with replacement, test on what was not drawn (Efron, 1983)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import check_count, complement, draw_every_class, make_plan, redraw_note, rows_of

__all__ = ["Bootstrap"]


@register
@dataclass(frozen=True)
class Bootstrap(Design):
    """B samples of n units drawn with replacement; the units left over are the test part.

    Parameters
    ----------
    n_splits : int
        Number of bootstrap samples B.

    Examples
    --------
    >>> import unseen
    >>> plan = Bootstrap(20).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> all(len(s.train) == 150 and not set(s.train) & set(s.test) for s in plan)
    True
    """

    n_splits: int = 100
    id: ClassVar[str] = "bootstrap"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_splits` bootstrap samples, each with at least one unit left over."""
        check_count(self.id, "n_splits", self.n_splits)
        n = data.n_units
        members = (
            None
            if not data.grouped
            else np.split(np.argsort(data.units, kind="stable"), np.cumsum(np.bincount(data.units))[:-1])
        )

        def draw() -> Split:
            while True:
                drawn = np.sort(rng.integers(0, n, n))
                left = complement(n, drawn)
                if len(left):
                    break
            train = drawn if members is None else np.concatenate([members[u] for u in drawn])
            return Split(train.astype(np.int64), rows_of(data, left))

        splits, redrawn = [], 0
        for j in range(self.n_splits):
            split, again = draw_every_class(self.id, data, draw)
            splits.append(Split(split.train, split.test, repeat=j))
            redrawn += again
        return make_plan(self, data, splits, redraw_note(redrawn, self.n_splits))
