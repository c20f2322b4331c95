"""What decisions cost or gain by a matrix, and the decision threshold that costs least on a training part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.measure import Loss
from unseen.core.registry import register
from unseen.measures.areas import sweep
from unseen.measures.confusion import FromTable, ratio

__all__ = ["Cost", "Threshold", "Utility", "best_threshold", "cost_matrix"]

FAMILY = ("cost", "utility")


def cost_matrix(costs: Any, size: int | None = None) -> Floats:
    """Return a square matrix of finite numbers, truth by row and decision by column, or say what is wrong with it.

    Examples
    --------
    >>> cost_matrix([[0, 1], [5, 0]], 2).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    try:
        matrix = np.asarray(costs, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"costs must be a square matrix of numbers: {error}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InputError(f"costs has shape {matrix.shape}; give a square matrix, truth by row and decision by column.")
    if not np.all(np.isfinite(matrix)):
        raise InputError("costs holds a value that is not finite.")
    if size is not None and len(matrix) != size:
        raise InputError(f"costs is {len(matrix)} x {len(matrix)}, and there are {size} classes.")
    return matrix


@dataclass(frozen=True)
class Threshold:
    """A decision threshold, its mean cost on the cases it was chosen on, and the cost of deciding at 0.5 there."""

    value: float
    cost: float
    cost_at_half: float


def best_threshold(positive: Array, score: Floats, costs: Any = None, weight: Floats | None = None) -> Threshold:
    """Return the threshold with the smallest mean cost; choose it on training cases only, as `UtilityThreshold` does.

    Parameters
    ----------
    positive : array of bool
        Which cases are of the positive class.
    score : array
        Scores, higher for the positive class.
    costs : 2 x 2 matrix, optional
        Truth by row and decision by column, negative class first; every error costs 1 by default.
    weight : array, optional
        Weight of each case.

    Returns
    -------
    Threshold
        A case is called positive if its score is at least `value`, the middle of the gap between neighbouring scores.

    References
    ----------
    Elkan, C. (2001). The foundations of cost-sensitive learning. International Joint Conference on Artificial
    Intelligence, 973-978.

    Examples
    --------
    >>> y, p = np.array([0, 0, 1, 1], bool), np.array([0.1, 0.4, 0.3, 0.9])
    >>> best_threshold(y, p, [[0, 1], [5, 0]]).value
    0.2
    """
    positive, score = np.asarray(positive, dtype=bool), np.asarray(score, dtype=float)
    if len(positive) != len(score) or not len(score):
        raise InputError(f"{len(positive)} labels and {len(score)} scores were given; they must go in pairs.")
    if not np.all(np.isfinite(score)):
        raise InputError("a score is not finite; a threshold needs numbers.")
    matrix = cost_matrix([[0, 1], [1, 0]] if costs is None else costs, 2)
    curve = sweep(positive, score, None if weight is None else np.asarray(weight, dtype=float)[None])
    plus, minus = curve.plus[0], curve.minus[0]
    total = plus[-1] + minus[-1]
    cost = (
        plus * matrix[1, 1]
        + (plus[-1] - plus) * matrix[1, 0]
        + minus * matrix[0, 1]
        + (minus[-1] - minus) * matrix[0, 0]
    )
    best = int(np.argmin(cost))
    at_half = int(np.searchsorted(-curve.threshold, -0.5, side="right"))
    return Threshold(_between(curve.threshold, best), float(cost[best] / total), float(cost[at_half] / total))


def _between(threshold: Floats, place: int) -> float:
    """Return the middle of the gap below the `place` highest distinct scores; infinite at the ends."""
    if place == 0:
        return float("inf")
    if place == len(threshold):
        return float("-inf")
    return float((threshold[place - 1] + threshold[place]) / 2)


@register
@dataclass(frozen=True)
class Cost(Loss):
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
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))

    def __post_init__(self) -> None:
        matrix = cost_matrix(((0, 1), (1, 0)) if self.costs is None else self.costs)
        object.__setattr__(self, "range", (float(matrix.min()), float(matrix.max())))
        if self.costs is not None:
            object.__setattr__(self, "costs", tuple(map(tuple, matrix.tolist())))

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the cost of each decision."""
        if self.costs is None:
            result: Floats = (y != value).astype(float)
            return result
        size = 1 + int(max(y.max(initial=0), value.max(initial=0)))
        matrix = cost_matrix(self.costs, None if len(self.costs) >= size else size)
        return np.asarray(matrix[y, value])


@register
@dataclass(frozen=True)
class Utility(FromTable):
    """U = k sum n_ij U_ij with k = 1/n, i the true class and j the one assigned.

    Parameters
    ----------
    gains : nested sequence of float, optional
        Truth by row and decision by column, classes in sorted order; by default 1 on the diagonal and 0 off it, which
        makes the utility the accuracy. A cost is a negative gain.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, calls = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0])
    >>> Utility().of_set(y, calls), Utility(((1, -1), (-5, 2))).of_set(y, calls)
    (0.75, -0.25)
    """

    gains: Any = None
    id: ClassVar[str] = "utility"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    direction: ClassVar[str] = "higher"

    def __post_init__(self) -> None:
        if self.gains is not None:
            matrix = cost_matrix(self.gains)
            object.__setattr__(self, "gains", tuple(map(tuple, matrix.tolist())))

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the mean gain of each confusion matrix."""
        size = tables.shape[-1]
        gains = np.eye(size) if self.gains is None else cost_matrix(self.gains, size)
        return ratio((tables * gains).sum(axis=(-2, -1)), tables.sum(axis=(-2, -1)))
