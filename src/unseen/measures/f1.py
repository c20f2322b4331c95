"""F1, the harmonic mean of precision and sensitivity (van Rijsbergen, 1979)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.registry import register

__all__ = ["F1"]


@register
@dataclass(frozen=True)
class F1:
    """2 TP / (2 TP + FP + FN) of the positive class; 0 where it is neither there nor predicted.

    Parameters
    ----------
    average : {"auto", "positive", "macro"}
        The positive class alone, or the mean over all classes; "auto" takes the former for two classes.

    References
    ----------
    van Rijsbergen, C. J. (1979). Information retrieval, 2nd edition. Butterworths.

    Examples
    --------
    >>> round(F1().of_set(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])), 3)
    0.5
    """

    average: str = "auto"
    id: ClassVar[str] = "f1"
    task: ClassVar[str] = "classification"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    needs_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.average not in ("auto", "positive", "macro"):
            raise InputError(f"average is {self.average!r}; give 'auto', 'positive' or 'macro'.")

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return F1 of a set of predictions."""
        weight = np.ones(len(y)) if weight is None else weight
        size = int(max(y.max(), value.max())) + 1
        if self.average == "positive" or (self.average == "auto" and size <= 2):
            return self._one(y == positive, value == positive, weight)
        return float(np.mean([self._one(y == k, value == k, weight) for k in np.unique(np.concatenate([y, value]))]))

    def _one(self, true: Array, said: Array, weight: Floats) -> float:
        both = float(weight[true & said].sum())
        total = float(weight[true].sum() + weight[said].sum())
        return 2 * both / total if total > 0 else 0.0
