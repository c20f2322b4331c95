"""Differences of all pairs of models with their intervals, around zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison, Comparisons, p_words
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, axis_name, is_rate, label, legend_below, points, tidy

__all__ = ["ForestInfo"]


@dataclass(frozen=True, kw_only=True)
class ForestInfo:
    """Pairs from top to bottom; `low` and `high` are NaN if a test has no interval; `shown` marks a verdict."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    p: Floats
    shown: tuple[bool, ...]
    rope: tuple[float, float] | None
    loss: str
    level: float
    test: str
    adjusted: bool

    @property
    def caption(self) -> str:
        """How to read the figure; intervals, p-values and hollow points are explained only if they are there."""
        missing = np.isnan(self.low)
        single = " Intervals hold for one pair each." if len(self.values) > 1 and not missing.all() else ""
        adjusted = " P-values are adjusted for the number of pairs." if self.adjusted else ""
        hollow = " A hollow point has no interval." if missing.any() else ""
        return f"{CAPTION}{single}{adjusted}{hollow}"

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the pairs need."""
        return 7.0, 1.6 + 0.34 * len(self.values)


def info(result: Comparison | Comparisons) -> ForestInfo:
    """Return the numbers of one pair or of all."""
    pairs = [result] if isinstance(result, Comparison) else list(result.pairs)
    ends = np.array([(np.nan, np.nan) if p.interval is None else tuple(p.interval) for p in pairs])
    chances = [p.p_adjusted if p.p_adjusted is not None else p.p for p in pairs]
    first = pairs[0]
    return ForestInfo(
        a=tuple(p.a for p in pairs),
        b=tuple(p.b for p in pairs),
        values=np.array([p.difference for p in pairs]),
        low=ends[:, 0],
        high=ends[:, 1],
        p=np.array([np.nan if c is None else c for c in chances]),
        shown=tuple(p.decided is not None for p in pairs),
        rope=None if first.rope is None else (first.rope.low, first.rope.high),
        loss=first.estimate.loss,
        level=first.level,
        test=first.test,
        adjusted=any(p.p_adjusted is not None and p.p_adjusted != p.p for p in pairs),
    )


def draw(numbers: ForestInfo, ax: Any) -> None:
    """Draw one row per pair; left of zero the model named first is better."""
    from matplotlib.transforms import blended_transform_factory

    tidy(ax, "x")
    if numbers.rope is not None:
        ax.axvspan(*numbers.rope, color=GREY, alpha=0.18, linewidth=0)
    ax.axvline(0.0, color=GREY, linewidth=1.2, linestyle="--")
    side = blended_transform_factory(ax.transAxes, ax.transData)
    for k, (value, low, high) in enumerate(zip(numbers.values, numbers.low, numbers.high)):
        colour, marker = (OTHER, "D") if numbers.shown[k] else (MAIN, "o")
        if np.isfinite(low):
            ax.plot([low, high], [k, k], color=colour, linewidth=2.2, solid_capstyle="butt")
        face = colour if np.isfinite(low) else "none"
        ax.plot([value], [k], marker=marker, color=colour, markerfacecolor=face, markersize=6.5, zorder=3)
        if np.isfinite(numbers.p[k]):
            ax.text(1.02, k, p_words(float(numbers.p[k])), transform=side, va="center_baseline", ha="left")
    ax.set_yticks(range(len(numbers.values)), [f"{label(a)} − {label(b)}" for a, b in zip(numbers.a, numbers.b)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(numbers.values) - 0.4, -0.6)
    _include_zero(numbers, ax)
    span = f", {100 * numbers.level:g}% intervals" if np.isfinite(numbers.low).any() else ""
    unit = points(ax.xaxis, is_rate(numbers.loss))
    ax.set_xlabel(f"difference in {axis_name(numbers.loss)}{unit}{span}")
    _legend(numbers, ax)


def _include_zero(numbers: ForestInfo, ax: Any) -> None:
    ends = [numbers.values, numbers.low, numbers.high, np.zeros(1), np.array(numbers.rope or (0.0, 0.0))]
    every = np.concatenate([part[np.isfinite(part)] for part in ends])
    low, high = float(every.min()), float(every.max())
    margin = 0.06 * (high - low) or 0.01
    ax.set_xlim(low - margin, high + margin)


def _legend(numbers: ForestInfo, ax: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    line = np.isfinite(numbers.low).any()
    handles: list[Any] = []
    if not all(numbers.shown):
        handles.append(Line2D([], [], color=MAIN, marker="o", linewidth=2.2 * line, label="no difference shown"))
    if any(numbers.shown):
        handles.append(Line2D([], [], color=OTHER, marker="D", linewidth=2.2 * line, label="difference shown"))
    if numbers.rope is not None:
        handles.append(Patch(color=GREY, alpha=0.18, linewidth=0, label="practically equivalent"))
    legend_below(ax, handles)


CAPTION = "Left of the dashed line the model named first is better (a score s is compared as 1 − s)."
figure(
    Figure(
        name="differences",
        record=Comparisons,
        info=info,
        draw=draw,
        title="Differences between the models",
        caption=CAPTION,
        order=10,
    )
)
figure(
    Figure(
        name="difference",
        record=Comparison,
        info=info,
        draw=draw,
        title="Difference between the two models",
        caption=CAPTION,
        order=10,
    )
)
