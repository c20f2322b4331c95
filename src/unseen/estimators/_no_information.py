"""The no-information rate: mean loss when targets and predictions are paired at random (Efron & Tibshirani, 1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats

__all__ = ["no_information_rate"]

PAIRS_AT_ONCE = 2_000_000


def no_information_rate(measure: Any, y: Array, value: Array, score: Floats | None = None) -> float:
    """Return the mean loss over all n^2 pairs of a target and a prediction.

    The loss's own formula is used where it has one; otherwise all pairs are evaluated in blocks.

    Examples
    --------
    >>> from unseen.measures.regression import Squared
    >>> no_information_rate(Squared(), np.array([0.0, 2.0]), np.array([0.0, 2.0]))
    2.0
    """
    if hasattr(measure, "no_information"):
        return float(measure.no_information(y, value, score))
    n = len(y)
    rows = max(1, PAIRS_AT_ONCE // n)
    total = 0.0
    for start in range(0, n, rows):
        block = y[start : start + rows]
        every = np.tile(np.arange(n), len(block))
        picked = None if score is None else score[every]
        total += float(np.sum(measure.per_example(np.repeat(block, n), value[every], picked)))
    return total / n**2
