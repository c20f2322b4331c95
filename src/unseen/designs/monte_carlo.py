"""Monte-Carlo cross-validation: independent random splits, repeats allowed (Picard & Cook, 1984)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Ints
from unseen.core.data import Data
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import (
    check_count,
    complement,
    draw_every_class,
    draw_rests,
    left_out_size,
    make_plan,
    redraw_note,
    rows_of,
    strata_of,
    training_size,
)

__all__ = ["MonteCarlo", "random_test_units"]


def random_test_units(strata: Ints | None, n: int, size: int, rng: np.random.Generator) -> Ints:
    """Return `size` units drawn without replacement, in proportion to the strata if given."""
    if strata is None:
        return rng.permutation(n)[:size]
    order = rng.permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    start = rng.random()
    picks = np.floor((np.arange(size) + start) * n / size).astype(np.int64)
    return order[np.minimum(picks, n - 1)]


@register
@dataclass(frozen=True)
class MonteCarlo(Design):
    """J random splits, each leaving out a share of the units.

    Parameters
    ----------
    fraction : float
        Share of the units left out for testing; n2 = ceil(fraction n).
    n_splits : int
        Number of splits J.
    stratify : bool
        Draw in proportion to the classes. The default, False, is what the corrected t interval assumes.
    train_fraction : float or None
        Share of the units trained on, if some are to be thrown out; None trains on all the rest.

    Examples
    --------
    >>> import unseen
    >>> plan = MonteCarlo(0.1, 25).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(plan), plan.mean_sizes()
    (25, (15.0, 135.0))
    """

    fraction: float = 0.1
    n_splits: int = 25
    stratify: bool = False
    train_fraction: float | None = None
    id: ClassVar[str] = "monte-carlo"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_splits` splits."""
        check_count(self.id, "n_splits", self.n_splits)
        n = data.n_units
        size = left_out_size(self.id, self.fraction, n)
        n_train = training_size(self.id, self.train_fraction, size, n)
        strata = strata_of(data, self.stratify)

        if self.train_fraction is None:
            rests, redrawn = draw_rests(self.id, data, self.n_splits, lambda: random_test_units(strata, n, size, rng))
            return make_plan(self, data, rests, redraw_note(redrawn, self.n_splits), complementary=True)

        def draw() -> Split:
            test = random_test_units(strata, n, size, rng)
            rest = complement(n, test)
            if n_train < len(rest):
                rest = rng.permutation(rest)[:n_train]
            return Split(rows_of(data, rest), rows_of(data, test))

        splits, redrawn = [], 0
        for j in range(self.n_splits):
            split, again = draw_every_class(self.id, data, draw)
            splits.append(Split(split.train, split.test, repeat=j))
            redrawn += again
        return make_plan(self, data, splits, redraw_note(redrawn, self.n_splits))
