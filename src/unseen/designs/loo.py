"""Leave-one-out cross-validation (Lachenbruch & Mickey, 1968)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.plan import Design, Plan, Rests, RowParts
from unseen.core.registry import register
from unseen.designs.drawing import lack_class, make_plan, scarce_note
from unseen.designs.kfold import one_round

__all__ = ["LeaveOneOut"]


@register
@dataclass(frozen=True)
class LeaveOneOut(Design):
    """Every unit is tested by the model trained on all the others; with groups, every group.

    Examples
    --------
    >>> import unseen
    >>> plan = LeaveOneOut().plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(plan), plan.mean_sizes()
    (150, (1.0, 149.0))
    """

    id: ClassVar[str] = "loo"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return one split per unit, in the order of the units."""
        n = data.n_units
        if n < 2:
            raise InputError(f"{self.id}: leaving one of {n} units out leaves nothing to train on.")
        if data.grouped:
            splits = one_round(data, np.arange(n), n)
        else:
            splits = Rests(n, RowParts(np.arange(n), np.arange(n + 1)), np.zeros(n, dtype=np.int64), np.arange(n))
        return make_plan(self, data, splits, scarce_note(int(lack_class(data, splits).sum()), n), complementary=True)
