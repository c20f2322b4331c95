"""Report sections of measures, of files of predictions and of disagreements."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError
from unseen.core.registry import classes_in, describe
from unseen.evaluation.disagree import Disagreement, LabelledDisagreement
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.evaluation.slices import Slices
from unseen.measures.outliers import Outlying
from unseen.show.sections import (
    Block,
    Notes,
    Section,
    Table,
    TableCell,
    Text,
    figure_section,
    picture,
    section,
    table_of,
)

__all__ = ["slice_blocks"]


# outlying cases listed per output
SHOWN = 20
# pairs of slices listed in a report
SHOWN_GAPS = 15


def slice_blocks(s: Slices) -> list[Block]:
    """Return the slices as parts of a report: the worst one in a sentence, a picture, the table, the gaps."""
    made = picture(s, "slices")
    rows = [
        [
            *([x.column] if len(s.tests) > 1 else []),
            x.name,
            None if x.value is None else TableCell(s.shown(x.value), x.value),
            None if x.low is None or x.high is None else TableCell(f"{s.shown(x.low)} to {s.shown(x.high)}", x.low),
            x.n,
            x.n_units,
        ]
        for x in s.slices
    ]
    columns = [
        *(["column"] if len(s.tests) > 1 else []),
        "slice",
        s.word,
        f"{100 * s.level:g}% interval",
        "cases",
        "units",
    ]
    caption = f"All intervals hold together with {100 * s.level:g}% confidence ({METHODS[s.method]})."
    blocks: list[Block] = [Text(s.sentence()), *([made] if made is not None else []), Table(columns, rows, caption)]
    gaps = s.gap_rows()[:SHOWN_GAPS]
    if gaps:
        pairs = [
            [
                *([g["column"]] if len(s.tests) > 1 else []),
                g["a"],
                g["b"],
                TableCell(s.shown_gap(g["gap"]), g["gap"]),
                None
                if g["lower"] is None
                else TableCell(f"{s.shown_gap(g['lower'])} to {s.shown_gap(g['upper'])}", g["lower"]),
                "yes" if g["differs"] else "not shown",
            ]
            for g in gaps
        ]
        heads = [
            *(["column"] if len(s.tests) > 1 else []),
            "a",
            "b",
            "a less b",
            f"{100 * s.level:g}% interval",
            "differ",
        ]
        more = f" The {SHOWN_GAPS} largest of {len(s.gaps)}." if len(s.gaps) > SHOWN_GAPS else ""
        blocks.append(
            Table(heads, pairs, f"Gaps between slices; the intervals of all pairs of a column hold together.{more}")
        )
    return [*blocks, *([Notes(s.notes)] if s.notes else [])]


METHODS = {
    "mid-p": "mid-P limits of counts",
    "max-t": "largest t over slices, corrected for skewness",
    "max-t of sets": "largest t over slices",
}


@section(Slices, 10)
def slices_alone(s: Slices) -> Section:
    """Return one measure in each slice."""
    return Section("slices", s.title, slice_blocks(s))


@section(Measures, 15)
def slices_of_measures(m: Measures) -> Section | None:
    """Return each measure in every slice."""
    blocks = [block for s in m.slices.values() for block in slice_blocks(s)]
    return Section("slices", "By slice", blocks) if blocks else None


@section(PredictionFiles, 25)
def slices_of_files(result: PredictionFiles) -> Section | None:
    """Return errors and differences in every slice."""
    blocks = [block for s in result.slices for block in slice_blocks(s)]
    return Section("slices", "By slice", blocks) if blocks else None


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
