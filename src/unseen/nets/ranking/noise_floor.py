"""What measures without information score, one by one and the best of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.core.result import Result

__all__ = ["NoiseFloor", "adjusted_p_values"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NoiseFloor(Result):
    """What a measure without information scores on this grid, by permuting the measure over the networks.

    Parameters
    ----------
    mean, quantile : float
        Mean score and the score that 5% of the permutations exceed, as fractions.
    p_value : float
        Share of permutations that score at least as much, the measure itself counted among them.
    n_permutations : int
        Number of permutations.
    scores : numpy.ndarray
        All of them, as fractions.
    """

    mean: float
    quantile: float
    p_value: float
    n_permutations: int
    scores: Floats = field(repr=False, metadata={"shown": False})

    def rows(self) -> list[dict[str, Any]]:
        """Return the record as one row."""
        return [self.to_dict()]

    def __str__(self) -> str:
        return (
            f"noise floor: mean {100 * self.mean:.2f}, 95% {100 * self.quantile:.2f}, p = {self.p_value:.3g} "
            f"({self.n_permutations} permutations)"
        )


def adjusted_p_values(scores: Mapping[str, float], floors: Mapping[str, NoiseFloor]) -> dict[str, float]:
    """Return p-values adjusted for looking at all these measures: how often the best of them does as well by chance.

    All measures must have been permuted alike (same seed, same number), as `noise_floor` does; what they have in common is then kept.

    Parameters
    ----------
    scores : mapping of str to float
        Score of each measure, as a fraction.
    floors : mapping of str to NoiseFloor
        Its permutations.

    Returns
    -------
    dict

    References
    ----------
    Westfall, P. and Young, S. (1993), Resampling-Based Multiple Testing (single-step maxT).

    Examples
    --------
    >>> def floor(*scores): return NoiseFloor(mean=0.0, quantile=0.0, p_value=0.0, n_permutations=len(scores), scores=np.array(scores))
    >>> adjusted_p_values({"a": 0.5, "b": 0.2}, {"a": floor(0.1, 0.3, 0.1), "b": floor(0.1, 0.1, 0.6)})
    {'a': 0.5, 'b': 0.75}
    """
    best = np.max([floors[name].scores for name in scores], axis=0) if scores else np.empty(0)
    return {name: (1 + int(np.sum(best >= value - 1e-12))) / (1 + best.size) for name, value in scores.items()}
