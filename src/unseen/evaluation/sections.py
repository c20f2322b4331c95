"""Sections for measures of a set of predictions."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError
from unseen.core.registry import describe, known
from unseen.measures._continuous import Outlying
from unseen.report._sections import Notes, Section, Table, Text, figure_section, picture, section, table_of
from unseen.verbs.measure_record import Measures

__all__: list[str] = []

SHOWN = 20


@section(Measures, 10)
def answer(m: Measures) -> Section:
    """Return every measure with its interval."""
    j = m.judged
    what = f"{j.n_cases} predictions" + (f" of {len(j.outputs)} outputs ({', '.join(j.outputs)})" if j.outputs else "")
    lead = what + ("" if j.n_units == j.n_cases else f", {j.n_units} independent units")
    if m.positive is not None:
        lead += f"; positive class {m.positive}"
        lead += "" if j.threshold is None else f", called from a score of {j.threshold:g} on"
    words = {name: describe(cls) for name, cls in known("measures").items()}
    rows = [
        [
            name, e.value, None if e.interval is None else e.interval.low, None if e.interval is None else e.interval.high,
            e.std_error, e.method, words.get(name.split("[")[0].split(" at ")[0], ""),
        ]
        for name, e in m.estimates.items()
    ]  # fmt: skip
    columns = [
        "measure",
        "value",
        f"lower {100 * m.level:g}%",
        f"upper {100 * m.level:g}%",
        "std error",
        "interval",
        "what it is",
    ]
    blocks: list[Any] = [Text(f"{lead}.", lead=True), picture(m, "measures"), Table(columns, rows, "All measures.")]
    made = [b for b in blocks if b is not None]
    return Section("measures", "Measures", [*made, *([Notes(m.notes)] if m.notes else [])])


@section(Measures, 20)
def confusion(m: Measures) -> Section | None:
    """Return the confusion matrix with an interval for each cell."""
    if m.judged.classes is None:
        return None
    return Section(
        "confusion", "Confusion matrix", [table_of(m.confusion().rows(), "Shares of each true class, with limits.")]
    )


@section(Measures, 30)
def roc(m: Measures) -> Section | None:
    """Return the ROC curve."""
    return figure_section(m, "roc", "roc", "ROC curve")


@section(Measures, 40)
def precision(m: Measures) -> Section | None:
    """Return precision and recall."""
    return figure_section(m, "precision-recall", "precision-recall", "Precision and recall")


@section(Measures, 50)
def calibration(m: Measures) -> Section | None:
    """Return the calibration with the parts of the Brier score."""
    made = picture(m, "calibration")
    if made is None:
        return None
    c = m.calibration()
    return Section("calibration", "Calibration", [Text(f"{c}."), made, table_of(c.rows())])


@section(Measures, 60)
def outlying(m: Measures) -> Section | None:
    """Return the cases whose errors stand out."""
    blocks: list[Any] = []
    for output in m.judged.outputs or (None,):
        try:
            found = m.outlying(output)
        except InputError:
            return None
        if found.suspicious:
            blocks += _standing_out(found, "" if output is None else f"{output}: ", m.judged.classes is None)
    return Section("outlying", "Cases that stand out", blocks) if blocks else None


def _standing_out(found: Outlying, of: str, numbers: bool) -> list[Any]:
    usual, what = (
        ("normal errors", "cases have errors far from the rest")
        if numbers
        else ("calibrated probabilities", "cases have a true class that was held to be next to impossible")
    )
    text = (
        f"{of}E_abs / E_rms is {found.ratio:.3f} ({usual} give {found.usual:.3f}); {len(found.rows)} {what}: "
        "look for wrong labels or missing features."
    )
    rows = [[int(r) + 1, float(e)] for r, e in zip(found.rows[:SHOWN], found.errors)]
    return [Text(text), Table(["case", "error"], rows)]
