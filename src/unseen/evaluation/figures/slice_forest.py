"""One measure in each slice, with intervals that hold together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.evaluation.slices import Slices
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, points, short_names, tidy

__all__ = ["SliceForest"]


@dataclass(frozen=True, kw_only=True)
class SliceForest:
    """Names, values and limits of the slices, one line each; the worst ones, the axis, and where the columns begin."""

    labels: tuple[str, ...]
    values: tuple[float | None, ...]
    ends: tuple[tuple[float, float] | None, ...]
    worst: frozenset[int]
    begins: tuple[int, ...]
    xlabel: str
    percent: bool
    points: bool
    zero: bool
    summary: str
    size: tuple[float, float]


def info(s: Slices) -> SliceForest:
    """Return the lines."""
    several = len(s.tests) > 1
    labels = tuple(f"{x.column}: {x.name}" if several else x.name for x in s.slices)
    tied = {(x.column, x.name) for x in s.worst_slices()}
    begins = tuple(k for k in range(1, len(s.slices)) if s.slices[k].column != s.slices[k - 1].column)
    shares = s.value_text(0.5).endswith("%")
    return SliceForest(
        labels=tuple(f"{text} (n = {x.n:,})" for text, x in zip(labels, s.slices)),
        values=tuple(x.value for x in s.slices),
        ends=tuple(None if x.low is None or x.high is None else (x.low, x.high) for x in s.slices),
        worst=frozenset(k for k, x in enumerate(s.slices) if (x.column, x.name) in tied),
        begins=begins,
        xlabel=f"{s.of}: {s.word}" if s.of else s.word,
        percent=shares,
        points=s.value_text(0.5).endswith("points"),
        zero=s.is_difference,
        summary=s.sentence(),
        size=(7.0, 1.0 + 0.3 * len(s.slices)),
    )


def draw(numbers: SliceForest, ax: Any) -> None:
    """Draw one point and interval per slice, the worst in its own colour."""
    tidy(ax, "x")
    for k, (value, ends) in enumerate(zip(numbers.values, numbers.ends)):
        colour = OTHER if k in numbers.worst else MAIN
        if ends is not None:
            ax.plot(ends, [-k, -k], color=colour, linewidth=2.4, solid_capstyle="butt")
        if value is not None:
            ax.plot(value, -k, "o", color=colour, markersize=6, markerfacecolor=colour if ends is not None else "none")
    for k in numbers.begins:
        ax.axhline(0.5 - k, color=GREY, linewidth=0.6)
    if numbers.zero:
        ax.axvline(0.0, color=GREY, linewidth=0.9, linestyle="--")
    unit = points(ax.xaxis, numbers.points)
    if numbers.percent:
        ax.xaxis.set_major_formatter(lambda value, place: f"{round(100 * value, 6):g}%")
    ax.set_yticks([-k for k in range(len(numbers.labels))], short_names(numbers.labels, 40))
    ax.set_ylim(-len(numbers.labels) + 0.4, 0.6)
    ax.set_xlabel(f"difference{unit}" if unit else label(numbers.xlabel, 60))


figure(
    Figure(
        name="slices",
        record=Slices,
        info=info,
        draw=draw,
        title="Slices",
        caption="Points with intervals that hold for all slices together; the worst slice has its own colour.",
        order=10,
    )
)
