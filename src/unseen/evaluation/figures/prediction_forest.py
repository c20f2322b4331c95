"""Errors of files of predictions, and their paired differences, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.scale import measure_name
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, is_rate, label, legend_below, percent, points, short_names, tidy

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Values with their intervals, one line each; `shown` marks the differences with a verdict."""

    labels: tuple[str, ...]
    values: tuple[float, ...]
    ends: tuple[tuple[float, float] | None, ...]
    loss: str
    xlabel: str
    shown: tuple[bool, ...] | None
    caption: str
    size: tuple[float, float]


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
        shown=None,
        caption=OF_ERRORS,
        size=(7.0, 2.6),
    )


def _differences(result: PredictionFiles) -> Forest | None:
    if not result.pairs:
        return None
    ends = tuple(None if p.interval is None else (p.interval.low, p.interval.high) for p in result.pairs)
    labels = tuple(f"{p.a} − {p.b}" for p in result.pairs)
    adjusted = any(p.p_adjusted is not None and p.p_adjusted != p.p for p in result.pairs)
    return Forest(
        labels=labels,
        values=tuple(p.difference for p in result.pairs),
        ends=ends,
        loss=result.loss,
        xlabel=f"difference in {'error' if is_rate(result.loss) else measure_name(result.loss)}",
        shown=tuple(p.decided is not None for p in result.pairs),
        caption=OF_DIFFERENCES + (ADJUSTED if adjusted else ""),
        size=(7.0, 2.9),
    )


def draw_forest(info: Forest, ax: Any) -> None:
    """Draw one point and interval per line."""
    for k, (value, ends) in enumerate(zip(info.values, info.ends)):
        colour, marker = (OTHER, "D") if info.shown is not None and info.shown[k] else (MAIN, "o")
        if ends is not None:
            ax.plot(ends, [-k, -k], color=colour, linewidth=2, solid_capstyle="butt")
        ax.plot(value, -k, marker, color=colour)
    if info.shown is not None:
        ax.axvline(0.0, color=GREY, linewidth=0.9, linestyle="--")
    ax.set_yticks([-k for k in range(len(info.labels))], short_names(info.labels, 48))
    ax.set_ylim(-len(info.labels) + 0.4, 0.6)
    tidy(ax, "x")
    if info.shown is None:
        percent(ax.xaxis, info.loss)
        ax.set_xlabel(label(info.xlabel, 60))
        return
    unit = points(ax.xaxis, is_rate(info.loss))
    ax.set_xlabel(label(f"{info.xlabel}{unit}", 60))
    kinds = ((False, MAIN, "o", "no difference shown"), (True, OTHER, "D", "difference shown"))
    legend_below(ax, [_line(*kind) for shown, *kind in kinds if shown in info.shown])


def _line(colour: str, marker: str, text: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, marker=marker, linewidth=2, label=text)


OF_ERRORS = (
    "Points with their confidence intervals; files share their rows, so overlapping intervals do not mean equal models."
)
OF_DIFFERENCES = "Left of the dashed line the first of the two is better (a score s is compared as 1 − s)."
ADJUSTED = " Intervals hold for one pair each; verdicts go by adjusted p-values."
figure(
    Figure(
        name="file-errors",
        record=PredictionFiles,
        info=_estimates,
        draw=draw_forest,
        title="Error of each file",
        caption=OF_ERRORS,
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
        caption=OF_DIFFERENCES,
        order=10,
    )
)
