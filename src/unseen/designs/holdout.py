"""Hold-out: one random split, trained once and tested once (Highleyman, 1962)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import (
    complement,
    draw_every_class,
    left_out_size,
    make_plan,
    redraw_note,
    rows_of,
    strata_of,
)
from unseen.designs.monte_carlo import random_test_units

__all__ = ["Holdout"]


@register
@dataclass(frozen=True)
class Holdout(Design):
    """One random split.

    Parameters
    ----------
    fraction : float
        Share of the units held out for testing; n2 = ceil(fraction n).
    stratify : bool
        Draw in proportion to the classes. The default, False, is what binomial intervals assume.

    Examples
    --------
    >>> import unseen
    >>> (split,) = Holdout(0.2).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(split.train), len(split.test)
    (120, 30)
    """

    fraction: float = 1 / 3
    stratify: bool = False
    id: ClassVar[str] = "holdout"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return the one split."""
        n, size = data.n_units, left_out_size(self.id, self.fraction, data.n_units)
        strata = strata_of(data, self.stratify)

        def draw() -> Split:
            test = random_test_units(strata, n, size, rng)
            return Split(rows_of(data, complement(n, test)), rows_of(data, test))

        split, redrawn = draw_every_class(self.id, data, draw)
        return make_plan(self, data, [split], redraw_note(redrawn, 1))
