"""All estimates of an assessment on one axis, grouped by what they are the error of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.wording import in_units
from unseen.core.arrays import Floats
from unseen.core.estimate import Estimate
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, PHONE_INCHES, axis_name, label, legend_below, percent, quantity, tidy
from unseen.show.text import percent_or_number

__all__ = ["EstimatesInfo"]

PAGE = 9.3  # inches that fill the width of a report
HEADINGS = {
    "algorithm": "Error of the algorithm, at its training size",
    "model": "Error of this model",
}


@dataclass(frozen=True, kw_only=True)
class EstimatesInfo:
    """Rows of the interval plot from top to bottom; `low` and `high` are NaN if no valid interval exists.

    `place` is the height of each row, `role` one of headline, baseline, other; `sizes` are training sizes
    (NaN for this model); `span` is the headline's interval and `limits` the part of the axis shown.
    """

    labels: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    role: tuple[str, ...]
    kind: tuple[str, ...]
    sizes: Floats
    place: Floats
    headings: tuple[tuple[float, str], ...]
    span: tuple[float, float] | None
    limits: tuple[float, float]
    loss: str
    level: float

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return PAGE, 1.35 + 0.235 * float(self.place.max() - min(h for h, _ in self.headings) + 1)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        head, guess = (self.role.index(role) for role in ("headline", "baseline"))
        rest = [v for v, role in zip(self.values, self.role) if role == "other"]
        text = f"{self.labels[head]} {self.row_words(head)}, guessing {self.row_words(guess)}"
        if rest:
            ends = (percent_or_number(float(v), self.loss) for v in (min(rest), max(rest)))
            text += f"; {len(rest)} more estimates from {' to '.join(ends)}"
        return text

    def row_words(self, k: int) -> str:
        """Return a row's value and interval as text."""
        value, low, high = (percent_or_number(float(v[k]), self.loss) for v in (self.values, self.low, self.high))
        return value if np.isnan(self.low[k]) else f"{value} ({low} to {high})"


def info(a: Assessment) -> EstimatesInfo:
    """Return the rows, the headline first, the baseline beside it."""
    rest = [e for e in a.ordered()[1:] if np.isfinite(e.value)]
    rest.sort(key=lambda e: (e.interval is None, -(e.target.n_train or 0.0), e.method))
    rows: list[tuple[str, str, Estimate]] = [("headline", a.headline.method, a.headline)]
    rows.append(("baseline", "guessing", a.baseline))
    rows += [("other", e.method, e) for e in rest]
    first = a.headline.target.kind
    rows.sort(key=lambda row: row[2].target.kind != first)  # stable: each group keeps its order
    place, headings = _places([e.target.kind for _, _, e in rows])
    scaled = [_value_and_ends(e) for _, _, e in rows]
    values, ends = np.array([value for value, _ in scaled]), np.array([span for _, span in scaled])
    head = [role for role, _, _ in rows].index("headline")
    return EstimatesInfo(
        labels=tuple(name for _, name, _ in rows),
        values=values,
        low=ends[:, 0],
        high=ends[:, 1],
        role=tuple(role for role, _, _ in rows),
        kind=tuple(e.target.kind for _, _, e in rows),
        sizes=np.array([e.target.n_train or np.nan for _, _, e in rows]),
        place=place,
        headings=headings,
        span=None if a.interval is None else (float(ends[head, 0]), float(ends[head, 1])),
        limits=_limits(values, ends, [role for role, _, _ in rows]),
        loss=in_units(a.headline).loss,
        level=float(a.settings["level"]),
    )


def _value_and_ends(e: Estimate) -> tuple[float, tuple[float, float]]:
    """Return value and interval in the units people think in."""
    shown = in_units(e)
    low, high = (np.nan, np.nan) if shown.interval is None else shown.interval
    return shown.value, (float(low), float(high))


def _places(kinds: list[str]) -> tuple[Floats, tuple[tuple[float, str], ...]]:
    """Return the height of each row and of each group's heading, counted downwards."""
    at, place, headings = 0.0, [], []
    for k, kind in enumerate(kinds):
        if k == 0 or kinds[k - 1] != kind:
            at += 0.6 if k else 0.0
            headings.append((at, HEADINGS[kind]))
            at += 1.0
        place.append(at)
        at += 1.0
    return np.array(place), tuple(headings)


def _limits(values: Floats, ends: Floats, role: list[str]) -> tuple[float, float]:
    """Return an axis that shows the values and the headline's interval, but not the far end of a loose bound.

    A baseline so far away that it would press all others into a third of the axis is left outside.
    """
    model = np.array([r != "baseline" for r in role])
    headline = ends[role.index("headline")]
    shown = np.concatenate([values[model], headline[np.isfinite(headline)]])
    low, high = float(shown.min()), float(shown.max())
    guess = float(values[~model][0])
    near = high - low > 0.35 * (max(high, guess) - min(low, guess))
    if near:
        low, high = min(low, guess), max(high, guess)
    width = max(high - low, 1e-9 + 0.05 * abs(high))
    finite = ends[np.isfinite(ends) & (near | model)[:, None]]
    low = max(low - 0.6 * width, float(np.min(finite, initial=low)))
    high = min(high + 0.6 * width, float(np.max(finite, initial=high)))
    margin = 0.03 * max(high - low, width)
    return low - margin, high + margin


