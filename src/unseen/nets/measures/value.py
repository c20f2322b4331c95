"""What a measure of one network gives back. Needs the standard library alone, so that showing it does not need torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unseen.core.result import Result

__all__ = ["MeasureValue"]


@dataclass(frozen=True, kw_only=True)
class MeasureValue(Result):
    """A measure of one network: the larger, the larger the gap it expects.

    Parameters
    ----------
    measure : str
        Id of the measure.
    value : float
        The number.
    std_error : float or None
        Monte-Carlo error over the draws; 0 for a measure that draws nothing, None with one draw.
    draws : int
        Number of draws.
    seconds : float
        Time it took.
    used : tuple of str
        Layers it looked into; empty if it needs the logits only.
    skipped : dict
        Layers it had to leave out, with the reason.
    moves : tuple of float
        What each draw contributes to `std_error`, the root of the sum of their squares; networks measured with one seed meet the
        same draws, so that their moves go together. Empty if there is no error.
    """

    measure: str
    value: float
    std_error: float | None
    draws: int
    seconds: float
    used: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    moves: tuple[float, ...] = field(default=(), repr=False, compare=False, metadata={"shown": False})

    def rows(self) -> list[dict[str, Any]]:
        """Return the record as one row."""
        return [
            {
                "measure": self.measure,
                "value": self.value,
                "std_error": self.std_error,
                "draws": self.draws,
                "seconds": self.seconds,
                "used": " ".join(self.used),
                "skipped": " ".join(self.skipped),
            }
        ]

    def __str__(self) -> str:
        error = "" if not self.std_error else f" ± {self.std_error:.2g} ({self.draws} draws)"
        return f"{self.measure} {self.value:.5g}{error}"
