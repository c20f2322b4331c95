"""Confusion matrix of a set of predictions, every cell with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.arrays import Floats
from unseen.core.estimate import Interval
from unseen.core.result import Result

__all__ = ["Confusion"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Confusion(Result):
    """Confusion matrix: counts, and for each true class the share of every decision with its Wilson interval.

    Parameters
    ----------
    classes : tuple of str
        Labels, in the order of rows (truth) and columns (decision).
    counts, share, low, high : ndarray
        Weighted counts; shares of the row with their limits, NaN for a class without cases.
    level : float
        Confidence level of the limits.
    """

    classes: tuple[str, ...]
    counts: Floats
    share: Floats
    low: Floats
    high: Floats
    level: float

    def __getitem__(self, cell: tuple[Any, Any]) -> float:
        i, j = (self.classes.index(str(label)) for label in cell)
        return float(self.counts[i, j])

    def interval(self, truth: Any, decision: Any) -> Interval:
        """Return the limits of the share of a true class that gets a decision."""
        i, j = (self.classes.index(str(label)) for label in (truth, decision))
        return Interval(float(self.low[i, j]), float(self.high[i, j]), self.level)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per cell."""
        return [
            {
                "truth": self.classes[i],
                "decision": self.classes[j],
                "count": float(self.counts[i, j]),
                "share": float(self.share[i, j]),
                "lower": float(self.low[i, j]),
                "upper": float(self.high[i, j]),
            }
            for i in range(len(self.classes))
            for j in range(len(self.classes))
        ]

    def __str__(self) -> str:
        width = max(len(c) for c in self.classes) + 2
        head = " " * width + "".join(c.rjust(max(width, 8)) for c in self.classes)
        body = [
            c.ljust(width) + "".join(f"{v:g}".rjust(max(width, 8)) for v in line)
            for c, line in zip(self.classes, self.counts)
        ]
        return "\n".join([head, *body])
