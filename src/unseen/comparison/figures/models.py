"""The error of each compared model by itself, and of the winner after correction for the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.wording import value_in_units
from unseen.core.arrays import Floats
from unseen.core.comparison import Comparisons
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, axis_name, legend_below, percent, short_names, tidy

__all__ = ["ModelsInfo"]


@dataclass(frozen=True, kw_only=True)
class ModelsInfo:
    """Models in ascending order of error; the last row is the winner's corrected error."""

    labels: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    loss: str
    level: float

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.6 + 0.3 * len(self.values)


def info(c: Comparisons) -> ModelsInfo:
    """Return each model's own estimate and the corrected one."""
    order = sorted(c.estimates, key=lambda name: c.estimates[name].value)
    ends = [c.estimates[name].interval for name in order] + [c.winner.interval]
    errors = np.array([(np.nan, np.nan) if e is None else tuple(e) for e in ends])
    error = np.array([*(c.estimates[name].value for name in order), c.winner.corrected])
    names = (*order, f"the best of {c.winner.n_models}")
    loss, values = value_in_units(c.estimates[order[0]].loss, error)
    span = np.sort(value_in_units(c.estimates[order[0]].loss, errors)[1], axis=1)
    return ModelsInfo(labels=names, values=values, low=span[:, 0], high=span[:, 1], loss=loss, level=c.pairs[0].level)


def draw(numbers: ModelsInfo, ax: Any) -> None:
    """Draw one row per model and one for the act of choosing among them."""
    from matplotlib.lines import Line2D

    tidy(ax, "x")
    last = len(numbers.values) - 1
    for k, (value, low, high) in enumerate(zip(numbers.values, numbers.low, numbers.high)):
        colour, marker = (OTHER, "D") if k == last else (MAIN, "o")
        if np.isfinite(low):
            ax.plot([low, high], [k, k], color=colour, linewidth=2.2, solid_capstyle="butt")
        face = colour if np.isfinite(low) else "none"
        ax.plot([value], [k], marker=marker, color=colour, markerfacecolor=face, markersize=6.5, zorder=3)
    ax.set_yticks(range(len(numbers.values)), short_names(numbers.labels))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(last + 0.6, -0.6)
    ax.set_xlabel(axis_name(numbers.loss))
    percent(ax.xaxis, numbers.loss)
    words = f"{100 * numbers.level:g}% interval"
    handles = [
        Line2D([], [], color=MAIN, marker="o", linewidth=2.2, label=f"one model, {words}"),
        Line2D([], [], color=OTHER, marker="D", linewidth=2.2, label=f"the choice of the best, {words}"),
    ]
    legend_below(ax, handles, 2)


figure(
    Figure(
        name="models",
        record=Comparisons,
        info=info,
        draw=draw,
        title="Errors of the models",
        caption="Each model's own error, and the error to expect of a model chosen as the best of them on these data. Models share "
        "their splits, so overlapping intervals do not mean that they are equal: the differences below say that.",
        order=20,
    )
)
