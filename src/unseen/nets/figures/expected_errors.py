"""Expected test error of each network of a ranking, with its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.ranking.ranking_record import NetRanking
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, legend_below, percent, short_names, tidy

__all__ = ["ExpectedErrorsInfo"]

MOST = 25  # networks that the first screen has room for


@dataclass(frozen=True)
class ExpectedErrorsInfo:
    """Networks, best first: expected error, training error, the ends of both intervals; of a long ranking its first part."""

    names: tuple[str, ...]
    error: NDArray[np.float64]
    train: NDArray[np.float64]
    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    ties: tuple[str, ...]
    apart: NDArray[np.bool_]
    left: int

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the networks need."""
        return 7.6, 1.5 + 0.27 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{self.names[0]} first with an expected test error of {self.error[0]:.3f}, of {len(self.names) + self.left} networks"


def info(r: NetRanking) -> ExpectedErrorsInfo | None:
    """Return the numbers of the first networks; None for a ranking without expected errors."""
    e = r.expected
    if e is None:
        return None
    kept = min(MOST, len(r.names))
    return ExpectedErrorsInfo(
        r.names[:kept],
        np.array(e.error[:kept]),
        np.array(e.train_error[:kept]),
        np.array([e.low[:kept], e.high[:kept]]),
        np.array([e.lowest[:kept], e.highest[:kept]]),
        r.ties,
        np.array([r.is_apart(i) for i in range(kept)]),
        len(r.names) - kept,
    )


def draw(numbers: ExpectedErrorsInfo, ax: Any) -> None:
    """Draw a row per network: thin line for everything, thick for what differs between networks, dot, and a tick for the training error."""
    rows = np.arange(len(numbers.names))
    same = np.array([k == 0 or name in numbers.ties for k, name in enumerate(numbers.names)])
    ax.hlines(rows, *numbers.outer, color=GREY, linewidth=0.8, label="with the level of the gaps, shared by all")
    for chosen, colour, mark, words in (
        (same & ~numbers.apart, MAIN, "o", "the first and what is not distinguishable from it"),
        (~same & ~numbers.apart, OTHER, "o", "worse"),
        (numbers.apart, GREY, "s", "does not fit its training data"),
    ):
        if chosen.any():
            ax.hlines(rows[chosen], *numbers.inner[:, chosen], color=colour, linewidth=3.5, alpha=0.6)
            ax.plot(numbers.error[chosen], rows[chosen], mark, color=colour, markersize=5, linestyle="", label=words)
    if numbers.apart.any() and not numbers.apart.all():
        ax.axhline(rows[numbers.apart][0] - 0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.plot(numbers.train, rows, "|", color=GREY, markersize=9, label="training error")
    ax.set_yticks(rows, short_names(numbers.names))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("expected test error")
    percent(ax.xaxis, "zero-one")
    if numbers.left:
        ax.set_title(f"the first {len(rows)}; {numbers.left} more follow", fontsize=10, loc="left")
    tidy(ax, "x")
    legend_below(ax, columns=2)


figure(
    Figure(
        name="expected-errors",
        record=NetRanking,
        info=info,
        draw=draw,
        title="Expected test error of each network",
        caption="Dot: expected test error. Thick: 95% interval of what differs between the networks. Thin: the same with the level of "
        "the gaps, which may be off by a factor, the same for all.",
        order=5,
    )
)
