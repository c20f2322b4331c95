"""Confidence of a net against its share of right answers, as it is and at its temperature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.nets.estimates.records import NetEstimate
from unseen.nets.estimates.temperature import ReliabilityBins, Temperature
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, legend_below, tidy

__all__ = ["TemperedReliabilityInfo"]


@dataclass(frozen=True)
class TemperedReliabilityInfo:
    """Bins before and after, and the temperature between them."""

    before: ReliabilityBins
    after: ReliabilityBins
    temperature: float

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"calibration error {self.before.error:.3f} as given and {self.after.error:.3f} at temperature {self.temperature:.3g}, over {len(self.before.count)} bins"


def info(found: Temperature) -> TemperedReliabilityInfo | None:
    """Return the bins; None if no temperature was found."""
    return None if found.interval is None else TemperedReliabilityInfo(found.before, found.after, found.value)


def info_of_estimate(e: NetEstimate) -> TemperedReliabilityInfo | None:
    """Return the bins of an estimate that has a temperature."""
    return None if e.temperature is None else info(e.temperature)


def draw(numbers: TemperedReliabilityInfo, ax: Any) -> None:
    """Draw both with the limits of the second as a band, and the diagonal."""
    tidy(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    after, before = numbers.after, numbers.before
    ax.fill_between(after.confidence, after.low, after.high, color=MAIN, alpha=0.15, linewidth=0)
    ax.plot(
        before.confidence, before.right, color=OTHER, marker="s", markersize=4, linewidth=1, label="as the net gives it"
    )
    words = f"at temperature {numbers.temperature:.3g}"
    ax.plot(after.confidence, after.right, color=MAIN, marker="o", markersize=5, linewidth=1.8, label=words)
    lowest = float(min(before.confidence.min(), after.confidence.min(), before.right.min(), after.right.min()))
    ax.set_xlim(max(lowest - 0.05, -0.02), 1.02)
    ax.set_ylim(max(lowest - 0.1, -0.02), 1.02)
    ax.set_xlabel("confidence: probability of the class named")
    ax.set_ylabel("share of right answers")
    legend_below(ax, columns=2)


CAPTION = (
    "Bins of about as many cases each. The band holds the true shares of all bins together at the level of the interval; calibrated probabilities lie on the "
    "dashed line. Each half of the rows is shown at the temperature that the other half chose."
)
figure(
    Figure(
        name="reliability",
        record=Temperature,
        info=info,
        draw=draw,
        title="Confidence and right answers",
        caption=CAPTION,
        size=(5.6, 5.0),
        order=10,
    )
)
figure(
    Figure(
        name="reliability",
        record=NetEstimate,
        info=info_of_estimate,
        draw=draw,
        title="Confidence and right answers",
        caption=CAPTION,
        size=(5.6, 5.0),
        order=40,
    )
)
