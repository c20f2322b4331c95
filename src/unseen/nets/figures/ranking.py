"""Probability of each rank of each network of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.ranking.ranking_record import NetRanking
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, short_names

__all__ = ["NetRankingInfo"]

MOST = 40  # networks that a page has room for


@dataclass(frozen=True)
class NetRankingInfo:
    """Networks, best first, and the probability of each rank; of a long ranking its first part."""

    names: tuple[str, ...]
    probability: NDArray[np.float64]
    left: int

    @property
    def side(self) -> float:
        """Inches of a cell."""
        return min(0.48, 6.2 / len(self.names))

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the networks and their names need."""
        n, longest = len(self.names), max(map(len, short_names(self.names)))
        return max(3.6, 0.5 + 0.085 * longest + self.side * n), 1.0 + self.side * n

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{self.names[0]} is best with probability {self.probability[0, 0]:.2f}, of {len(self.names) + self.left} networks"


def info(r: NetRanking) -> NetRankingInfo:
    """Return the first networks and ranks."""
    kept = min(MOST, len(r.names))
    return NetRankingInfo(r.names[:kept], np.asarray(r.probability)[:kept, :kept], len(r.names) - kept)


def draw(numbers: NetRankingInfo, ax: Any) -> None:
    """Draw a square per network and rank, its area the probability; figures if there is room.

    Squares are pale, so that the page's own ink can be read on them in light and dark.
    """
    n = len(numbers.names)
    seen = [(i, k, p) for i, row in enumerate(numbers.probability) for k, p in enumerate(row) if p >= 0.005]
    rows, ranks, chances = (np.array(column) for column in zip(*seen)) if seen else (np.empty(0),) * 3
    full = (72 * 0.95 * numbers.side) ** 2  # points squared
    ax.scatter(ranks + 1, rows, s=full * chances, marker="s", color=MAIN, alpha=0.4, linewidths=0)
    if n <= 12:
        for i, k, p in seen:
            if p >= 0.15:
                ax.text(k + 1, i, f"{p:.2f}", ha="center", va="center", fontsize=10)
    ax.set_xlim(0.4, n + 0.6)
    ax.set_ylim(n - 0.4, -0.6)
    ax.set_yticks(range(n), short_names(numbers.names))
    ax.set_xticks([1, *range(5, n + 1, 5)] if n > 12 else range(1, n + 1))
    ax.tick_params(length=0)
    ax.set_xlabel("rank (1: smallest expected error)")
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    if numbers.left:
        ax.set_title(f"the first {n}; {numbers.left} more follow", fontsize=10, loc="left")


figure(
    Figure(
        name="ranks",
        record=NetRanking,
        info=info,
        draw=draw,
        title="How sure each rank is",
        caption="The area of a square is the probability that endless draws of the measures would give that rank. What the measures miss is not in it.",
        order=10,
    )
)
