"""k-fold cross-validation repeated with new shuffles (Burman, 1989)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan
from unseen.core.registry import register
from unseen.designs.drawing import check_count, make_plan
from unseen.designs.kfold import full_rounds

__all__ = ["RepeatedKFold"]


@register
@dataclass(frozen=True)
class RepeatedKFold(Design):
    """Several rounds of k-fold cross-validation, each with its own shuffle.

    Parameters
    ----------
    n_folds, n_repeats : int
        Folds of a round, and rounds.
    stratify : bool or "auto"
        Spread classes evenly over the folds; "auto" does so for classes without groups.

    Examples
    --------
    >>> import unseen
    >>> len(RepeatedKFold(10, 5).plan(unseen.datasets.load("iris"), np.random.default_rng(0)))
    50
    """

    n_folds: int = 10
    n_repeats: int = 5
    stratify: bool | str = "auto"
    id: ClassVar[str] = "repeated-kfold"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_repeats` shuffled partitions."""
        check_count(self.id, "n_folds", self.n_folds, 2)
        splits, notes = full_rounds(self.id, data, self.n_folds, self.n_repeats, self.stratify, rng)
        return make_plan(self, data, splits, notes)
