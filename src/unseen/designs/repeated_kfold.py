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

__all__ = ["FOLDS", "RepeatedKFold", "rounds_of_folds"]

# units up to which five and two rounds are worth their time: the luck of the folds shrinks with n as their cost grows; one round makes the
# interval 46% wider than five, two make it 17% wider, and only above 100,000 units may an assessment cost little more than one round
SMALL, LARGE = 1000, 100_000
FOLDS = 10  # the usual number: models are trained on 90% of the units


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
        return make_plan(self, data, splits, notes, complementary=True)


def rounds_of_folds(n_units: int) -> int:
    """Return how many rounds of 10-fold cross-validation a sample deserves; it goes by its size alone.

    Examples
    --------
    >>> rounds_of_folds(200), rounds_of_folds(50_000), rounds_of_folds(10**6)
    (5, 2, 1)
    """
    return 5 if n_units <= SMALL else 2 if n_units <= LARGE else 1
