"""Coefficient of determination, R^2 (Kvalseth, 1985)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.registry import register
from unseen.measures.pineda_p import PinedaP

__all__ = ["R2"]


@register
@dataclass(frozen=True)
class R2(PinedaP):
    """Share of the variance explained by the predictions as they are: 1 - SSE / SST; the same number as Pineda's P.

    References
    ----------
    Kvalseth, T. O. (1985). Cautionary note about R^2. American Statistician 39, 279-285.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(R2().of_set(y, f), 4)
    0.6429
    """

    id: ClassVar[str] = "r2"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0
    needs_score: ClassVar[bool] = False
