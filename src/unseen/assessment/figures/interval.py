"""One estimate with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.estimate import Estimate
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, axis_name, label, percent, tidy

__all__ = ["IntervalInfo"]


@dataclass(frozen=True, kw_only=True)
class IntervalInfo:
    """The value, the interval's ends (None if no valid one exists) and its level."""

    method: str
    value: float
    ends: tuple[float, float] | None
    level: float | None
    target: str
    loss: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        span = "no interval" if self.ends is None else f"interval {self.ends[0]:.4g} to {self.ends[1]:.4g}"
        return f"{self.value:.4g}, {span}"


def info(e: Estimate) -> IntervalInfo | None:
    """Return the numbers of an estimate."""
    shown = e.on_scale()
    return IntervalInfo(
        method=e.method,
        value=shown.value,
        ends=None if shown.interval is None else (shown.interval.low, shown.interval.high),
        level=e.level,
        target=str(e.target),
        loss=shown.loss,
    )


def draw(numbers: IntervalInfo, ax: Any) -> None:
    """Draw the value and, if there is one, its interval."""
    tidy(ax, "x")
    if numbers.ends is not None:
        ax.plot(numbers.ends, [0, 0], color=MAIN, linewidth=4, solid_capstyle="butt")
    face = "none" if numbers.ends is None else MAIN
    ax.plot([numbers.value], [0], marker="o", color=MAIN, markerfacecolor=face, markersize=10)
    ax.set_yticks([0], [label(numbers.method)])
    ax.set_ylim(-1, 1)
    ax.margins(x=0.15)
    left, right = ax.get_xlim()
    if left < 0 <= min((numbers.value, *(numbers.ends or ()))):
        ax.set_xlim(-0.05 * right, right)  # room for the point alone: errors are not negative
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"{axis_name(numbers.loss)}: {label(numbers.target, 60)}")
    percent(ax.xaxis, numbers.loss)


figure(
    Figure(
        name="interval",
        record=Estimate,
        info=info,
        draw=draw,
        title="Estimate and interval",
        caption="The point is the estimate, the line its confidence interval; a hollow point has no valid interval.",
        size=(7.0, 1.5),
        order=10,
    )
)
