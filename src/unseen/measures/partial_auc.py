"""Partial area under the ROC curve, at low false-alarm rates (McClish, 1989)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.measures._curves import FromCurve, Sweep, partial_area

__all__ = ["PartialAuc"]


@register
@dataclass(frozen=True)
class PartialAuc(FromCurve):
    """Area left of a false-alarm rate, rescaled so that chance gives 0.5 and a perfect curve 1.

    Parameters
    ----------
    max_rate : float
        Largest false-alarm rate that matters.
    rescaled : bool
        Rescale as McClish does; False gives the plain area.

    References
    ----------
    McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9, 190-195.

    Examples
    --------
    >>> import numpy as np
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(PartialAuc().of_set(y, y, score[:, None]), 4)
    0.8246
    """

    max_rate: float = 0.1
    rescaled: bool = True
    id: ClassVar[str] = "partial-auc"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.5
    needs_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.max_rate <= 1:
            raise InputError(f"max_rate is {self.max_rate!r}; a false-alarm rate lies above 0 and up to 1.")

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the area for each weighting of a sweep."""
        area = partial_area(curve.hit_rate, curve.alarm_rate, self.max_rate)
        least = self.max_rate**2 / 2
        return 0.5 * (1 + (area - least) / (self.max_rate - least)) if self.rescaled else area
