"""Trimmed mean of absolute errors: the largest are left out (Laur, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers, trimmed_mean

__all__ = ["TrimmedAbsolute"]


@register
@dataclass(frozen=True)
class TrimmedAbsolute(FromNumbers):
    """Mean of the smallest errors; a few wild patterns do not move it.

    Parameters
    ----------
    share : float
        Share of the losses left out, the largest ones; 5% by default.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(TrimmedAbsolute(0.25).of_set(y, f), 4)
    0.3333
    """

    share: float = 0.05
    id: ClassVar[str] = "trimmed-absolute"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise InputError(f"share is {self.share!r}; a share to leave out lies in [0, 1).")

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the trimmed mean for each weighting."""
        losses = np.abs(y - value)
        return np.array([trimmed_mean(losses, w, self.share) for w in weights])
