"""Gap of every network of a bench against its best measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.display._figures import Figure, figure
from unseen.display._style import PALETTE, label, legend_below, tidy
from unseen.nets._bench_record import Bench

__all__ = ["BenchScatterInfo"]


@dataclass(frozen=True)
class BenchScatterInfo:
    """Values of the measure that scores most among those that are no control, the gaps, and the axis that moves the gap most."""

    measure: str
    values: NDArray[np.float64]
    gap: NDArray[np.float64]
    axis: str
    groups: tuple[str, ...]
    tau: float

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{len(self.gap)} networks, gaps {self.gap.min():.3f} to {self.gap.max():.3f}; Kendall's tau with {self.measure} {self.tau:.2f}"


def info(bench: Bench) -> BenchScatterInfo | None:
    """Return the best measure's values."""
    best = next((line for line in bench.lines if not line.control), None)
    if best is None:
        return None
    moved = {name: _between(bench.gap, column) for name, column in bench.axes.items()}
    axis = max(moved, key=lambda name: moved[name])
    groups = tuple(str(v) for v in bench.axes[axis])
    return BenchScatterInfo(best.measure, bench.values[best.measure], bench.gap, axis, groups, best.tau)


def _between(gap: NDArray[np.float64], column: list[Any]) -> float:
    """Return the variance of the gap's means over the values of a hyper-parameter."""
    texts = np.array([str(v) for v in column])
    return float(np.var([gap[texts == v].mean() for v in np.unique(texts)]))


def draw(numbers: BenchScatterInfo, ax: Any) -> None:
    """Draw one point per network, coloured by the hyper-parameter that moves the gap most."""
    tidy(ax, "both")
    for colour, value in zip(PALETTE, dict.fromkeys(numbers.groups)):
        own = np.array([g == value for g in numbers.groups])
        ax.plot(
            numbers.values[own],
            numbers.gap[own],
            "o",
            color=colour,
            markersize=5,
            alpha=0.75,
            label=label(f"{numbers.axis} {value}"),
        )
    ax.set_xlabel(label(numbers.measure))
    ax.set_ylabel("gap (training less test accuracy)")
    legend_below(ax)


figure(
    Figure(
        "scatter", Bench, info, draw, "Gap against the best measure",
        "One point per network. Colours are the values of the hyper-parameter that moves the gap most: a measure that only tells these apart is worth no more "
        "than the hyper-parameter.",
        order=20,
    )
)  # fmt: skip