def draw(numbers: EstimatesInfo, ax: Any) -> None:
    """Draw one row per estimate; a point without a line has no valid interval."""
    from matplotlib.transforms import blended_transform_factory

    tidy(ax, "x")
    if numbers.span is not None:
        ax.axvspan(*numbers.span, color=MAIN, alpha=0.12, linewidth=0)
    for k, at in enumerate(numbers.place):
        _row(numbers, k, float(at), ax)
    side = blended_transform_factory(ax.transAxes, ax.transData)
    narrow = ax.figure.get_figwidth() <= PHONE_INCHES
    for at, text in numbers.headings:
        words = _heading(text.partition(",")[0] if narrow else text, numbers.loss)
        ax.text(0.0, at, words, transform=side, ha="left", va="center_baseline", style="italic")
    beside = 1.06 if narrow else 1.03  # clear of an arrow at the end of the axis
    sized = np.isfinite(numbers.sizes)
    for at, size in zip(numbers.place[sized], numbers.sizes[sized]):
        ax.text(beside, at, f"{size:.0f}", transform=side, ha="left", va="center_baseline")
    if sized.any():
        top = numbers.headings[0][0]
        ax.text(beside, top, "trained on", transform=side, ha="left", va="center_baseline", style="italic")
    ax.set_yticks(numbers.place, [label(text) for text in numbers.labels])
    for text, role in zip(ax.get_yticklabels(), numbers.role):
        text.set_fontweight("bold" if role == "headline" else "normal")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(*numbers.limits)
    ax.set_ylim(numbers.place[-1] + 0.7, -0.6)
    ax.set_xlabel(axis_name(numbers.loss))
    percent(ax.xaxis, numbers.loss)
    _legend(numbers, ax)


def _heading(text: str, loss: str) -> str:
    """Return a group's heading, with the score's name instead of "Error" if a score is shown."""
    word = quantity(loss)
    return text if word == "error" else text.replace("Error", word[0].upper() + word[1:])


_STYLE = {
    "headline": (MAIN, "o", 8.0, 3.5),
    "baseline": (GREY, "s", 5.5, 1.6),
    "other": (OTHER, "D", 5.0, 1.6),
}


def _outside(numbers: EstimatesInfo, k: int, at: float, ax: Any) -> None:
    """Say where a row lies that the axis does not reach."""
    colour, right = _STYLE[numbers.role[k]][0], numbers.values[k] > numbers.limits[1]
    low, high = numbers.limits
    end = high if right else low + 0.012 * (high - low)  # clear of the row's name
    ax.plot([end], [at], marker=">" if right else "<", color=colour, markersize=6, clip_on=False)
    ax.annotate(
        numbers.row_words(k),
        (end, at),
        (-8 if right else 8, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center_baseline",
    )


def _row(numbers: EstimatesInfo, k: int, at: float, ax: Any) -> None:
    colour, marker, size, width = _STYLE[numbers.role[k]]
    low, high = numbers.low[k], numbers.high[k]
    if not numbers.limits[0] <= numbers.values[k] <= numbers.limits[1]:
        _outside(numbers, k, at, ax)
        return
    if np.isfinite(low):
        left, right = max(low, numbers.limits[0]), min(high, numbers.limits[1])
        ax.plot([left, right], [at, at], color=colour, linewidth=width, solid_capstyle="butt")
        for end, inside, arrow in ((low, left, "<"), (high, right, ">")):
            if end != inside:
                ax.plot([inside], [at], marker=arrow, color=colour, markersize=6, clip_on=False)
    face = "none" if np.isnan(low) else colour
    ax.plot([numbers.values[k]], [at], marker=marker, color=colour, markerfacecolor=face, markersize=size, zorder=3)


def _legend(numbers: EstimatesInfo, ax: Any) -> None:
    from matplotlib.lines import Line2D

    words = {
        "headline": f"headline, {100 * numbers.level:g}% interval (shaded)",
        "other": "other estimates",
        "baseline": "guessing",
    }
    handles = []
    for role, text in words.items():
        valid = [name == role and (name != "other" or low == low) for name, low in zip(numbers.role, numbers.low)]
        if any(valid):
            colour, marker, size, width = _STYLE[role]
            handles.append(Line2D([], [], color=colour, marker=marker, markersize=size, linewidth=width, label=text))
    if np.isnan(numbers.low).any():
        handles.append(
            Line2D([], [], color=OTHER, marker="D", markerfacecolor="none", linewidth=0, label="no valid interval")
        )
    legend_below(ax, handles)


figure(
    Figure(
        name="estimates",
        record=Assessment,
        info=info,
        draw=draw,
        title="All estimates on one axis",
        caption="Each row is one estimator; lines are intervals, hollow points have no valid interval. The band is the headline's "
        "interval. Estimates of the algorithm's error at another training size, or of this one model's error, answer "
        "slightly different questions and may lie outside it.",
        order=10,
    )
)
