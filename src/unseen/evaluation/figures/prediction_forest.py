"""Errors of files of predictions, and their paired differences, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.scale import measure_name
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, is_rate, label, percent, points, short_names, tidy

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Values with their intervals, one line each."""

    labels: tuple[str, ...]
    values: tuple[float, ...]
    ends: tuple[tuple[float, float] | None, ...]
    loss: str
    xlabel: str
    zero: bool


def _estimates(result: PredictionFiles) -> Forest:
    rows = result.by_file()
    ends = tuple(None if row["lower"] is None else (row["lower"], row["upper"]) for row in rows)
    values = tuple(row["estimate"] for row in rows)
    measure = rows[0]["measure"]
    return Forest(
        labels=tuple(result.estimates),
        values=values,
        ends=ends,
        loss=measure,
        xlabel=measure_name(measure),
        zero=False,
    )


def _differences(result: PredictionFiles) -> Forest | None:
    if not result.pairs:
        return None
    ends = tuple(None if p.interval is None else (p.interval.low, p.interval.high) for p in result.pairs)
    labels = tuple(f"{p.a} − {p.b}" for p in result.pairs)
    return Forest(
        labels=labels,
        values=tuple(p.difference for p in result.pairs),
        ends=ends,
        loss=result.loss,
        xlabel=f"difference in {'error' if is_rate(result.loss) else measure_name(result.loss)}",
        zero=True,
    )


def draw_forest(info: Forest, ax: Any) -> None:
    """Draw one point and interval per line."""
    for k, (value, ends) in enumerate(zip(info.values, info.ends)):
        if ends is not None:
            ax.plot(ends, [-k, -k], color=PALETTE[0], linewidth=2, solid_capstyle="butt")
        ax.plot(value, -k, "o", color=PALETTE[1])
    if info.zero:
        ax.axvline(0.0, color=PALETTE[5], linewidth=0.9, linestyle="--")
    ax.set_yticks([-k for k in range(len(info.labels))], short_names(info.labels, 48))
    ax.set_ylim(-len(info.labels) + 0.4, 0.6)
    tidy(ax, "x")
    unit = ""
    if info.zero:
        unit = points(ax.xaxis, is_rate(info.loss))
    else:
        percent(ax.xaxis, info.loss)
    ax.set_xlabel(label(f"{info.xlabel}{unit}", 60))


figure(
    Figure(
        name="file-errors",
        record=PredictionFiles,
        info=_estimates,
        draw=draw_forest,
        title="Error of each file",
        caption="Points with their confidence intervals; files share their rows, so overlapping intervals do not mean equal models.",
        size=(7.0, 2.6),
        order=20,
    )
)
figure(
    Figure(
        name="file-differences",
        record=PredictionFiles,
        info=_differences,
        draw=draw_forest,
        title="Paired differences",
        caption="Left of the dashed line the first of the two is better (a score s is compared as 1 − s).",
        size=(7.0, 2.6),
        order=10,
    )
)
