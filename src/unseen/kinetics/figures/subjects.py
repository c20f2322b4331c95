"""Rates, pools and fluxes of all subjects around their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, label, tidy

__all__ = ["SubjectsInfo"]


@dataclass(frozen=True, kw_only=True)
class SubjectsInfo:
    """Quantities, their means, and per quantity the subjects' values and the mean's interval (NaN without one), all over the mean."""

    names: tuple[str, ...]
    means: Array
    ratios: Array
    low: Array
    high: Array

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.0 + 0.26 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{self.ratios.shape[1]} subjects; " + ", ".join(f"{n} {m:.3g}" for n, m in zip(self.names, self.means))


def info(study: KineticStudy) -> SubjectsInfo | None:
    """Return every quantity of every subject relative to its mean."""
    if len(study) < 2:
        return None
    means = {k: m for k, m in study.means().items() if m.mean > 0}
    values = [f.values() for f in study]
    middle = np.array([m.mean for m in means.values()])
    ratios = np.array([[v[n] for v in values] for n in means]) / middle[:, None]
    ends = [(np.nan, np.nan) if m.interval is None else tuple(m.interval) for m in means.values()]
    low, high = np.array(ends).reshape(-1, 2).T / middle
    return SubjectsInfo(names=tuple(means), means=middle, ratios=ratios, low=low, high=high)


def draw(numbers: SubjectsInfo, ax: Any) -> None:
    """Draw subjects as dots and the interval of the mean as a bar."""
    tidy(ax, "x")
    place = np.arange(len(numbers.names))[::-1]
    ax.axvline(1, color="#000000", linewidth=1)
    ax.hlines(place, np.clip(numbers.low, 0, 3), np.clip(numbers.high, 0, 3), color=MAIN, linewidth=4, alpha=0.7)
    for column in numbers.ratios.T:
        ax.plot(np.clip(column, 0, 3), place, "o", color=GREY, markersize=4, markerfacecolor="none")
    ax.set_yticks(place, [f"{label(n)}  {m:.3g}" for n, m in zip(numbers.names, numbers.means)])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("value divided by the mean over subjects")


figure(
    Figure(
        name="subjects",
        record=KineticStudy,
        info=info,
        draw=draw,
        title="All subjects",
        caption="Dots are subjects, bars the 95% interval of the mean given beside each name (from three subjects on); values beyond 3 are drawn at 3.",
        order=10,
    )
)
