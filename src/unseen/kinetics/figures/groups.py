"""Rates and pools of subjects by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.group_comparison import GroupComparison
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, tidy

__all__ = ["GroupsInfo"]


@dataclass(frozen=True)
class GroupsInfo:
    """Features, adjusted p-values, groups and the subjects' values over the geometric mean of all subjects."""

    names: tuple[str, ...]
    adjusted: Array
    groups: tuple[str, ...]
    ratios: tuple[Array, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.5 + 0.34 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return ", ".join(f"{n} adjusted p = {p:.2g}" for n, p in zip(self.names, self.adjusted))


def info(result: GroupComparison) -> GroupsInfo:
    """Return the values of every feature, by group."""
    names = tuple(f.name for f in result.features)
    values = np.array([[fit.values()[n] for n in names] for fit in result.study])
    ratios = values / np.exp(np.log(values).mean(axis=0))
    labels = np.array([str(fit.covariates[result.group]) for fit in result.study])
    groups = tuple(result.sizes)
    return GroupsInfo(
        names, np.array([f.adjusted for f in result.features]), groups, tuple(ratios[labels == g] for g in groups)
    )


def draw(numbers: GroupsInfo, ax: Any) -> None:
    """Draw one row per feature, groups side by side on it."""
    tidy(ax, "x")
    place = np.arange(len(numbers.names))[::-1]
    ax.axvline(1, color="#000000", linewidth=1)
    shift = np.linspace(0.18, -0.18, len(numbers.groups))
    for k, group in enumerate(numbers.groups):
        colour = PALETTE[k % 5]
        for j, row in enumerate(place):
            ax.plot(
                numbers.ratios[k][:, j],
                np.full(len(numbers.ratios[k]), row + shift[k]),
                "o",
                color=colour,
                markersize=4,
                markerfacecolor="none",
            )
        means = np.exp(np.log(numbers.ratios[k]).mean(axis=0))
        ax.plot(means, place + shift[k], "|", color=colour, markersize=13, markeredgewidth=3, label=label(group))
    ax.set_xscale("log")
    spread = np.concatenate([r.ravel() for r in numbers.ratios])
    ax.set_xlim(0.9 * float(spread.min()), 1.1 * float(spread.max()))
    low, high = ax.get_xlim()
    ticks = [v for v in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0) if low <= v <= high]
    ax.set_xticks(ticks, [f"{v:g}" for v in ticks])
    ax.minorticks_off()
    ax.set_yticks(place, [f"{label(n)}  p {p:.2g}" for n, p in zip(numbers.names, numbers.adjusted)])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("value divided by the geometric mean of all subjects")
    legend_below(ax, columns=4)


figure(
    Figure(
        name="groups",
        record=GroupComparison,
        info=info,
        draw=draw,
        title="Rates and pools by group",
        caption="Circles are subjects, bars the geometric means of the groups; p is adjusted for looking at all features.",
        order=10,
    )
)
