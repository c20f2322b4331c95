"""Probability of each rank of each network of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.display._figures import Figure, figure
from unseen.display._style import MAIN, label
from unseen.nets._ranking_record import NetRanking

__all__ = ["NetRankingInfo"]

MOST = 40


@dataclass(frozen=True)
class NetRankingInfo:
    """Networks, best first, and the probability of each rank; of a long ranking its first part."""

    names: tuple[str, ...]
    probability: NDArray[np.float64]
    left: int

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the networks need, and room for their names."""
        n = len(self.names)
        side = min(0.48, 6.2 / n)
        return 2.8 + side * n, 1.2 + side * n

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{self.names[0]} is best with probability {self.probability[0, 0]:.2f}, of {len(self.names) + self.left} networks"


def info(r: NetRanking) -> NetRankingInfo:
    """Return the first networks and ranks."""
    kept = min(MOST, len(r.names))
    return NetRankingInfo(r.names[:kept], np.asarray(r.probability)[:kept, :kept], len(r.names) - kept)


def draw(numbers: NetRankingInfo, ax: Any) -> None:
    """Draw a square per network and rank, its area the probability; figures where there is room.

    Squares are pale, so that the page's own ink can be read on them in light and dark.
    """
    n = len(numbers.names)
    for i, row in enumerate(numbers.probability):
        for k, p in enumerate(row):
            if p < 0.005:
                continue
            side = 0.92 * np.sqrt(p)
            ax.add_patch(_square(k + 1 - side / 2, i - side / 2, side))
            if n <= 12 and p >= 0.15:
                ax.text(k + 1, i, f"{p:.2f}", ha="center", va="center", fontsize=10)
    ax.set_xlim(0.4, n + 0.6)
    ax.set_ylim(n - 0.4, -0.6)
    ax.set_aspect("equal")
    ax.set_yticks(range(n), [label(name) for name in numbers.names])
    ax.set_xticks([1, *range(5, n + 1, 5)] if n > 12 else range(1, n + 1))
    ax.tick_params(length=0)
    ax.set_xlabel("rank (1: smallest expected gap)")
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    if numbers.left:
        ax.set_title(f"the first {n}; {numbers.left} more follow", fontsize=10, loc="left")


def _square(left: float, bottom: float, side: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((left, bottom), side, side, facecolor=MAIN, edgecolor=MAIN, alpha=0.4, linewidth=1)


figure(
    Figure(
        "ranks", NetRanking, info, draw, "How sure each rank is",
        "The area of a square is the probability of that rank when the measures' own draws are repeated. What the measures miss about the gap is not in it.", order=10,
    )
)  # fmt: skip
