"""The summary of a study as a table and figures of a page; numbers come from `unseen.study` or from the database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unseen.show import figures_for, svg
from unseen.show.sections import Table, TableCell
from unseen.web._pictures import clean_svg
from unseen.web._words import count

__all__ = [
    "ORDER",
    "QUICK",
    "WORDS",
    "LiveSummary",
    "PageFigure",
    "draw_figures",
    "live_summary",
    "moments_table",
    "summary_table",
    "with_error",
]

QUICK = 200_000  # results; a full summary of more takes seconds, so a running study shows the moments of the database
MOST_GROUPS = 6  # populations and models with figures; more would make the page slow
SAME = ("population", "model", "target")
ORDER = ("population", "model", "n", "method", "replications", "failed", "bias", "rms", "coverage", "width", "correlation", "size",
         "power", "truth", "variance", "internal", "total", "target_bias", "seconds", "target")  # fmt: skip
WORDS = {
    "replications": "done",
    "truth": "true error",
    "variance": "deviation variance",
    "rms": "RMS",
    "total": "variance",
    "internal": "internal variance",
    "target_bias": "bias to target",
    "n": "n",
}


@dataclass(frozen=True)
class PageFigure:
    """One figure of a page."""

    title: str
    svg: Markup
    alt: str
    caption: str


@dataclass(frozen=True)
class LiveSummary:
    """The part of a study's page that follows its results; `stamp` says which state it shows."""

    stamp: str
    table: Table | None
    figures: tuple[PageFigure, ...]
    sentences: tuple[str, ...]


def with_error(value: float | None, error: float | None) -> Any:
    """Return a number with its Monte-Carlo error in brackets, both to the second digit of the error.

    Examples
    --------
    >>> with_error(0.012345, 0.00041).text, with_error(0.5, None), with_error(12.0, 0.0).text
    ('0.01235 (0.00041)', 0.5, '12 (0)')
    """
    if value is None or error is None or not math.isfinite(value) or not math.isfinite(error):
        return value
    if error <= 1e-7 * abs(value):  # rounding, or nothing varied
        return TableCell(f"{value:.4g} (0)", value)
    places = min(max(1 - math.floor(math.log10(error)), 0), 9)
    return TableCell(f"{value:.{places}f} ({error:.{places}f})", value)


def summary_table(rows: Sequence[dict[str, Any]], caption: str = "") -> tuple[Table | None, list[str]]:
    """Return the rows of a summary with errors beside their numbers, and sentences for what is the same throughout.

    Examples
    --------
    >>> rows = [{"model": "lda", "n": n, "bias": 0.01, "bias_error": 0.002} for n in (20, 40)]
    >>> table, words = summary_table(rows)
    >>> table.columns, table.rows[0][1].text, words
    (['n', 'bias'], '0.0100 (0.0020)', ['In every cell: model lda.'])
    """
    if not rows:
        return None, []
    names = list(dict.fromkeys(k for row in rows for k in row))
    names = [n for n in names if not (n.endswith("_error") and n[:-6] in names)]
    names.sort(key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    same = {n: rows[0].get(n) for n in names if n in SAME and len({row.get(n) for row in rows}) == 1}
    if len(rows) == 1:
        same = {}
    names = [n for n in names if n not in same and not (n == "failed" and not any(row.get(n) for row in rows))]
    names = [n for n in names if any(row.get(n) is not None and row[n] == row[n] for row in rows)]
    body = [
        [with_error(row.get(n), row.get(f"{n}_error")) if f"{n}_error" in row else row.get(n) for n in names]
        for row in rows
    ]
    words = [f"In every cell: {', '.join(f'{k} {v}' for k, v in same.items())}."] if same else []
    return Table([WORDS.get(n, n.replace("_", " ")) for n in names], body, caption), words


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
    return summary_table(rows, caption)


def draw_figures(summary: Any) -> tuple[tuple[PageFigure, ...], list[str]]:
    """Return the figures of a summary, one set for each population and model; the first few if there are many."""
    groups = summary.groups()
    parts = [summary] if len(groups) <= 1 else [summary.only(*group) for group in groups[:MOST_GROUPS]]
    found = [(one.order, k, one, part) for k, part in enumerate(parts) for one in figures_for(part)]
    # the same figure of several models side by side
    found.sort(key=lambda f: (f[0], f[2].name, f[1]))
    made = [_draw(one, part, len(parts) > 1) for _, _, one, part in found if one.info(part) is not None]
    hidden = len(groups) - len(parts) if len(groups) > 1 else 0
    words = [f"Figures of {hidden} more populations and models are left out here."] if hidden > 0 else []
    return tuple(made), words


def _draw(one: Any, part: Any, named: bool) -> PageFigure:
    numbers = one.info(part)
    of = ", ".join(part.groups()[0]) if named else ""
    summary = getattr(numbers, "summary", "")
    title = f"{one.title}: {of}" if of else one.title
    return PageFigure(title, Markup(clean_svg(svg(one, numbers))), f"{title}. {summary}".strip(), one.caption)


def summary_rows(store: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a study's summary; none if it cannot be summed up."""
    if not summable(store.cells(name)):
        return []
    from unseen.study import summary_of

    return summary_of(store, name).rows()


def live_summary(store: Any, name: str, progress: Any, figures: bool) -> LiveSummary:
    """Return what a study has found so far.

    Parameters
    ----------
    store, name, progress
        The study.
    figures : bool
        Whether to draw.
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
    table, words = summary_table(summary.rows(), caption)
    pictures, more = draw_figures(summary) if figures and summary.cells else ((), [])
    return LiveSummary(stamp, table, pictures, (*words, *more))
