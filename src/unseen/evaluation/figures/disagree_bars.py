"""Where two classifiers disagree, and the intervals that labels of those points give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.evaluation.disagree import Disagreement, LabelledDisagreement
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, points, tidy

__all__: list[str] = []


@dataclass(frozen=True)
class PointCounts:
    """Counts of points that add up to all of them."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DifferenceSpans:
    """Intervals of a difference and the bound that needs no labels."""

    labels: tuple[str, ...]
    value: float
    ends: tuple[tuple[float, float], ...]
    bound: float
    names: tuple[str, str]


def _parts(d: Disagreement) -> PointCounts:
    rest = d.n_disagree - len(d.request)
    return PointCounts(
        ("agree", "disagree, not asked for", "disagree, to be labelled"), (d.n - d.n_disagree, rest, len(d.request))
    )


def draw_parts(info: PointCounts, ax: Any) -> None:
    """Draw one bar cut into parts."""
    start = 0
    for k, (name, count) in enumerate(zip(info.labels, info.counts)):
        ax.barh(
            0, count, left=start, color=(PALETTE[5], PALETTE[4], PALETTE[1])[k], label=f"{name}: {count}", height=0.5
        )
        start += count
    tidy(ax, "x")
    ax.set_yticks([])
    ax.set_ylim(-0.6, 0.6)
    ax.set_xlim(0, max(start, 1))
    ax.set_xlabel("points")
    legend_below(ax)


def _spans(d: LabelledDisagreement) -> DifferenceSpans:
    ends = ((d.interval.low, d.interval.high), (d.population.low, d.population.high))
    return DifferenceSpans(
        labels=("these points", "new points"), value=d.difference, ends=ends, bound=d.share, names=(d.first, d.second)
    )


def draw_spans(info: DifferenceSpans, ax: Any) -> None:
    """Draw both intervals inside the bound that the share of disagreements sets."""
    ax.axvspan(-info.bound, info.bound, color=PALETTE[4], alpha=0.15, label="bound without labels")
    ax.axvline(0.0, color=PALETTE[5], linewidth=0.9, linestyle="--")
    for k, (low, high) in enumerate(info.ends):
        ax.plot([low, high], [-k, -k], color=PALETTE[k], linewidth=2.5, solid_capstyle="butt")
        ax.plot(info.value, -k, "o", color=PALETTE[k])
    tidy(ax, "x")
    ax.set_yticks([0, -1], info.labels)
    ax.set_ylim(-1.6, 0.9)
    unit = points(ax.xaxis, True)
    ax.set_xlabel(f"accuracy of {label(info.names[0])} minus accuracy of {label(info.names[1])}{unit}")
    legend_below(ax)


figure(
    Figure(
        name="disagreement",
        record=Disagreement,
        info=_parts,
        draw=draw_parts,
        title="Points on which the two disagree",
        caption="Only the points on the right need labels to tell which of the two is better.",
        size=(7.0, 1.7),
        order=10,
    )
)
figure(
    Figure(
        name="disagreement-intervals",
        record=LabelledDisagreement,
        info=_spans,
        draw=draw_spans,
        title="Difference of the accuracies",
        caption="Right of the dashed line the first classifier is better; the shaded band is what is known without any label.",
        size=(7.0, 2.4),
        order=10,
    )
)
