"""Region of practical equivalence: differences too small to matter, and where the evidence lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.errors import InputError

__all__ = ["Rope", "as_rope"]


@dataclass(frozen=True)
class Rope:
    """Region of practical equivalence around a difference of zero, and where the evidence lies.

    Parameters
    ----------
    low, high : float
        Ends of the region; differences inside it do not matter in practice.
    decision : str
        "a better", "b better", "equivalent" or "undecided".
    posterior : tuple of float or None
        Probabilities that the difference lies below, inside and above the region, from a Bayesian test.

    Examples
    --------
    >>> Rope(-0.01, 0.01, "a better").flipped().decision
    'b better'
    """

    low: float
    high: float
    decision: str
    posterior: tuple[float, float, float] | None = None

    def flipped(self) -> Rope:
        """Return the same evidence on b minus a."""
        words = {"a better": "b better", "b better": "a better"}.get(self.decision, self.decision)
        below, inside, above = self.posterior or (0.0, 0.0, 0.0)
        return Rope(-self.high, -self.low, words, None if self.posterior is None else (above, inside, below))


def as_rope(rope: float | tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a region given as a half-width or as a pair.

    Examples
    --------
    >>> as_rope(0.01)
    (-0.01, 0.01)
    """
    given = np.ravel(np.asarray(rope, dtype=float)).tolist()
    ends = [-given[0], given[0]] if np.ndim(rope) == 0 else given
    if len(ends) != 2 or not (np.all(np.isfinite(ends)) and ends[0] <= 0 <= ends[1]):
        raise InputError(f"rope is {rope!r}; give a half-width of at least 0, or a pair (low, high) around 0.")
    return ends[0], ends[1]
