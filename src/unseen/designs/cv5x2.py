"""Five replications of two-fold cross-validation (Dietterich, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan
from unseen.core.registry import register
from unseen.designs.drawing import make_plan
from unseen.designs.kfold import full_rounds

__all__ = ["Cv5x2"]

REPLICATIONS = 5  # as Dietterich (1998) proposes: the t and F laws of the tests are for five


@register
@dataclass(frozen=True)
class Cv5x2(Design):
    """Five times, the units are cut in two halves and each half is tested by the model trained on the other.

    Parameters
    ----------
    stratify : bool or "auto"
        Spread classes evenly over the halves; "auto" does so for classes without groups.

    References
    ----------
    Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
    algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import unseen
    >>> plan = Cv5x2().plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> [(s.repeat, s.fold) for s in plan][:3], plan.mean_sizes()
    ([(0, 0), (0, 1), (1, 0)], (75.0, 75.0))
    """

    stratify: bool | str = "auto"
    id: ClassVar[str] = "5x2cv"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return ten splits; the two halves of a replication are folds 0 and 1."""
        splits, notes = full_rounds(self.id, data, 2, REPLICATIONS, self.stratify, rng)
        return make_plan(self, data, splits, notes)
