"""Zero-one loss: 1 for a wrong label, 0 for a right one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.measure import Loss
from unseen.core.registry import register

__all__ = ["ZeroOne"]


@register
@dataclass(frozen=True)
class ZeroOne(Loss):
    """Zero-one loss; its mean is the error rate.

    Examples
    --------
    >>> ZeroOne().per_example(np.array([0, 1, 1]), np.array([0, 0, 1])).tolist()
    [0.0, 1.0, 0.0]
    """

    id: ClassVar[str] = "zero-one"
    aliases: ClassVar[tuple[str, ...]] = (
        "zero_one_loss",
        "error-rate",
        "error_rate",
    )

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return 1.0 if the labels differ."""
        result: Floats = (y != value).astype(float)
        return result

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all n^2 pairs of target and prediction, from class counts alone."""
        size = int(max(y.max(), value.max())) + 1
        share_y, share_value = (
            np.bincount(y, minlength=size) / len(y),
            np.bincount(value, minlength=size) / len(value),
        )
        return float(1.0 - share_y @ share_value)
