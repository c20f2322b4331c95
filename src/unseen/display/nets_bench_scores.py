"""Score of every measure of a bench, with the noise floor and the controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.display._figures import Figure, figure
from unseen.display._style import GREY, MAIN, OTHER, label, tidy
from unseen.nets._bench_record import Bench

__all__ = ["BenchScoresInfo"]


@dataclass(frozen=True)
class BenchScoresInfo:
    """Measures from the best score to the worst, the range over seeds, which are controls, and the floor."""

    labels: tuple[str, ...]
    scores: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    control: NDArray[np.bool_]
    floor: float

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.3 + 0.24 * len(self.labels)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        above = int((self.scores > self.floor).sum())
        return f"{len(self.labels)} measures and controls; {self.labels[0]} scores most with {self.scores[0]:.1f}; {above} are above the noise floor of {self.floor:.1f}"


def info(bench: Bench) -> BenchScoresInfo | None:
    """Return the scores in order."""
    if not bench.lines:
        return None
    score, low, high = (
        np.array([getattr(line, name) for line in bench.lines]) for name in ("cmi", "cmi_low", "cmi_high")
    )
    names = tuple(line.measure for line in bench.lines)
    return BenchScoresInfo(names, score, low, high, np.array([line.control for line in bench.lines]), bench.noise_floor)


def draw(numbers: BenchScoresInfo, ax: Any) -> None:
    """Draw a point per measure with the range over seeds, controls in another colour, and the floor as a line."""
    tidy(ax, "x")
    places = np.arange(len(numbers.labels))
    for place, score, low, high, control in zip(places, numbers.scores, numbers.low, numbers.high, numbers.control):
        colour = OTHER if control else MAIN
        ax.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="round", alpha=0.5)
        ax.plot([score], [place], marker="D" if control else "o", color=colour, markersize=5)
    ax.axvline(numbers.floor, color=GREY, linewidth=1, linestyle="--")
    ax.annotate("noise floor", (numbers.floor, 1), (3, -2), xycoords=("data", "axes fraction"), textcoords="offset points", va="top", ha="left", color=GREY)  # fmt: skip
    ax.set_yticks(places, [label(text) for text in numbers.labels])
    for tick, control in zip(ax.get_yticklabels(), numbers.control):
        tick.set_color(OTHER if control else "black")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(places) - 0.4, -0.9)
    ax.set_xlim(0, max(1.0, 1.06 * float(max(numbers.high.max(), numbers.floor))))
    ax.set_xlabel("CMI score (100: the order of the gaps)")


figure(
    Figure(
        "scores", Bench, info, draw, "Score of every measure",
        "Conditional mutual information with the gap, out of 100; bars reach over the seeds. Controls are red diamonds. One in twenty measures "
        "without information passes the dashed line.",
        order=10,
    )
)  # fmt: skip
