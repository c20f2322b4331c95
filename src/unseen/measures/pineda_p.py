"""Pineda's performance P = 1 - E_m / s_t^2 (Pineda, 1988)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.measures._continuous import FromNumbers, moments

__all__ = ["PinedaP"]


@register
@dataclass(frozen=True)
class PinedaP(FromNumbers):
    """1 for perfect outputs, 0 for guessing the mean, negative for worse; never above the proportion of variance `pov`.

    References
    ----------
    Pineda, F. J. (1988). Dynamics and architecture for neural computation. Journal of Complexity 4, 216-245, as quoted by
    Hutton (1992), equation 6.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(PinedaP().of_set(y, f), 4)
    0.6429
    """

    id: ClassVar[str] = "pineda-p"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0
    needs_score: ClassVar[bool] = False

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return 1 - E_m / s_t^2 for each weighting; NaN where the target does not vary."""
        spread = moments(np.asarray(y, dtype=float), weights)[1]
        error = weights @ np.square(y - value) / weights.sum(axis=1)
        return 1 - np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
