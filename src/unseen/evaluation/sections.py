"""Report sections of measures, of files of predictions and of disagreements."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError
from unseen.core.registry import classes_in, describe
from unseen.evaluation.disagree import Disagreement, LabelledDisagreement
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.measures.outliers import Outlying
from unseen.show.sections import Notes, Section, Table, Text, figure_section, picture, section, table_of

__all__: list[str] = []


# outlying cases listed per output
SHOWN = 20


@section(Measures, 10)
def answer(m: Measures) -> Section:
    """Return every measure with its interval."""
    cases = m.cases
    what = f"{cases.n_cases} predictions" + (
        f" of {len(cases.outputs)} outputs ({', '.join(cases.outputs)})" if cases.outputs else ""
    )
    lead = what + ("" if cases.n_units == cases.n_cases else f", {cases.n_units} independent units")
    if m.positive is not None:
        lead += f"; positive class {m.positive}"
        lead += "" if cases.threshold is None else f", called from a score of {cases.threshold:g} on"
    words = {name: describe(cls) for name, cls in classes_in("measures").items()}
    rows = [
        [
            name,
            e.value,
            None if e.interval is None else e.interval.low,
            None if e.interval is None else e.interval.high,
            e.std_error,
            e.method,
            words.get(name.split("[")[0].split(" at ")[0], ""),
        ]
        for name, e in m.estimates.items()
    ]
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
    if m.cases.classes is None:
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
    for output in m.cases.outputs or (None,):
        try:
            found = m.outlying(output)
        except InputError:
            return None
        if found.suspicious:
            blocks += _outlying_blocks(found, "" if output is None else f"{output}: ", m.cases.classes is None)
    return Section("outlying", "Cases that stand out", blocks) if blocks else None


def _outlying_blocks(found: Outlying, of: str, numbers: bool) -> list[Any]:
    usual, what = (
        ("normal errors", "cases have errors far from the rest")
        if numbers
        else ("calibrated probabilities", "cases have a true class that the model gave almost no probability")
    )
    text = (
        f"{of}E_abs / E_rms is {found.ratio:.3f} ({usual} give {found.usual:.3f}); {len(found.rows)} {what}: "
        "look for wrong labels or missing features."
    )
    rows = [[int(r) + 1, float(e)] for r, e in zip(found.rows[:SHOWN], found.errors)]
    return [Text(text), Table(["case", "error"], rows)]


# unmatched rows listed in a report, which would otherwise grow with the file
SHOWN_ROWS = 200


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
def unmatched_rows(result: PredictionFiles) -> Section | None:
    """Return the rows that not every file has."""
    rows = [[file, key] for file, keys in result.unmatched.items() for key in keys]
    if not rows:
        return None
    more = (
        "" if len(rows) <= SHOWN_ROWS else f"The first {SHOWN_ROWS} of {len(rows)}; all of them are in the JSON output."
    )
    return Section("unmatched", "Rows left out", [Table(["file", "row"], rows[:SHOWN_ROWS], more)])


@section(Disagreement, 10)
def share(d: Disagreement) -> Section:
    """Return how often the two disagree and what that bounds."""
    lead = (
        f"{d.first} and {d.second} disagree on {d.share:.2%} of {d.n} points, so their accuracies differ by at most "
        f"{d.share:.4g}."
    )
    rest = f"{len(d.request)} of the {d.n_disagree} disagreements are to be labelled; that saves {d.saved} labels."
    blocks: list[Any] = [Text(lead, lead=True), Text(rest), picture(d, "disagreement"), table_of(d.rows())]
    made = [b for b in blocks if b is not None]
    return Section("share", "Disagreement", [*made, *([Notes(d.notes)] if d.notes else [])])


@section(LabelledDisagreement, 10)
def difference(d: LabelledDisagreement) -> Section:
    """Return the difference of the accuracies with both intervals."""
    lead = (
        f"The accuracy of {d.first} minus that of {d.second} is {d.difference:+.4g}; on these points it lies in "
        f"{d.interval} and for new points in {d.population} ({100 * d.interval.level:g}% each)."
    )
    counts = (
        f"{d.labels} labels: {d.first} alone right {d.first_right}, {d.second} alone right {d.second_right}, both wrong "
        f"{d.both_wrong}. {d.saved} labels were saved against labelling everything; a plain random sample would need about "
        f"{d.equivalent_sample:.0f} to hold as many disagreements."
    )
    blocks: list[Any] = [Text(lead, lead=True), picture(d, "disagreement-intervals"), table_of(d.rows()), Text(counts)]
    made = [b for b in blocks if b is not None]
    return Section("difference", "Difference of the accuracies", [*made, *([Notes(d.notes)] if d.notes else [])])
