"""Trimmed mean of squared errors: the largest are left out (Laur, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.registry import register
from unseen.measures._continuous import Trimmed

__all__ = ["TrimmedSquared"]


@register
@dataclass(frozen=True)
class TrimmedSquared(Trimmed):
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
    >>> round(TrimmedSquared(0.25).of_set(y, f), 4)
    0.3333
    """

    id: ClassVar[str] = "trimmed-squared"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def loss_of(self, errors: Floats) -> Floats:
        """Return the square of each error."""
        return np.asarray(np.square(errors))
