"""Power against the size of the test set and against the difference; interval width against size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.planning.power import Power, power_curve
from unseen.planning.test_size import TestSize
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, tidy

__all__: list[str] = []


@dataclass(frozen=True)
class Line:
    """One labelled curve."""

    label: str
    x: Floats
    y: Floats


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Curves, the point asked about, and levels to mark."""

    lines: tuple[Line, ...]
    point: tuple[float, float]
    xlabel: str
    ylabel: str
    log: bool = False
    marks: tuple[float, ...] = ()


def _by_size(result: Power) -> Lines | None:
    if result.difference == 0:
        return None
    sizes, _, _, _ = power_curve(result)
    gap = abs(result.difference)
    most = result.disagreement if result.disagreement is not None else np.inf
    lines = tuple(
        Line(f"difference {g:.3g}", sizes, result.at(n=sizes, difference=g))
        for g in (2 * gap, gap, gap / 2)
        if g <= most
    )
    return Lines(
        lines=lines,
        point=(result.n, result.power),
        xlabel="units in the test set",
        ylabel="power",
        log=True,
        marks=(0.8,),
    )


def _by_difference(result: Power) -> Lines:
    _, _, gaps, _ = power_curve(result)
    lines = tuple(
        Line(f"{n} units", gaps, result.at(n=n, difference=gaps))
        for n in (4 * result.n, result.n, max(2, result.n // 4))
    )
    point = (abs(result.difference), result.power)
    return Lines(
        lines=lines,
        point=point,
        xlabel="true difference of the errors",
        ylabel="power",
        log=False,
        marks=(result.alpha, 0.8),
    )


def _widths(result: TestSize) -> Lines:
    sizes = np.unique(np.geomspace(max(5, result.n / 16), result.n * 8, 120).round())
    line = Line(f"{result.interval}, {100 * result.level:g}%", sizes, result.half_width_at(sizes))
    point = (result.n, float(result.half_width_at(result.n)))
    return Lines(
        lines=(line,),
        point=point,
        xlabel="units in the test set",
        ylabel="half-width of the interval",
        log=True,
        marks=(result.half_width,),
    )


def draw_lines(info: Lines, ax: Any) -> None:
    """Draw the curves and the point asked about."""
    for k, line in enumerate(info.lines):
        style = "-" if len(info.lines) == 1 or k == 1 else "--" if k == 0 else ":"
        ax.plot(line.x, line.y, style, color=PALETTE[k % len(PALETTE)], label=line.label)
    ax.plot(*info.point, "o", color=PALETTE[1], zorder=5)
    for mark in info.marks:
        ax.axhline(mark, color=PALETTE[5], linewidth=0.6, linestyle=":")
    if info.log:
        ax.set_xscale("log")
    if info.ylabel == "power":
        ax.set_ylim(0, 1.02)
    else:
        ax.set_ylim(0, None)
    tidy(ax)
    ax.set_xlabel(info.xlabel)
    ax.set_ylabel(info.ylabel)
    ax.legend(frameon=False)


figure(
    Figure(
        name="power-by-size",
        record=Power,
        info=_by_size,
        draw=draw_lines,
        title="Power against the size of the test set",
        caption="Chance that a paired t test shows the difference; the point is what was asked.",
        order=10,
    )
)
figure(
    Figure(
        name="power-by-difference",
        record=Power,
        info=_by_difference,
        draw=draw_lines,
        title="Power against the difference",
        caption="Chance that a paired t test shows a difference, at a quarter, once and four times the size.",
        order=20,
    )
)
figure(
    Figure(
        name="half-width",
        record=TestSize,
        info=_widths,
        draw=draw_lines,
        title="Width of the interval against the size of the test set",
        caption="Half the width of the interval; ten times more precision needs a hundred times more units.",
        order=10,
    )
)
