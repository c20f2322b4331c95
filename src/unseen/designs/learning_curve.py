"""Growing training sets against one test part: the design behind a learning curve (Cortes et al., 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Design, Plan, Split
from unseen.core.registry import register
from unseen.designs.drawing import check_count, draw_every_class, lacks_class, left_out_size, make_plan, rows_of

__all__ = ["LearningCurve"]


@register
@dataclass(frozen=True)
class LearningCurve(Design):
    """For each of several random splits, models trained on growing, nested parts of the training units.

    Parameters
    ----------
    n_sizes, n_repeats : int
        Training sizes, equally spaced up to all training units, and random splits.
    fraction : float
        Share of the units left out for testing.

    References
    ----------
    Cortes, C., Jackel, L. D., Solla, S. A., Vapnik, V. and Denker, J. S. (1994). Learning curves: asymptotic values
    and rate of convergence. Advances in Neural Information Processing Systems 6, 327-334.

    Examples
    --------
    >>> import unseen
    >>> plan = LearningCurve(5, 5).plan(unseen.datasets.load("iris"), np.random.default_rng(0))
    >>> len(plan), sorted({len(s.train) for s in plan})
    (25, [24, 48, 72, 96, 120])
    """

    n_sizes: int = 5
    n_repeats: int = 5
    fraction: float = 0.2
    id: ClassVar[str] = "learning-curve"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return `n_repeats` x `n_sizes` splits; sizes that cannot hold every class are left out."""
        check_count(self.id, "n_sizes", self.n_sizes)
        check_count(self.id, "n_repeats", self.n_repeats)
        n, size = data.n_units, left_out_size(self.id, self.fraction, data.n_units)
        splits = []
        for repeat in range(self.n_repeats):
            order = np.empty(0, np.int64)

            def draw() -> Split:
                nonlocal order
                order = rng.permutation(n)
                return Split(rows_of(data, order[size:]), rows_of(data, order[:size]))

            whole, _ = draw_every_class(self.id, data, draw)
            for part in range(self.n_sizes):
                count = max(1, round((n - size) * (part + 1) / self.n_sizes))
                train = rows_of(data, order[size : size + count])
                if not lacks_class(data, train):
                    splits.append(Split(train, whole.test, repeat=repeat, fold=0, part=part))
        return make_plan(self, data, splits)
