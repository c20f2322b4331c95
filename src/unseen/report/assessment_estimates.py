"""The table of all estimates in an assessment's report."""

from __future__ import annotations

from typing import Any

from unseen.report._sections import Cell, Section, Table, section
from unseen.verbs.assessment import Assessment, percent_or_number

__all__ = ["distinct"]


@section(Assessment, 20)
def estimates(a: Assessment) -> Section:
    """Return the table of all estimates."""
    rows = [
        [
            Cell(row["method"] + (" (headline)" if row["method"] == a.headline.method else ""), row["method"]),
            Cell(percent_or_number(row["estimate"], row["term"]), row["estimate"]), _interval(row), row["fits"],
            Cell(f"{row['seconds']:.2g}", row["seconds"]), row["agrees"], _rms(row), *_target(row["target"]),
            row["note"] or None,
        ]
        for row in distinct(a.rows())
    ]  # fmt: skip
    level = f"{100 * float(a.settings['level']):g}% interval"
    columns = [
        "method",
        a.scale,
        level,
        "fits",
        "seconds",
        "agrees",
        "RMS",
        f"{a.scale} of",
        "trained on",
        "notes",
    ]
    caption = "'agrees': the estimate lies inside the headline's interval. Seconds are those of the fits."
    if a.expected_rms:
        caption += " RMS: deviation of the method from the true error on data sets with such a model and sample, where it was studied."
    else:
        rows, columns = [[*row[:6], *row[7:]] for row in rows], [*columns[:6], *columns[7:]]
    return Section("estimates", "All estimates", [Table(columns, rows, caption)])


def _rms(row: dict[str, Any]) -> Cell | None:
    rms = row["expected_rms"]
    return None if rms is None else Cell(percent_or_number(rms, row["term"]), rms)


def distinct(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each method once: a rule that chose a method shown already adds no row."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(row["method"], row)
    return list(found.values())


def _target(words: str) -> tuple[str, Any]:
    """Return what a row is the error of, and the training size by itself."""
    kind, _, size = words.removesuffix(" units").partition(" trained on ")
    return kind, float(size) if size else None


def _interval(row: dict[str, Any]) -> Any:
    if row["lower"] is None:
        return None
    text = " to ".join(percent_or_number(row[end], row["term"]) for end in ("lower", "upper"))
    return Cell(text, row["lower"])
