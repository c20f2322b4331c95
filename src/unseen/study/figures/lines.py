"""RMS, coverage and rejections of a study against the sample size, with Monte-Carlo errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_beside, percent, tidy
from unseen.show.text import percent_or_number
from unseen.study.statistics import Measured
from unseen.study.summary import CellSummary, StudySummary

__all__ = ["StudyLines"]

MARKERS = "osD^vP"


@dataclass(frozen=True, kw_only=True)
class StudyLines:
    """Values and Monte-Carlo errors, both (methods, sizes), NaN if there is none; and a level to mark."""

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    value: Floats
    error: Floats
    ylabel: str
    mark: float | None
    loss: str
    share: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """Inches: one more line of the legend needs a little more height."""
        return 7.0, float(np.clip(1.2 + 0.24 * len(self.methods), 3.6, 8.0))

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        last = [
            f"{m} {percent_or_number(v, self.loss)}" for m, v in zip(self.methods, self.value[:, -1]) if np.isfinite(v)
        ]
        return f"{self.ylabel} at n = {self.sizes[-1]}: {', '.join(last[:12])}"


def _lines(
    s: StudySummary,
    pick: Callable[[CellSummary], Measured | None],
    ylabel: str,
    mark: float | None,
    loss: str,
    share: bool = False,
) -> StudyLines | None:
    """Collect a figure of the first population and model that has it."""
    groups = dict.fromkeys((c.cell.population, c.cell.model) for c in s.cells if pick(c) is not None)
    if not groups:
        return None
    first = next(iter(groups))
    cells = [c for c in s.cells if (c.cell.population, c.cell.model) == first and pick(c) is not None]
    methods = tuple(dict.fromkeys(c.cell.method for c in cells))
    sizes = tuple(sorted({c.cell.n for c in cells}))
    value, error = np.full((2, len(methods), len(sizes)), np.nan)
    for c in cells:
        at, found = (methods.index(c.cell.method), sizes.index(c.cell.n)), pick(c)
        assert found is not None
        value[at], error[at] = found.value, found.error
    return StudyLines(
        methods=methods, sizes=sizes, value=value, error=error, ylabel=ylabel, mark=mark, loss=loss, share=share
    )


def _loss(s: StudySummary) -> str:
    return s.deviations[0].loss if s.deviations else "squared"


def _rms(c: CellSummary) -> Measured | None:
    return Measured(c.deviation.rms, c.deviation.rms_error) if c.cell.kind == "estimate" else None


def rms(s: StudySummary) -> StudyLines | None:
    """Return the RMS deviation of every estimator."""
    return _lines(s, _rms, "RMS deviation from the true error", None, _loss(s))


def coverage(s: StudySummary) -> StudyLines | None:
    """Return how often every method's interval held its target."""
    return _lines(s, lambda c: c.coverage, "share of intervals that hold their target", s.level, "zero-one", True)


def rejects(s: StudySummary) -> StudyLines | None:
    """Return how often every test rejected equality."""
    return _lines(s, lambda c: c.rejects, "share of rejections", 1 - s.level, "zero-one", True)


def draw(numbers: StudyLines, ax: Any) -> None:
    """Draw one line with error bars per method, moved sideways a little so that bars do not hide each other."""
    tidy(ax, "y")
    count = len(numbers.methods)
    place = np.arange(len(numbers.sizes), dtype=float)
    for k, name in enumerate(numbers.methods):
        reach = np.stack([2 * numbers.error[k]] * 2)
        if numbers.share:
            reach = np.minimum(reach, [numbers.value[k], 1 - numbers.value[k]])
        ax.errorbar(
            place + 0.5 * ((k + 0.5) / count - 0.5),
            numbers.value[k],
            reach,
            color=PALETTE[k % len(PALETTE)],
            marker=MARKERS[(k // len(PALETTE)) % len(MARKERS)],
            markersize=4,
            linestyle="-" if k < len(PALETTE) else "--",
            linewidth=1,
            elinewidth=1,
            label=label(name),
        )
    if numbers.mark is not None:
        ax.axhline(numbers.mark, color="#000000", linewidth=1, linestyle=":")
    ax.set_xticks(place, [f"n = {n}" for n in numbers.sizes])
    ax.set_xlim(-0.5, len(numbers.sizes) - 0.5)
    ax.set_ylabel(numbers.ylabel)
    percent(ax.yaxis, numbers.loss)
    legend_beside(ax)


for _name, _info, _title, _caption, _order in (
    ("study-rms", rms, "RMS against the sample size", "Smaller is better.", 20),
    ("study-coverage", coverage, "Coverage of intervals", "The dotted line is the level they promise.", 30),
    (
        "study-rejections",
        rejects,
        "Rejections of equality",
        "Size if the models are equal, else power; the dotted line is what a test may reject by chance.",
        40,
    ),
):
    figure(
        Figure(
            name=_name,
            record=StudySummary,
            info=_info,
            draw=draw,
            title=_title,
            caption=f"{_caption} Bars reach two Monte-Carlo errors.",
            order=_order,
        )
    )
