"""How the error varies from one leave-out split to the next, with its fractiles (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.wording import value_in_units
from unseen.core.arrays import Floats, Ints
from unseen.core.distribution import ErrorDistribution
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.registry import classes_in
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, PHONE_INCHES, axis_name, is_rate, percent, quantity, tidy
from unseen.show.text import percent_or_number

__all__ = ["DistributionInfo", "LeaveOutInfo", "distribution_info", "draw"]

# so many different values are seen one by one as bars; more are a histogram
FEW = 30
THINNEST = 60  # bars thinner than this share of the axis are hard to see
# what is left free at both sides for the names of the fractiles, as a share of the bars' width
ROOM, NARROW_ROOM = 0.22, 0.42
# the middle, the middle half and the middle nine tenths
FRACTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, kw_only=True)
class DistributionInfo:
    """Histogram of split errors (`left`, `width`, `count` of each bar) with mean and the fractiles .05 to .95."""

    left: Floats
    width: Floats
    count: Ints
    mean: float
    fractiles: Floats
    n_splits: int
    loss: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        low, _, middle, _, high = (percent_or_number(float(q), self.loss) for q in self.fractiles)
        return f"median {middle}, 90% of {self.n_splits} splits from {low} to {high}"


@dataclass(frozen=True, kw_only=True)
class LeaveOutInfo(DistributionInfo):
    """The histogram of the leave-out splits of an assessment."""

    @property
    def caption(self) -> str:
        """How to read it."""
        word = quantity(self.loss)
        values = "Errors" if word == "error" else f"Values of {word}"
        return (
            f"{values} of models trained on three quarters of the units and tested on the rest. The thick line holds the middle half "
            "of the splits, the thin one 90%. It shows how much luck is in a single split; it is not a confidence interval."
        )


def info(a: Assessment) -> LeaveOutInfo | None:
    """Return the histogram, or None if no leave-out splits were run."""
    spread = a.distribution
    if spread is None or not len(spread.values):
        return None
    made = distribution_info(spread)
    return LeaveOutInfo(**{field.name: getattr(made, field.name) for field in fields(made)})


def table_info(table: LossTable) -> DistributionInfo | None:
    """Return the histogram of the splits' mean test losses."""
    if not len(table.completed):
        return None
    return distribution_info(ErrorDistribution(table.split_means(), table.loss))


def distribution_info(spread: ErrorDistribution) -> DistributionInfo:
    """Return the histogram of any error distribution: one bar per value if there are few and none is thin, else equal bins."""
    loss, values = value_in_units(spread.loss, np.asarray(spread.values, dtype=float))
    distinct = np.unique(values.round(12))
    step = float(np.diff(distinct).min()) if len(distinct) > 1 else max(abs(distinct[0]), 1.0) / 20
    if len(distinct) <= FEW and np.ptp(distinct) <= THINNEST * step:
        count = np.bincount(np.searchsorted(distinct, values.round(12)), minlength=len(distinct))
        left, width = distinct - 0.45 * step, np.full(len(distinct), 0.9 * step)
    else:
        bins = int(np.clip(2 * len(values) ** (1 / 3), 8, 30))
        count, edges = np.histogram(values, bins=bins)
        left, width = edges[:-1], np.diff(edges)
    return DistributionInfo(
        left=left,
        width=width,
        count=count.astype(np.int64),
        mean=value_in_units(spread.loss, float(spread.avr))[1],
        fractiles=np.sort([value_in_units(spread.loss, float(spread.fractile(q)))[1] for q in FRACTILES]),
        n_splits=len(values),
        loss=loss,
    )


def draw(numbers: DistributionInfo, ax: Any) -> None:
    """Draw the histogram and, above it, the middle half and the middle 90% of the splits."""
    tidy(ax, "y")
    top = float(numbers.count.max())
    ax.bar(numbers.left, numbers.count, numbers.width, align="edge", color=MAIN, alpha=0.55, linewidth=0)
    q05, q25, q50, q75, q95 = numbers.fractiles
    at = 1.14 * top
    ax.plot([q05, q95], [at, at], color=MAIN, linewidth=1.6, solid_capstyle="butt")
    ax.plot([q25, q75], [at, at], color=MAIN, linewidth=6, solid_capstyle="butt")
    ax.plot([q50], [at], marker="o", color=OTHER, markersize=8, zorder=3)
    for x, side, shift, text in ((q05, "right", -6, "5%"), (q95, "left", 6, "95%")):
        ax.annotate(
            f"{text}: {percent_or_number(x, numbers.loss)}",
            (x, at),
            (shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
        )
    middle = f"median {percent_or_number(q50, numbers.loss)}, mean {percent_or_number(numbers.mean, numbers.loss)}"
    ax.annotate(middle, (q50, at), (0, 8), textcoords="offset points", ha="center", va="bottom")
    low, high = numbers.left[0], numbers.left[-1] + numbers.width[-1]
    room = (NARROW_ROOM if ax.figure.get_figwidth() <= PHONE_INCHES else ROOM) * max(high - low, 1e-12)
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(0, 1.34 * top)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(f"{axis_name(numbers.loss)}, one split" if not is_rate(numbers.loss) else axis_name(numbers.loss))
    ax.set_ylabel(f"splits (of {numbers.n_splits})")
    percent(ax.xaxis, numbers.loss)
    ends = getattr(classes_in("measures").get(numbers.loss), "range", (-np.inf, np.inf))
    ends = max(ends[0] - 1e-9, low - room), min(ends[1] + 1e-9, high + room)
    ax.set_xticks([x for x in ax.get_xticks() if ends[0] <= x <= ends[1]])


figure(
    Figure(
        name="distribution",
        record=Assessment,
        info=info,
        draw=draw,
        title="Error from split to split",
        size=(7.0, 3.4),
        order=20,
    )
)
SPLITS = Figure(
    name="distribution",
    record=LossTable,
    info=table_info,
    draw=draw,
    title="Error from split to split",
    caption="Mean error of each split's model on its test rows. The thick line holds the middle half of the splits, the thin one 90%; "
    "it is not a confidence interval.",
    size=(7.0, 3.4),
    order=20,
)
figure(SPLITS)
figure(replace(SPLITS, record=PredictionTable, info=lambda table: table_info(table.losses())))
