"""Colours and settings that all figures share, chosen for colour blindness, grey paper and dark screens."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from unseen.core.registry import classes_in
from unseen.core.scale import MEASURE_NAMES, measure_name
from unseen.show.text import RATES

__all__ = [
    "DARK",
    "GREY",
    "MAIN",
    "OTHER",
    "PALETTE",
    "PHONE_INCHES",
    "SETTINGS",
    "axis_name",
    "fit_axis_names",
    "is_rate",
    "label",
    "legend_below",
    "legend_beside",
    "percent",
    "points",
    "quantity",
    "short_names",
    "tidy",
]

PALETTE = ("#2f6f9f", "#c8553d", "#5b8c5a", "#8a6fae", "#b88a2d", "#5f6b73")
DARK = ("#7db6dd", "#f0907a", "#8cc28a", "#b9a3dc", "#e0b860", "#a3adb4")
MAIN, OTHER, GREY = PALETTE[0], PALETTE[1], PALETTE[5]
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "font.family": "sans-serif",
    "axes.linewidth": 0.8,
    "axes.labelsize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
}
# what a phone of 360 px has left between the margins of a page, at 72 px an inch; letters of 10 points in a legend of it
PHONE_INCHES, PHONE_LETTERS = 4.5, 44
# control characters break XML; bidirectional overrides let a label rewrite its neighbours
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")


def label(text: Any, limit: int = 28) -> str:
    r"""Return a string of the user's as figure text: one line, not too long, never read as mathematics.

    Examples
    --------
    >>> label("cost in $ or $US")
    'cost in \\$ or \\$US'
    >>> label("a very long column name", 10)
    'a very lo…'
    """
    line = _UNPRINTABLE.sub(" ", str(text)).strip()
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return line.replace("$", r"\$")


def short_names(names: Sequence[str], limit: int = 28) -> list[str]:
    """Return names cut to fit; where that would make them alike, what they all share is left out first.

    Examples
    --------
    >>> short_names(["class number 7 of many", "class number 11 of many"], 10)
    ['…7…', '…11…']
    >>> short_names(["runs/monday/epoch-7.pt", "runs/monday/epoch-11.pt"], 14)
    ['epoch-7.pt', 'epoch-11.pt']
    """
    cut = [label(name, limit) for name in names]
    if len(set(cut)) == len(cut):
        return cut
    folder = min(names)[: _common_start(names)].rpartition("/")[0]
    inside = [label(name[len(folder) + 1 :], limit) for name in names] if folder else cut
    if len(set(inside)) == len(inside):
        return inside
    start = _common_start(names)
    end = min(_common_start([name[start:][::-1] for name in names]), min(map(len, names)) - start)
    parts = [name[start : len(name) - end] for name in names]
    return [label(("…" if start else "") + part + ("…" if end else ""), limit) for part in parts]


def _common_start(texts: Sequence[str]) -> int:
    """Return how many first characters all texts have in common."""
    first, last = min(texts), max(texts)
    return next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))


def is_rate(loss: str) -> bool:
    """Say whether a loss is a share of cases, shown in per cent."""
    return loss in RATES


def quantity(loss: str) -> str:
    """Return the word for what is measured: "error", or the name of a score of which more is better.

    Examples
    --------
    >>> quantity("zero-one"), quantity("auc"), quantity("r2 of something")
    ('error', 'AUC', 'error')
    >>> quantity("f1_macro")
    'f1_macro'
    """
    cls = classes_in("measures").get(loss)
    own = (
        cls is None and loss.isidentifier() and loss not in MEASURE_NAMES
    )  # a function of the user's, or a scorer of scikit-learn's
    return measure_name(loss) if own or getattr(cls, "direction", "lower") == "higher" else "error"


def axis_name(loss: str) -> str:
    """Return what an error axis is called."""
    return label(measure_name(loss), 40)


def percent(axis: Any, loss: str) -> None:
    """Show an error axis in per cent if the loss is a share."""
    if is_rate(loss):
        axis.set_major_formatter(_as_percent)


def points(axis: Any, share: bool) -> str:
    """Show an axis of differences in percentage points if they are of shares, and return the unit for the axis's name."""
    if share:
        axis.set_major_formatter(_as_points)
    return ", percentage points" if share else ""


def _as_points(value: float, place: int) -> str:
    return f"{round(100 * value, 6) + 0.0:g}"


def _as_percent(value: float, place: int) -> str:
    return f"{round(100 * value, 6):g}%"


def fit_axis_names(ax: Any) -> None:
    """Break titles and names of axes that are longer than a narrow picture; a long name ends where its axis ends."""
    for place in ("left", "center", "right"):
        if title := ax.get_title(place):
            ax.set_title(textwrap.fill(title, PHONE_LETTERS), loc=place, fontsize=10)
    name = ax.xaxis.label
    if len(name.get_text()) > PHONE_LETTERS // 2:
        ax.set_xlabel(textwrap.fill(name.get_text(), PHONE_LETTERS), loc="right")
    # a letter takes a twelfth of an inch
    ax.set_ylabel(textwrap.fill(ax.get_ylabel(), max(12, int(9 * ax.figure.get_figheight()))))


def legend_below(ax: Any, handles: Any = None, columns: int = 3) -> None:
    """Put the legend under the axis label, where it hides no data and moves with the axes.

    It has at most so many columns, fewer where they would be wider than the picture.
    """
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    # on a narrow picture the legend has the whole width, not that of the axes alone
    narrow = ax.figure.get_figwidth() <= PHONE_INCHES
    along = blended_transform_factory(ax.figure.transSubfigure, ax.transAxes) if narrow else ax.transAxes
    if narrow:
        fit_axis_names(ax)
    down = 34 + 13 * ax.get_xlabel().count("\n")  # points: numbers and name of the axis
    below = along + ScaledTranslation(0, -down / 72, ax.figure.dpi_scale_trans)
    options = {} if handles is None else {"handles": handles}
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below, "frameon": False}
    legend = ax.legend(ncols=columns, **place, **options)
    while columns > 1 and legend.get_window_extent().width > ax.figure.bbox.width:
        columns -= 1
        legend = ax.legend(ncols=columns, **place, **options)
    for text in legend.get_texts() if narrow else ():
        text.set_text(textwrap.fill(text.get_text(), PHONE_LETTERS))


def legend_beside(ax: Any) -> None:
    """Put a legend of many lines to the right of the axes; below them on a narrow picture."""
    if ax.figure.get_figwidth() <= PHONE_INCHES:
        legend_below(ax, columns=2)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)


def tidy(ax: Any, grid: str = "both") -> None:
    """Take away the frame's upper and right side and lay a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color="#000000", alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
