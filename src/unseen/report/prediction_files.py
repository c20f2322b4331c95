"""Sections for files of predictions: differences, errors, rows without a partner."""

from __future__ import annotations

from typing import Any

from unseen.report._sections import Notes, Section, Table, Text, picture, section, table_of
from unseen.verbs.prediction_record import PredictionFiles

__all__: list[str] = []

SHOWN = 200


@section(PredictionFiles, 10)
def differences(result: PredictionFiles) -> Section | None:
    """Return the paired differences and every test of them."""
    if not result.pairs:
        return None
    lead = "; ".join(f"{p.a} − {p.b}: {p.difference:+.4g}, {p.verdict}" for p in result.pairs[:6])
    scale = result.scale_sentence()
    blocks: list[Any] = [
        Text(lead, lead=True),
        Text(scale) if scale else None,
        picture(result, "file-differences"),
        table_of(result.rows()),
    ]
    return Section("differences", "Paired differences", [b for b in blocks if b is not None])


@section(PredictionFiles, 20)
def errors(result: PredictionFiles) -> Section:
    """Return the error of each file."""
    names = ("file", "measure", "estimate", "std_error", "lower", "upper", "level", "method", "n")
    rows = [{k: row[k] for k in names} for row in result.by_file()]
    blocks: list[Any] = [picture(result, "file-errors"), table_of(rows), Text(f"{result.n} rows, loss {result.loss}.")]
    made = [b for b in blocks if b is not None]
    return Section("errors", "Errors", [*made, *([Notes(result.notes)] if result.notes else [])])


@section(PredictionFiles, 30)
def unmatched(result: PredictionFiles) -> Section | None:
    """Return the rows that not every file has."""
    rows = [[file, key] for file, keys in result.unmatched.items() for key in keys]
    if not rows:
        return None
    more = "" if len(rows) <= SHOWN else f"The first {SHOWN} of {len(rows)}; all of them are in the JSON output."
    return Section("unmatched", "Rows left out", [Table(["file", "row"], rows[:SHOWN], more)])
