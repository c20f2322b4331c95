"""Leave-out resampling: random splits, none drawn twice (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan
from unseen.core.registry import register
from unseen.designs._distinct import distinct_splits
from unseen.designs.drawing import check_count, left_out_size, make_plan, redraw_note

__all__ = ["LeaveOut"]


@register
@dataclass(frozen=True)
class LeaveOut(Design):
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
        size = left_out_size(self.id, self.fraction, data.n_units)
        splits, redrawn = distinct_splits(self.id, data, size, self.n_splits, rng)
        return make_plan(self, data, splits, redraw_note(redrawn, self.n_splits), complementary=True)
