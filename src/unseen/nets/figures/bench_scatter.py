"""Gap of every network against a measure, of a bench or of a table of scored measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.ranking.bench_record import Bench
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.nets.ranking.rank_scores import kendall_tau
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, tidy

__all__ = ["BENCH", "SCORES", "BenchScatterInfo", "scatter_info"]

MARKERS = "osD^v"


@dataclass(frozen=True, kw_only=True)
class BenchScatterInfo:
    """Values of a measure, the gaps, and the axis that moves the gap most."""

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
    """Return the values of the measure that scores most among those that are no control."""
    best = next((line for line in bench.lines if not line.control), None)
    return None if best is None else scatter_info(bench, best.measure)


def scores_info(found: MeasureScores) -> BenchScatterInfo | None:
    """Return the values of the measure that scores most."""
    return scatter_info(found, found.best_first()[0])


def scatter_info(found: Bench | MeasureScores, measure: str) -> BenchScatterInfo | None:
    """Return what is drawn of one measure; None if its values were not kept.

    Examples
    --------
    >>> from unseen.nets import score_measures
    >>> gap, grid = [0.1, 0.2, 0.3, 0.5], {"depth": [1, 1, 2, 2], "width": [8, 9, 8, 9]}
    >>> found = scatter_info(score_measures(gap, {"m": [1, 2, 4, 3]}, grid, sizes=(1,), n_permutations=9), "m")
    >>> found.axis, found.groups, round(found.tau, 3)
    ('depth', ('1', '1', '2', '2'), 0.667)
    """
    if measure not in found.values or not found.axes:
        return None
    moved = {name: _between(found.gap, column) for name, column in found.axes.items()}
    axis = max(moved, key=lambda name: moved[name])
    taken = np.isfinite(found.values[measure])  # a measure may have been taken on some seeds only
    groups = tuple(str(v) for v, there in zip(found.axes[axis], taken) if there)
    values, gap = found.values[measure][taken], found.gap[taken]
    if not len(gap):
        return None
    tau = found.line(measure).tau if isinstance(found, Bench) else kendall_tau(gap, values)
    return BenchScatterInfo(measure=measure, values=values, gap=gap, axis=axis, groups=groups, tau=tau)


def _between(gap: NDArray[np.float64], column: list[Any]) -> float:
    """Return the variance of the gap's means over the values of a hyper-parameter."""
    texts = np.array([str(v) for v in column])
    return float(np.var([gap[texts == v].mean() for v in np.unique(texts)]))


def draw(numbers: BenchScatterInfo, ax: Any) -> None:
    """Draw one point per network, coloured by the hyper-parameter that moves the gap most."""
    tidy(ax, "both")
    for k, value in enumerate(dict.fromkeys(numbers.groups)):
        own = np.array([g == value for g in numbers.groups])
        ax.plot(
            numbers.values[own],
            numbers.gap[own],
            MARKERS[k % len(MARKERS)],
            color=PALETTE[k % len(PALETTE)],
            markersize=5,
            alpha=0.75,
            label=label(f"{numbers.axis} {value}"),
        )
    ax.set_xlabel(label(numbers.measure))
    ax.set_ylabel("gap (training less test accuracy)")
    legend_below(ax)


BENCH = figure(
    Figure(
        name="scatter",
        record=Bench,
        info=info,
        draw=draw,
        title="Gap against the best measure",
        caption="One point per network. Colours are the values of the hyper-parameter that moves the gap most: a measure that only separates these is worth no more "
        "than the hyper-parameter.",
        order=20,
    )
)
SCORES = figure(replace(BENCH, record=MeasureScores, info=scores_info))
