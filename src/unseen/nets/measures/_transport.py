"""The 1-Wasserstein distance of two equally large clouds of points: the cheapest one-to-one assignment (Kuhn 1955)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["cheapest_assignment", "wasserstein"]

Floats = NDArray[np.float64]


def cheapest_assignment(cost: Floats) -> NDArray[np.int64]:
    """Return for each row the column it is assigned to, so that the sum of costs is smallest.

    Rows are added one by one; the shortest augmenting path is found with dual prices, in the manner of Jonker and
    Volgenant (1987), Computing 38, 325-340.

    Examples
    --------
    >>> cheapest_assignment(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])).tolist()
    [1, 0, 2]
    """
    n = len(cost)
    pay, price = np.zeros(n), np.zeros(n)
    row_of, column_of = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for start in range(n):
        column, came_from = _shortest_path(cost, start, pay, price, row_of)
        while True:
            row = came_from[column]
            row_of[column], column, column_of[row] = row, column_of[row], column
            if row == start:
                break
    return column_of


def _shortest_path(
    cost: Floats, start: int, pay: Floats, price: Floats, row_of: NDArray[np.int64]
) -> tuple[int, NDArray[np.int64]]:
    """Return the free column that a new row reaches most cheaply and the row each column was reached from; adjust prices."""
    n = len(cost)
    shortest, came_from = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    done = np.zeros(n, dtype=bool)
    row, length, column = start, 0.0, -1
    while row >= 0:
        reach = length + cost[row] - pay[row] - price
        better = ~done & (reach < shortest)
        shortest[better], came_from[better] = reach[better], row
        column = int(np.argmin(np.where(done, np.inf, shortest)))
        length = shortest[column]
        done[column] = True
        row = int(row_of[column])
    done[column] = False
    pay[row_of[done]] += length - shortest[done]
    pay[start] += length
    price[done] += shortest[done] - length
    return column, came_from


def wasserstein(a: torch.Tensor, b: torch.Tensor) -> float:
    """Return the 1-Wasserstein distance (Euclidean cost) of two clouds with as many points each.

    Examples
    --------
    >>> wasserstein(torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [0.5]]))
    1.25
    """
    cost = torch.cdist(a.double(), b.double(), compute_mode="donot_use_mm_for_euclid_dist").cpu().numpy()
    return float(cost[np.arange(len(cost)), cheapest_assignment(cost)].mean())
