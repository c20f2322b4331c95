"""The report of a single estimate."""

from __future__ import annotations

from typing import Any

from unseen._version import __version__
from unseen.core.estimate import Estimate, ResubEstimate
from unseen.core.registry import describe, known
from unseen.core.set_losses import measured_row
from unseen.display._style import measure_name
from unseen.report._sections import Block, Notes, Section, Table, Text, picture, section
from unseen.verbs.assessment import percent_or_number

__all__ = ["headline"]


@section(Estimate, 10)
def headline(e: Estimate) -> Section:
    """Return the estimate in plain words, its picture and its numbers."""
    row = measured_row(e.row())
    lead = f"Estimated {measure_name(row['term'])}: {percent_or_number(row['estimate'], row['term'])}"
    if e.interval is None:
        lead += ". This method gives no valid interval here"
    else:
        low, high = (percent_or_number(row[end], row["term"]) for end in ("lower", "upper"))
        lead += f" ({100 * e.interval.level:g}% interval {low} to {high})"
    words = {m: describe(cls) for kind in ("estimators", "resubstitution") for m, cls in known(kind).items()}
    method = f"Method {e.method}: {words[e.method]}" if e.method in words else f"Method {e.method}."
    measure = known("measures").get(row["term"])
    higher = getattr(measure, "direction", "lower") == "higher"
    about = f"This speaks of {e.target}; higher is better." if higher else f"This is the error of {e.target}."
    blocks: list[Block] = [Text(f"{lead}. {about}", lead=True), Text(method)]
    made = picture(e, "interval")
    return Section("headline", "The answer", [*blocks, *([made] if made is not None else [])])


@section(Estimate, 70)
def numbers(e: Estimate) -> Section:
    """Return all figures of the estimate."""
    row = measured_row(e.row())
    rows: list[list[Any]] = [
        ["estimate", row["estimate"]],
        ["standard error (sampling)", e.std_error],
        ["lower end", row["lower"]],
        ["upper end", row["upper"]],
        ["confidence level", e.level],
        ["degrees of freedom", e.df],
        ["error of", str(e.target)],
        ["loss", e.loss],
        ["independent units", e.n_units],
        ["models fitted", e.n_fits],
        ["seconds of fitting", e.seconds],
        ["made with", f"unseen {__version__}"],
    ]
    if isinstance(e, ResubEstimate):
        rows.insert(2, ["Monte-Carlo error of the integration (not a sampling error)", e.mc_error])
    return Section("numbers", "Numbers", [Table(["what", "value"], rows, "All figures.", sortable=False)])


@section(Estimate, 80)
def notes(e: Estimate) -> Section | None:
    """Return the notes, where there are any."""
    return Section("notes", "Notes", [Notes(e.notes)]) if e.notes else None
