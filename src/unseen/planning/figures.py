"""Power against the size of the test set and against the difference; interval width against size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.planning.power import Power, power_curves
from unseen.planning.test_size import TestSize
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, legend_below, percent, points, tidy

__all__: list[str] = []

# the power that studies usually aim at (Cohen, 1988)
USUAL_POWER = 0.8


@dataclass(frozen=True)
class PlanningCurve:
    """One labelled curve."""

    label: str
    x: Floats
    y: Floats


@dataclass(frozen=True, kw_only=True)
class PlanningCurves:
    """Curves, the point asked about, levels to mark, and whether the axis along holds differences of shares or the upright one widths of them."""

    lines: tuple[PlanningCurve, ...]
    point: tuple[float, float]
    xlabel: str
    ylabel: str
    log: bool = False
    marks: tuple[float, ...] = ()
    gaps: bool = False
    widths: bool = False


def _by_size(result: Power) -> PlanningCurves | None:
    if result.difference == 0:
        return None
    sizes = power_curves(result).sizes
    gap = abs(result.difference)
    most = result.disagreement if result.disagreement is not None else np.inf
    curves = tuple(
        PlanningCurve(f"difference {_gap(result, g)}", sizes, result.at(n=sizes, difference=g))
        for g in (2 * gap, gap, gap / 2)
        if g <= most
    )
    return PlanningCurves(
        lines=curves,
        point=(result.n, result.power),
        xlabel="units in the test set",
        ylabel="power",
        log=True,
        marks=(USUAL_POWER,),
    )


def _gap(result: Power, value: float) -> str:
    return f"{value:.3g}" if result.disagreement is None else f"{100 * value:.3g} points"


def _by_difference(result: Power) -> PlanningCurves:
    gaps = power_curves(result).differences
    curves = tuple(
        PlanningCurve(f"{n} units", gaps, result.at(n=n, difference=gaps))
        for n in (4 * result.n, result.n, max(2, result.n // 4))
    )
    point = (abs(result.difference), result.power)
    return PlanningCurves(
        lines=curves,
        point=point,
        xlabel="true difference of the errors",
        ylabel="power",
        log=False,
        marks=(result.alpha, USUAL_POWER),
        gaps=result.disagreement is not None,
    )


def _widths(result: TestSize) -> PlanningCurves:
    sizes = np.unique(np.geomspace(max(5, result.n / 16), result.n * 8, 120).round())
    curve = PlanningCurve(f"{result.interval}, {100 * result.level:g}%", sizes, result.half_width_at(sizes))
    point = (result.n, float(result.half_width_at(result.n)))
    return PlanningCurves(
        lines=(curve,),
        point=point,
        xlabel="units in the test set",
        ylabel="half-width of the interval",
        log=True,
        marks=(result.half_width,),
        widths=result.error is not None,
    )


def draw_curves(info: PlanningCurves, ax: Any) -> None:
    """Draw the curves and the point asked about."""
    for k, curve in enumerate(info.lines):
        style = "-" if len(info.lines) == 1 or k == 1 else "--" if k == 0 else ":"
        ax.plot(curve.x, curve.y, style, color=PALETTE[k % len(PALETTE)], label=curve.label)
    ax.plot(*info.point, "o", color=PALETTE[1], zorder=5)
    for mark in info.marks:
        ax.axhline(mark, color=PALETTE[5], linewidth=0.6, linestyle=":")
    if info.log:
        ax.set_xscale("log")
    unit = points(ax.xaxis, info.gaps)
    upright = points(ax.yaxis, info.widths)
    if info.ylabel == "power":
        ax.set_ylim(0, 1.02)
        percent(ax.yaxis, "zero-one")
    else:
        ax.set_ylim(0, None)
    tidy(ax)
    ax.set_xlabel(f"{info.xlabel}{unit}")
    ax.set_ylabel(f"{info.ylabel}{upright}")
    legend_below(ax)


figure(
    Figure(
        name="power-by-size",
        record=Power,
        info=_by_size,
        draw=draw_curves,
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
        draw=draw_curves,
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
        draw=draw_curves,
        title="Width of the interval against the size of the test set",
        caption="Half the width of the interval; ten times more precision needs a hundred times more units.",
        order=10,
    )
)
