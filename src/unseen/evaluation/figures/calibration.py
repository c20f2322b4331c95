"""Observed shares against predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.evaluation.calibration_fit import CalibrationCurve
from unseen.evaluation.curves import Calibration
from unseen.evaluation.measure_record import Measures
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, tidy

__all__ = ["ReliabilityInfo"]


@dataclass(frozen=True, kw_only=True)
class ReliabilityInfo:
    """Mean probability, observed share and its limits in each bin; the class and the reliability term."""

    label: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    reliability: float
    curve: CalibrationCurve | None = None

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"reliability {self.reliability:.4g} over {len(self.predicted)} bins (0 is perfect)"


def info(c: Calibration) -> ReliabilityInfo:
    """Return the bins."""
    return ReliabilityInfo(
        label=c.label,
        predicted=c.predicted,
        observed=c.observed,
        low=c.low,
        high=c.high,
        reliability=c.brier.reliability,
        curve=c.fit.curve,
    )


def of_measures(m: Measures) -> ReliabilityInfo | None:
    """Return the bins of the positive class, or None if there are no probabilities."""
    try:
        return info(m.calibration())
    except InputError:
        return None


def draw(numbers: ReliabilityInfo, ax: Any) -> None:
    """Draw the bins with their limits and the diagonal."""
    tidy(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    if numbers.curve is not None:
        smooth = numbers.curve
        ax.fill_between(smooth.predicted, smooth.low, smooth.high, color=MAIN, alpha=0.15, linewidth=0)
        ax.plot(smooth.predicted, smooth.observed, color=MAIN, linewidth=1.8)
    ax.vlines(numbers.predicted, numbers.low, numbers.high, color=OTHER, linewidth=1.4)
    ax.plot(numbers.predicted, numbers.observed, color=OTHER, marker="o", linestyle="none", markersize=5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel(f"predicted probability of {label(numbers.label)}")
    ax.set_ylabel("observed share")


CAPTION = (
    "The smooth curve with a band that holds the whole true curve; points are bins of about as many cases each, with their own limits. "
    "Calibrated probabilities lie on the dashed line."
)
figure(
    Figure(
        name="calibration",
        record=Measures,
        info=of_measures,
        draw=draw,
        title="Calibration",
        caption=CAPTION,
        size=(5.0, 4.8),
        order=50,
    )
)
figure(
    Figure(
        name="calibration",
        record=Calibration,
        info=info,
        draw=draw,
        title="Calibration",
        caption=CAPTION,
        size=(5.0, 4.8),
        order=10,
    )
)
