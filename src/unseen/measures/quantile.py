"""Quantile loss, which the quantile itself minimises (Koenker & Bassett, 1978)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.registry import register

__all__ = ["Quantile"]


@register
@dataclass(frozen=True)
class Quantile:
    """q (y - f) where f is too low, (1 - q) (f - y) where it is too high; half the absolute error at q = 0.5.

    Parameters
    ----------
    q : float
        Quantile that the predictions are meant to be.

    References
    ----------
    Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46, 33-50.

    Examples
    --------
    >>> Quantile(0.9).per_example(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(2).tolist()
    [0.9, 0.1]
    """

    q: float = 0.5
    id: ClassVar[str] = "quantile"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise InputError(f"q is {self.q!r}; a quantile lies strictly between 0 and 1.")

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the weighted distance from the prediction."""
        gap = np.asarray(y - value, dtype=float)
        return np.maximum(self.q * gap, (self.q - 1) * gap)
