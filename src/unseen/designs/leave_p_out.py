"""Leave-p-out cross-validation: all test parts of p units, or a stated number of them (Shao, 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.plan import Design, Plan, Rests
from unseen.core.registry import register
from unseen.designs._distinct import distinct_splits, every_test_part, splits_off
from unseen.designs.drawing import check_count, lack_class, make_plan, redraw_note, scarce_note

__all__ = ["LeavePOut"]

MOST_SPLITS = 100_000  # more fits than anybody waits for; an error names the way out


@register
@dataclass(frozen=True)
class LeavePOut(Design):
    """Every way to leave p units out, or that many distinct ones drawn at random.

    Parameters
    ----------
    p : int
        Units left out.
    n_splits : int or None
        Number of distinct splits; None takes all C(n, p) of them.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("iris").take(np.arange(45, 55))
    >>> len(LeavePOut(2).plan(data, np.random.default_rng(0))), len(LeavePOut(2, 20).plan(data, np.random.default_rng(0)))
    (45, 20)
    """

    p: int = 2
    n_splits: int | None = None
    id: ClassVar[str] = "leave-p-out"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return all splits in lexicographic order, or `n_splits` random ones."""
        n, p = data.n_units, check_count(self.id, "p", self.p)
        if p >= n:
            raise InputError(f"{self.id}: leaving out {p} of {n} units leaves nothing to train on; use a smaller p.")
        if self.n_splits is not None:
            wanted = check_count(self.id, "n_splits", self.n_splits)
            splits, redrawn = distinct_splits(self.id, data, p, wanted, rng)
            return make_plan(self, data, splits, redraw_note(redrawn, wanted), complementary=True)
        splits = self._all(data)
        scarce = scarce_note(int(lack_class(data, splits).sum()), len(splits))
        return make_plan(self, data, splits, scarce, complementary=True)

    def _all(self, data: Data) -> Rests:
        count = comb(data.n_units, self.p)
        if count > MOST_SPLITS:
            raise InputError(
                f"{self.id}: there are {count} ways to leave {self.p} of {data.n_units} units out, more than {MOST_SPLITS}; "
                "draw some of them with n_splits, or use leave-out."
            )
        return splits_off(data, every_test_part(data.n_units, self.p))
