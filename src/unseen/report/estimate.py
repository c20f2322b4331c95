"""The report of a single estimate."""

from __future__ import annotations

from typing import Any

from unseen._version import __version__
from unseen.core.estimate import Estimate, ResubEstimate
from unseen.core.registry import describe, known
from unseen.display._style import measure_name
from unseen.report._sections import Block, Notes, Section, Table, Text, picture, section
from unseen.verbs.assessment import percent_or_number

__all__ = ["headline"]


@section(Estimate, 10)
def headline(e: Estimate) -> Section:
    """Return the estimate in plain words, its picture and its numbers."""
    value = percent_or_number(e.value, e.loss)
    lead = f"Estimated {measure_name(e.loss)}: {value}"
    if e.interval is None:
        lead += ". This method gives no valid interval here"
    else:
        low, high = (percent_or_number(v, e.loss) for v in e.interval)
        lead += f" ({100 * e.interval.level:g}% interval {low} to {high})"
    words = {m: describe(cls) for kind in ("estimators", "resubstitution") for m, cls in known(kind).items()}
    method = f"Method {e.method}: {words[e.method]}" if e.method in words else f"Method {e.method}."
    measure = known("measures").get(e.loss)
    higher = getattr(measure, "direction", "lower") == "higher"
    about = f"This speaks of {e.target}; higher is better." if higher else f"This is the error of {e.target}."
    blocks: list[Block] = [Text(f"{lead}. {about}", lead=True), Text(method)]
    made = picture(e, "interval")
    return Section("headline", "The answer", [*blocks, *([made] if made is not None else [])])


@section(Estimate, 70)
def numbers(e: Estimate) -> Section:
    """Return all figures of the estimate."""
    rows: list[list[Any]] = [
        ["estimate", e.value],
        ["standard error (sampling)", e.std_error],
        ["lower end", None if e.interval is None else e.interval.low],
        ["upper end", None if e.interval is None else e.interval.high],
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
