"""Root mean square error, E_rms (Hutton, 1992, equation 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers

__all__ = ["Rms"]


@register
@dataclass(frozen=True)
class Rms(FromNumbers):
    """Square root of the mean squared error; never below the mean absolute error.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(Rms().of_set(y, f), 4)
    1.118
    """

    id: ClassVar[str] = "rms"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    direction: ClassVar[str] = "lower"
    neutral: ClassVar[float | None] = None
    needs_score: ClassVar[bool] = False

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the root of the mean squared error for each weighting."""
        return np.sqrt(weights @ np.square(y - value) / weights.sum(axis=1))
