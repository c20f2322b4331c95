"""The summary of a study as a table and figures of a page; numbers come from `unseen.study` or from the database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unseen.show import figures_for, svg
from unseen.show.sections import Table
from unseen.study.summary_table import summary_table
from unseen.web._pictures import clean_svg
from unseen.web._words import count

__all__ = [
    "QUICK",
    "LiveSummary",
    "PageFigure",
    "draw_figures",
    "glance",
    "live_summary",
    "moments_table",
    "rows_with_losses",
]

QUICK = 200_000  # results; a full summary of more takes seconds, so a running study shows the moments of the database
MOST_GROUPS = 4  # populations and models with figures; those of more would not be there within two seconds


@dataclass(frozen=True)
class PageFigure:
    """One figure of a page."""

    title: str
    svg: Markup
    alt: str
    caption: str


@dataclass(frozen=True)
class LiveSummary:
    """The part of a study's page that follows its results; `stamp` says which state it shows, `lead` the answer."""

    stamp: str
    table: Table | None
    figures: tuple[PageFigure, ...]
    sentences: tuple[str, ...]
    lead: str = ""


def summable(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the cells of a study are estimates or comparisons, which `unseen.study` can sum up.

    Examples
    --------
    >>> cell = {"population": "p", "model": "m", "n": 20, "method": "loo"}
    >>> summable([cell]), summable([{**cell, "kind": "chunk"}]), summable([{"n": 20}])
    (True, False, False)
    """
    kinds = ("estimate", "comparison")
    names = ("population", "model", "n", "method")
    return all(c.get("kind", "estimate") in kinds and all(name in c for name in names) for c in cells)


def moments_table(moments: Any, cells: Sequence[dict[str, Any]], caption: str = "") -> tuple[Table | None, list[str]]:
    """Return bias, deviation variance and RMS per cell from the moments that the database computed."""
    rows = []
    for k, index in enumerate(moments["cell"].tolist()):
        n, variance = int(moments["n_pairs"][k]), float(moments["deviation_variance"][k])
        square = float(moments["deviation2"][k])
        rms = math.sqrt(square) if square >= 0 else None
        fourth = float(moments["deviation4"][k]) - square**2
        rows.append(
            {
                **{name: cells[index].get(name) for name in ("population", "model", "n", "method")},
                "replications": int(moments["n"][k]),
                "bias": float(moments["deviation"][k]),
                "bias_error": math.sqrt(variance / n) if n > 1 else None,
                "rms": rms,
                "rms_error": math.sqrt(max(fourth, 0.0) / n) / (2 * rms) if rms and n > 1 else None,
                "truth": float(moments["truth"][k]),
                "seconds": float(moments["seconds"][k]) / max(int(moments["n"][k]), 1),
            }
        )
    losses = [str(cells[index].get("loss", "zero-one")) for index in moments["cell"].tolist()]
    return summary_table(rows, caption, losses)


def draw_figures(summary: Any, narrow: bool = False) -> tuple[tuple[PageFigure, ...], list[str]]:
    """Return the figures of a summary, one set for each population and model; the first few if there are many."""
    groups = summary.groups()
    parts = [summary] if len(groups) <= 1 else [summary.only(*group) for group in groups[:MOST_GROUPS]]
    found = [(one.order, k, one, part) for k, part in enumerate(parts) for one in figures_for(part)]
    # the same figure of several models side by side
    found.sort(key=lambda f: (f[0], f[2].name, f[1]))
    made = [_draw(one, part, len(parts) > 1, narrow) for _, _, one, part in found if one.info(part) is not None]
    hidden = len(groups) - len(parts) if len(groups) > 1 else 0
    words = [f"Figures of {hidden} more populations and models are left out here."] if hidden > 0 else []
    return tuple(made), words


def _draw(one: Any, part: Any, named: bool, narrow: bool) -> PageFigure:
    numbers = one.info(part)
    of = ", ".join(part.groups()[0]) if named else ""
    summary = getattr(numbers, "summary", "")
    title = f"{one.title}: {of}" if of else one.title
    return PageFigure(
        title, Markup(clean_svg(svg(one, numbers, narrow=narrow))), f"{title}. {summary}".strip(), one.caption
    )


def summary_rows(store: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a study's summary; none if it cannot be summed up."""
    if not summable(store.cells(name)):
        return []
    from unseen.study import summary_of

    return summary_of(store, name).rows()


def rows_with_losses(store: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a study's summary with what their errors are means of; none if it cannot be summed up."""
    if not summable(store.cells(name)):
        return []
    from unseen.study import summary_of

    made = summary_of(store, name)
    return [{**row, "loss": one.cell.loss} for row, one in zip(made.rows(), made.cells)]


def live_summary(store: Any, name: str, progress: Any, figures: bool, narrow: bool = False) -> LiveSummary:
    """Return what a study has found so far.

    Parameters
    ----------
    store, name, progress
        The study.
    figures : bool
        Whether to draw.
    narrow : bool
        Whether for a phone: each figure is drawn once, as wide as the browser that asks.
    """
    stamp = f"{progress.done + progress.failed}{progress.state}"
    caption = "Estimate against the true error over replications; Monte-Carlo errors in brackets."
    cells = store.cells(name)
    many = progress.done > QUICK and progress.state == "running"
    if many or not summable(cells):
        table, words = moments_table(store.moments(name), cells, caption if many else "")
        later = f"{count(progress.done)} results are in; figures and all columns follow when the study rests."
        parts = "The tasks of this study are parts of a larger experiment; what it found is kept among the results."
        return LiveSummary(stamp, table, (), (later if many else parts, *words))
    from unseen.study import summary_of

    summary = summary_of(store, name)
    table, words = summary_table(summary.rows(), caption, [one.cell.loss for one in summary.cells])
    pictures, more = draw_figures(summary, narrow) if figures and summary.cells else ((), [])
    return LiveSummary(stamp, table, pictures, (*words, *more), summary.sentence)


def glance(store: Any, name: str, progress: Any, narrow: bool = False) -> tuple[str, PageFigure | None]:
    """Return what a study has found in one sentence and one picture, for a list of studies.

    Parameters
    ----------
    store, name, progress
        The study.
    narrow : bool
        Whether the picture is for a phone.
    """
    if progress.done > QUICK or not summable(store.cells(name)):
        return "", None
    from unseen.study import summary_of

    summary = summary_of(store, name)
    groups = summary.groups()
    part = summary.only(*groups[0]) if groups else summary
    found = {one.name: one for one in figures_for(part) if one.info(part) is not None}
    # how the error shrinks with the size, if the study has several sizes; all its figures are on its own page
    several = len({one.cell.n for one in part.cells}) > 1
    one = found.get("study-rms") if several else next(iter(found.values()), None)
    return summary.sentence, None if one is None else _draw(one, part, len(groups) > 1, narrow)
