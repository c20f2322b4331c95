"""Kernels around the training points and the decision regions they spill over, seen in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.resubstitution import KernelView
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_beside

__all__ = ["KernelsInfo"]

MOST_KERNELS = 150  # more circles would hide the regions
MARKERS = "osD^vP*X"
# the circle of a Gaussian kernel that readers expect
STANDARD_DEVIATIONS = 1.0


@dataclass(frozen=True, kw_only=True)
class KernelsInfo:
    """Points with class, wrongness and contribution; the outlines of their kernels; the class at each place of the grid.

    `outlines` has a closed curve of one standard deviation (a ball's edge) for each of the points `drawn`.
    """

    points: Floats
    codes: Ints
    wrong: Ints
    contributions: Floats
    drawn: Ints
    outlines: Floats
    grid_x: Floats
    grid_y: Floats
    grid: Ints
    labels: tuple[str, ...]
    axes: tuple[str, str]
    explained: float


def info(v: KernelView) -> KernelsInfo:
    """Return what the plane shows."""
    n = len(v.points)
    drawn = np.arange(n) if n <= MOST_KERNELS else np.sort(np.argsort(-v.contributions, kind="stable")[:MOST_KERNELS])
    angle = np.linspace(0, 2 * np.pi, 41)
    circle = STANDARD_DEVIATIONS * np.stack([np.cos(angle), np.sin(angle)])
    outlines = v.points[drawn][:, :, None] + v.ellipses[v.codes[drawn]] @ circle
    return KernelsInfo(
        points=v.points,
        codes=v.codes,
        wrong=(v.assigned != v.codes).astype(np.int64),
        contributions=v.contributions,
        drawn=drawn,
        outlines=outlines,
        grid_x=v.grid_x,
        grid_y=v.grid_y,
        grid=v.grid,
        labels=tuple(map(str, v.classes)),
        axes=v.axes,
        explained=v.explained,
    )


def draw(numbers: KernelsInfo, ax: Any) -> None:
    """Draw regions as tints, kernels as outlines, points by class; wrong ones are ringed."""
    from matplotlib.colors import ListedColormap

    count = len(numbers.labels)
    colours = [PALETTE[k % len(PALETTE)] for k in range(count)]
    ax.pcolormesh(
        numbers.grid_x,
        numbers.grid_y,
        numbers.grid,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=count - 0.5,
        alpha=0.18,
        shading="nearest",
        rasterized=True,
        linewidth=0,
    )
    for index, outline in zip(numbers.drawn, numbers.outlines):
        ax.plot(*outline, color=colours[numbers.codes[index]], linewidth=0.7, alpha=0.55)
    for code, name in enumerate(numbers.labels):
        mine = numbers.codes == code
        sizes = 14 + 50 * numbers.contributions[mine]
        ax.scatter(
            *numbers.points[mine].T,
            s=sizes,
            color=colours[code],
            marker=MARKERS[code % len(MARKERS)],
            label=label(name),
            linewidth=0.5,
            edgecolor="white",
            zorder=3,
        )
    wrong = numbers.wrong == 1
    if wrong.any():
        ax.scatter(
            *numbers.points[wrong].T,
            s=110,
            facecolor="none",
            edgecolor="#000000",
            linewidth=0.9,
            zorder=4,
            label="misclassified",
        )
    ax.set_xlim(numbers.grid_x[0], numbers.grid_x[-1])
    ax.set_ylim(numbers.grid_y[0], numbers.grid_y[-1])
    ax.set_aspect("equal", adjustable="box")
    share = "" if numbers.explained > 0.999 else f" ({100 * numbers.explained:.0f}% of the variance in this plane)"
    ax.set_xlabel(label(numbers.axes[0]) + share)
    ax.set_ylabel(label(numbers.axes[1]))
    legend_beside(ax)
    ax.spines[["top", "right"]].set_visible(False)


figure(
    Figure(
        name="kernels",
        record=KernelView,
        info=info,
        draw=draw,
        title="Kernels and decision regions",
        caption="Each outline is one standard deviation of the kernel around a training point; its share in regions of another colour "
        "is that point's contribution to the bolstered error (larger marks). Of more than 150 kernels only those that contribute "
        "most are drawn. With more than two dimensions the plane is a projection, the regions a cut through the mean.",
        size=(7.0, 4.6),
        order=10,
    )
)
