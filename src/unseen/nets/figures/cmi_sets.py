"""Score of a measure of generalization for every set of hyper-parameters held fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.ranking.cmi import Score
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, label, tidy

__all__ = ["CmiSetsInfo"]


@dataclass(frozen=True)
class CmiSetsInfo:
    """Sets in ascending order of their score, times 100; the first decides."""

    labels: tuple[str, ...]
    scores: NDArray[np.float64]
    value: float

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.1 + 0.26 * len(self.labels)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{len(self.labels)} sets, least {self.scores[0]:.1f} with {self.labels[0]} fixed, most {self.scores[-1]:.1f}"


def info(score: Score) -> CmiSetsInfo:
    """Return the scores that are defined, in order."""
    defined = sorted((v, k) for k, v in score.by_set.items() if v == v)
    names = tuple(" and ".join(k) or "nothing" for _, k in defined)
    return CmiSetsInfo(names, np.array([100 * v for v, _ in defined]), 100 * score.value)


def draw(numbers: CmiSetsInfo, ax: Any) -> None:
    """Draw one bar per set, the one that decides in another colour."""
    tidy(ax, "x")
    places = np.arange(len(numbers.labels))
    colours = [OTHER, *[MAIN] * (len(places) - 1)]
    ax.barh(places, numbers.scores, color=colours, height=0.7)
    for place, score in zip(places, numbers.scores):
        ax.text(score, place, f" {score:.1f}", va="center", fontsize=10)
    ax.set_yticks(places, [label(text) for text in numbers.labels])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlim(0, max(1.0, 1.12 * float(numbers.scores.max())))
    ax.set_xlabel("score with these hyper-parameters fixed (100: the order of the gaps)")


figure(
    Figure(
        name="sets",
        record=Score,
        info=info,
        draw=draw,
        title="Score by what is held fixed",
        caption="The smallest bar is the measure's score: what it adds when these hyper-parameters are known. With several seeds bars are means "
        "over seeds, and the score is the mean of each seed's smallest.",
        order=10,
    )
)
