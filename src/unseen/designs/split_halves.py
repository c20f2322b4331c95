"""Random splits of all units, and of random halves of them (Nadeau & Bengio, 2003, section 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import (
    MAX_REDRAWS,
    check_count,
    draw_every_class,
    lacks_class,
    left_out_size,
    make_plan,
    redraw_note,
    rows_of,
    too_rare,
    training_size,
)

__all__ = ["SplitHalves"]


@register
@dataclass(frozen=True)
class SplitHalves(Design):
    """J outer splits for the mean; M halvings of the units, each half with random splits of its own, for its variance.

    Outer splits have `part` -1 and `fold` j. A split of half h = 0, 1 of halving m has `repeat` m, `part` h and
    `fold` j; with an odd number of units each halving leaves one of them out.

    Parameters
    ----------
    fraction : float
        Share of the units tested in an outer split.
    n_splits : int
        Number of outer splits J.
    n_halvings : int
        Number of halvings M.
    inner_fraction : float
        Test size of an inner split as a share of *all* units: n2' = ceil(share n), n1' = floor(n/2) - n2'.
    inner_splits : int
        Splits of each half.
    train_fraction : float or None
        Share of the units trained on in an outer split, if some are to be thrown out; None trains on all the rest.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> plan = SplitHalves().plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(plan), sorted({(s.part == -1, len(s.train), len(s.test)) for s in plan})
    (315, [(False, 60, 15), (True, 135, 15)])
    """

    fraction: float = 0.1
    n_splits: int = 15
    n_halvings: int = 10
    inner_fraction: float = 0.1
    inner_splits: int = 15
    train_fraction: float | None = None
    id: ClassVar[str] = "split-halves"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return the outer splits, then the splits of each half of each halving."""
        for name in ("n_splits", "n_halvings", "inner_splits"):
            check_count(self.id, name, getattr(self, name))
        n = data.n_units
        size = left_out_size(self.id, self.fraction, n)
        n_train = training_size(self.id, self.train_fraction, size, n)
        inner, half = self._inner_sizes(n)
        splits: list[Split] = []
        redrawn = 0
        for j in range(self.n_splits):
            split, again = self._draw(data, np.arange(n), size, n_train, rng)
            splits.append(Split(split.train, split.test, repeat=0, fold=j, part=-1))
            redrawn += again
        for m in range(self.n_halvings):
            for part, units in enumerate(self._halves(data, half, rng)):
                for j in range(self.inner_splits):
                    split, again = self._draw(data, units, inner, half - inner, rng)
                    splits.append(Split(split.train, split.test, repeat=m, fold=j, part=part))
                    redrawn += again
        return make_plan(self, data, splits, redraw_note(redrawn, len(splits)))

    def _inner_sizes(self, n: int) -> tuple[int, int]:
        inner, half = left_out_size(self.id, self.inner_fraction, n, "inner_fraction"), n // 2
        if inner >= half:
            raise InputError(
                f"{self.id}: a half has {half} units, and {inner} of them would be tested, which leaves nothing to train "
                "on; use more data or a smaller inner_fraction (0.1 is usual)."
            )
        return inner, half

    def _draw(self, data: Data, units: Ints, n_test: int, n_train: int, rng: np.random.Generator) -> tuple[Split, int]:
        def draw() -> Split:
            order = rng.permutation(units)
            return Split(rows_of(data, order[n_test : n_test + n_train]), rows_of(data, order[:n_test]))

        return draw_every_class(self.id, data, draw)

    def _halves(self, data: Data, half: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Cut the units in two at random, so that each half has every class."""
        for _ in range(MAX_REDRAWS):
            order = rng.permutation(data.n_units)
            halves = order[:half], order[half : 2 * half]
            if not any(lacks_class(data, rows_of(data, units)) for units in halves):
                return halves
        raise too_rare(self.id, data)
