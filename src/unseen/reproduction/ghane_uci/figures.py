"""Figures of the UCI experiment: size of the deviation against the true error, by estimator and for nets of some shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction.ghane_uci.checks import ESTIMATORS, MOST_PLOTTED
from unseen.reproduction.ghane_uci.experiment import UciResult
from unseen.show.figures import PALETTE, Figure, figure
from unseen.show.style import legend_below, tidy

__all__: list[str] = []

LABELS = {
    "resub": "resubstitution",
    "bolster": "bolstered",
    "posterior": "posterior",
    "bolster_posterior": "bolstered posterior",
}
BINS = 12  # points of a running median; fewer nets are not drawn
WIDTHS = ("10", "20", "30", "40", "2d", "4d", "6d", "8d")


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """True errors and sizes of deviations by estimator, and their running medians."""

    truth: Floats
    deviation: dict[str, Floats]
    centre: Floats
    median: dict[str, Floats]
    hidden: int

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        parts = ", ".join(f"{LABELS[k]} {np.median(v):.3f}" for k, v in self.deviation.items())
        return f"median size of the deviation over {len(self.truth)} nets: {parts}; {self.hidden} nets are flagged and not drawn"


def _deviation(result: UciResult) -> Deviation | None:
    nets = result.nets
    shown = result.kept & (nets["true_error"] <= MOST_PLOTTED)
    if shown.sum() < BINS:
        return None
    truth = nets["true_error"][shown]
    size = {name: np.abs(nets[name][shown] - truth) for name in ESTIMATORS}
    order = np.argsort(truth, kind="stable")
    parts = np.array_split(order, BINS)
    centre = np.array([truth[p].mean() for p in parts])
    median = {name: np.array([np.median(v[p]) for p in parts]) for name, v in size.items()}
    return Deviation(truth=truth, deviation=size, centre=centre, median=median, hidden=int(len(shown) - shown.sum()))


def _draw(info: Deviation, ax: Any) -> None:
    for color, name in zip(PALETTE, ESTIMATORS):
        ax.plot(info.truth, info.deviation[name], ".", ms=2, alpha=0.25, color=color, rasterized=True)
        ax.plot(info.centre, info.median[name], "-", lw=2, color=color, label=LABELS[name])
    ax.set_xlabel("true error")
    ax.set_ylabel("size of the deviation")
    ax.set_ylim(0, max(0.4, float(np.quantile(np.concatenate(list(info.deviation.values())), 0.995))))
    tidy(ax)
    legend_below(ax, columns=2)


figure(
    Figure(
        name="deviation",
        record=UciResult,
        info=_deviation,
        draw=_draw,
        title="Size of the deviation",
        caption="Size of estimate less true error against the true error of every net; lines are running medians (figures 2.5 and 2.6 of the dissertation).",
        size=(7.0, 4.6),
        order=5,
    )
)


@dataclass(frozen=True)
class ByShape:
    """Median size of the deviation by depth and width, one table per estimator, and how many nets each rests on."""

    depths: tuple[int, ...]
    widths: tuple[str, ...]
    median: dict[str, Floats]
    count: Floats

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        ranges = ", ".join(f"{LABELS[k]} {np.nanmin(v):.3f} to {np.nanmax(v):.3f}" for k, v in self.median.items())
        return f"median size of the deviation over nets of one shape: {ranges}"


def _by_shape(result: UciResult) -> ByShape | None:
    nets = result.nets
    shown = result.kept & (nets["true_error"] <= MOST_PLOTTED)
    depths = tuple(int(d) for d in np.unique(nets["depth"]))
    if shown.sum() < BINS or len(depths) < 2:
        return None
    table = {name: np.full((len(depths), 8), np.nan) for name in ESTIMATORS}
    count = np.zeros((len(depths), 8))
    for i, depth in enumerate(depths):
        for k in range(8):
            mine = shown & (nets["depth"] == depth) & (nets["width_number"] == k)
            count[i, k] = mine.sum()
            for name in ESTIMATORS:
                if mine.any():
                    table[name][i, k] = np.median(np.abs(nets[name][mine] - nets["true_error"][mine]))
    return ByShape(depths, WIDTHS, table, count)


def _draw_by_shape(info: ByShape, ax: Any) -> None:
    place = np.arange(8)
    for color, name in zip(PALETTE, ESTIMATORS):
        for row in range(len(info.depths)):
            strong = row in (0, len(info.depths) - 1)
            style = "-" if row == 0 else "--" if strong else ":"
            label = LABELS[name] if row == 0 else None
            ax.plot(place, info.median[name][row], style, lw=1.6 if strong else 0.8, color=color, label=label)
    ax.set_xticks(place, info.widths)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"width (hidden layers: solid {info.depths[0]}, dashed {info.depths[-1]}, dotted between)")
    ax.set_ylabel("median size of the deviation")
    tidy(ax)
    legend_below(ax, columns=2)


figure(
    Figure(
        name="shapes",
        record=UciResult,
        info=_by_shape,
        draw=_draw_by_shape,
        title="Depth and width",
        caption="Median size of the deviation by width; solid: least depth, dashed: greatest, dotted: between (figure 2.4 of the dissertation).",
        size=(7.0, 4.2),
        order=6,
    )
)
