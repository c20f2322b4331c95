"""Net benefit by threshold, next to treating all and treating none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.evaluation.decision_curve import DecisionCurve
from unseen.evaluation.measure_record import Measures
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, legend_below, tidy

__all__ = ["DecisionInfo", "draw", "of_measures"]

# net benefits this far below zero say no more than that a strategy harms
DEPTH = 0.3
# the band may reach so many times as high as the curves
ROOM = 1.6


@dataclass(frozen=True, eq=False, kw_only=True)
class DecisionInfo:
    """Thresholds, net benefit with its band, that of treating all, and the class."""

    label: str
    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    summary: str


def info(c: DecisionCurve) -> DecisionInfo:
    """Return the lines."""
    return DecisionInfo(
        label=c.label,
        threshold=c.threshold,
        net_benefit=c.net_benefit,
        low=c.low,
        high=c.high,
        treat_all=c.treat_all,
        summary=c.sentence(),
    )


def of_measures(m: Measures) -> DecisionInfo | None:
    """Return the lines of the positive class, or None without probabilities of two classes."""
    if m.cases.size != 2 or not m.cases.probability:
        return None
    try:
        return info(m.decision_curve())
    except InputError:
        return None


def draw(numbers: DecisionInfo, ax: Any) -> None:
    """Draw the curve with its band and the two other strategies."""
    tidy(ax)
    highest = float(max(numbers.net_benefit.max(), numbers.treat_all.max(), 0.0))
    # where hardly a case is called the band grows without end, and would flatten the curve
    top = min(float(max(numbers.high.max(), highest)), ROOM * highest) or 1.0
    floor = -DEPTH * top
    shown = numbers.treat_all >= 1.5 * floor
    ax.fill_between(
        numbers.threshold,
        np.maximum(numbers.low, floor),
        np.minimum(numbers.high, 2 * top),
        color=MAIN,
        alpha=0.15,
        linewidth=0,
    )
    ax.plot(numbers.threshold, numbers.net_benefit, color=MAIN, linewidth=1.8, label="by probability")
    ax.plot(numbers.threshold[shown], numbers.treat_all[shown], color=OTHER, linewidth=1.4, label="treat all")
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle="--", label="treat none")
    ax.set_xlim(0, 1)
    ax.set_ylim(floor, 1.08 * top)
    ax.xaxis.set_major_formatter(lambda value, place: f"{round(100 * value, 6):g}%")
    ax.set_xlabel(f"threshold: probability of {label(numbers.label)} to act on")
    ax.set_ylabel("net benefit")
    legend_below(ax)


CAPTION = (
    "Hits minus false alarms weighted by the odds of the threshold, per case. The shade holds the whole true curve; where "
    "it lies above both other lines, acting on the probabilities helps."
)
for record, made in ((DecisionCurve, info), (Measures, of_measures)):
    figure(
        Figure(
            name="decision-curve",
            record=record,
            info=made,
            draw=draw,
            title="Decision curve",
            caption=CAPTION,
            size=(6.4, 4.0),
            order=60,
        )
    )
