"""Score of every measure of a bench or of a table, with the noise floor and the controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.ranking.bench_record import Bench
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, tidy

__all__ = ["BenchScoresInfo"]


@dataclass(frozen=True, kw_only=True)
class BenchScoresInfo:
    """Measures from the best score to the worst, the range over seeds, which are controls, and the floor of each."""

    labels: tuple[str, ...]
    scores: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    control: NDArray[np.bool_]
    floors: NDArray[np.float64]

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.3 + 0.24 * len(self.labels)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        above = int((self.scores > self.floors).sum())
        kinds = "measures and controls" if self.control.any() else "measures"
        least, most = (f"{end:.1f}" for end in (self.floors.min(), self.floors.max()))
        floor = least if least == most else f"{least} to {most}"
        return f"{len(self.labels)} {kinds}; {self.labels[0]} scores most with {self.scores[0]:.1f}; {above} are above the noise floor of {floor}"


def info(bench: Bench) -> BenchScoresInfo | None:
    """Return the scores in order."""
    if not bench.lines:
        return None
    score, low, high = (
        np.array([getattr(line, name) for line in bench.lines]) for name in ("cmi", "cmi_low", "cmi_high")
    )
    names = tuple(line.measure for line in bench.lines)
    control = np.array([line.control for line in bench.lines])
    return BenchScoresInfo(
        labels=names, scores=score, low=low, high=high, control=control, floors=np.full(len(names), bench.noise_floor)
    )


def scores_info(found: MeasureScores) -> BenchScoresInfo:
    """Return the scores in order, with their intervals if there are any."""
    names = found.best_first()
    scores = [found.scores[name] for name in names]
    ends = [(s.value, s.value) if s.interval is None else tuple(s.interval) for s in scores]
    low, high = (100 * np.array([pair[k] for pair in ends]) for k in (0, 1))
    floors = 100 * np.array([found.floors[name].quantile for name in names])
    none = np.zeros(len(names), dtype=bool)
    return BenchScoresInfo(
        labels=tuple(names),
        scores=100 * np.array([s.value for s in scores]),
        low=low,
        high=high,
        control=none,
        floors=floors,
    )


def draw(numbers: BenchScoresInfo, ax: Any) -> None:
    """Draw a point per measure with the range over seeds, controls in another colour, and the floors as a line."""
    tidy(ax, "x")
    places = np.arange(len(numbers.labels))
    for place, score, low, high, control in zip(places, numbers.scores, numbers.low, numbers.high, numbers.control):
        colour = OTHER if control else MAIN
        ax.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="round", alpha=0.5)
        ax.plot([score], [place], marker="D" if control else "o", color=colour, markersize=5, clip_on=False)
    # each measure has its own floor; if all are alike the steps are one line
    edges = np.concatenate([places - 0.5, places[-1:] + 0.5])
    ax.stairs(numbers.floors, edges, baseline=None, orientation="horizontal", color=GREY, linewidth=1, linestyle="--")
    ax.annotate(
        "noise floor", (numbers.floors[0], -0.5), (3, 2), textcoords="offset points", va="bottom", ha="left", color=GREY
    )
    names = [label(text) + (" (control)" if control else "") for text, control in zip(numbers.labels, numbers.control)]
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(places) - 0.4, -1.2)
    ax.set_xlim(0, max(1.0, 1.06 * float(max(numbers.high.max(), numbers.floors.max()))))
    ax.set_xlabel("CMI score (100: the order of the gaps)")


TITLE, FLOOR = "Score of every measure", "One in twenty measures without information passes the dashed line."
MEANING = "Conditional mutual information with the gap, out of 100"
figure(
    Figure(
        name="scores",
        record=Bench,
        info=info,
        draw=draw,
        title=TITLE,
        caption=f"{MEANING}; lines reach over the seeds. Controls are red diamonds. {FLOOR}",
        order=10,
    )
)
figure(
    Figure(
        name="scores",
        record=MeasureScores,
        info=scores_info,
        draw=draw,
        title=TITLE,
        caption=f"{MEANING}; lines are intervals over seeds, if there are several. {FLOOR}",
        order=10,
    )
)
