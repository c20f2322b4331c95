"""Cost of decisions by any cost matrix, a loss of single examples (Elkan, 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._costs import cost_matrix

__all__ = ["Cost"]


@register
@dataclass(frozen=True)
class Cost:
    """What a decision costs, given truth and decision; its mean is minus the utility (Hutton's U with k = 1/n).

    Parameters
    ----------
    costs : nested sequence of float, optional
        Truth by row and decision by column, classes in sorted order; every error costs 1 by default.

    References
    ----------
    Elkan, C. (2001). The foundations of cost-sensitive learning. International Joint Conference on Artificial
    Intelligence, 973-978.

    Examples
    --------
    >>> Cost(((0, 1), (5, 0))).per_example(np.array([0, 1, 1]), np.array([1, 0, 1])).tolist()
    [1.0, 5.0, 0.0]
    """

    costs: Any = None
    id: ClassVar[str] = "cost"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        matrix = cost_matrix(((0, 1), (1, 0)) if self.costs is None else self.costs)
        object.__setattr__(self, "range", (float(matrix.min()), float(matrix.max())))
        if self.costs is not None:
            object.__setattr__(self, "costs", tuple(map(tuple, matrix.tolist())))

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the cost of each decision."""
        if self.costs is None:
            return (y != value).astype(float)
        size = 1 + int(max(y.max(initial=0), value.max(initial=0)))
        matrix = cost_matrix(self.costs, None if len(self.costs) >= size else size)
        return np.asarray(matrix[y, value])
