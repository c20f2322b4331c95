"""How much the loss on unseen rows grows if a column is permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.arrays import Floats
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, axis_name, is_rate, label, points, tidy

__all__ = ["ImportanceInfo"]

# as many names as a page has lines
MOST = 30


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceInfo:
    """The most important columns: names, growth of the loss and its limits."""

    names: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    loss: str
    summary: str
    size: tuple[float, float]


def info(d: Diagnosis) -> ImportanceInfo | None:
    """Return the columns, the most important first."""
    i = d.importance
    if i is None:
        return None
    return ImportanceInfo(
        names=i.names[:MOST],
        value=i.value[:MOST],
        low=i.low[:MOST],
        high=i.high[:MOST],
        loss=i.loss,
        summary=i.sentence(),
        size=(7.0, 1.0 + 0.26 * min(len(i.names), MOST)),
    )


def draw(numbers: ImportanceInfo, ax: Any) -> None:
    """Draw one interval per column; hollow points are not shown to matter."""
    tidy(ax, "x")
    for k, (value, low, high) in enumerate(zip(numbers.value, numbers.low, numbers.high)):
        ax.plot((low, high), (-k, -k), color=MAIN, linewidth=2.2, solid_capstyle="butt")
        ax.plot(value, -k, "o", color=MAIN, markersize=6, markerfacecolor=MAIN if low > 0 else "none")
    ax.axvline(0.0, color=GREY, linewidth=0.9, linestyle="--")
    ax.set_yticks([-k for k in range(len(numbers.names))], [label(name) for name in numbers.names])
    ax.set_ylim(-len(numbers.names) + 0.4, 0.6)
    ax.set_xlabel(f"growth of the {axis_name(numbers.loss)}{points(ax.xaxis, is_rate(numbers.loss))}")


figure(
    Figure(
        name="diagnosis-importance",
        record=Diagnosis,
        info=info,
        draw=draw,
        title="Which columns matter",
        caption="Growth of the loss on unseen rows if a column is permuted; limits hold for all columns together.",
        order=15,
    )
)
