"""Report sections of measures, of files of predictions and of disagreements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unseen.core.comparison import p_words
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.registry import classes_in, describe
from unseen.core.scale import measure_name
from unseen.evaluation.disagree import Disagreement, LabelledDisagreement
from unseen.evaluation.figures.measure_forest import measure_in_words
from unseen.evaluation.figures.roc import has_band
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.prediction_record import PredictionFiles
from unseen.evaluation.slices import SHARES, Slices
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
    repeat_section,
    section,
    table_of,
)

__all__ = ["has_band", "slice_blocks"]


# outlying cases listed per output
SHOWN = 20
# pairs of slices listed in a report
SHOWN_GAPS = 15
# cells of a confusion matrix listed one by one
MOST_CELLS = 144


def slice_blocks(s: Slices) -> list[Block]:
    """Return the slices as parts of a report: the worst one in a sentence, a picture, the table, the gaps."""
    made = picture(s, "slices")
    rows = [
        [
            *([x.column] if len(s.tests) > 1 else []),
            x.name,
            None if x.value is None else TableCell(s.value_text(x.value), x.value),
            None
            if x.low is None or x.high is None
            else TableCell(_span(s.value_text(x.low), s.value_text(x.high)), x.low),
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
                else TableCell(_span(s.shown_gap(g["lower"]), s.shown_gap(g["upper"])), g["lower"]),
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


def _span(low: str, high: str) -> str:
    """Return an interval; a unit is said once."""
    return f"{low.removesuffix(' points') if high.endswith(' points') else low} to {high}"


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
    """Return the answer in a sentence, its picture, the measures most people know, and the notes."""
    cases = m.cases
    about = [f"{len(cases.outputs)} outputs: {', '.join(cases.outputs)}."] if cases.outputs else []
    if m.positive is not None and cases.size == 2:
        called = "" if cases.threshold is None else f", called {m.positive} if the score is {cases.threshold:g} or more"
        about.append(f"Positive class: {m.positive}{called}.")
    made = [b for b in (picture(m, "measures"),) if b is not None]
    shown = m.estimates if cases.outputs else m.known
    table = _measure_table(m, shown, "Measures with their intervals.")
    blocks: list[Block] = [Text(m.sentence(), lead=True), *(Text(text) for text in about), *made, table]
    return Section("measures", "The answer", [*blocks, *([Notes(m.notes)] if m.notes else [])])


def _measure_table(m: Measures, found: Mapping[str, Estimate], caption: str) -> Table:
    classes = classes_in("measures")
    hinted: set[str] = set()  # a hint stands in the first row of its measure alone
    rows = []
    for name, e in found.items():
        base = name.split("[")[0].split(" at ")[0]
        shares = base in SHARES
        ends = e.interval
        rows.append(
            [
                TableCell(measure_in_words(name), name, "" if base in hinted else _hint(m, name, classes.get(base))),
                TableCell(_number_text(e.value, shares), e.value),
                None
                if ends is None
                else TableCell(f"{_number_text(ends.low, shares)} to {_number_text(ends.high, shares)}", ends.low),
                e.method,
            ]
        )
        hinted.add(base)
    return Table(["measure", "value", f"{100 * m.level:g}% interval", "by"], rows, caption)


def _hint(m: Measures, name: str, cls: Any) -> str:
    """Return what a measure is, and whether it is a mean over classes here."""
    if cls is None:
        return ""
    mean = m.cases.size > 2 and "[" not in name and getattr(cls, "over_classes", False)
    return describe(cls).removesuffix(".") + ("; mean over classes, each as the positive one." if mean else ".")


def _number_text(value: float, share: bool) -> str:
    return f"{100 * value:.1f}%" if share else f"{value:.4g}"


@section(Measures, 70)
def every_measure(m: Measures) -> Section | None:
    """Return all measures, if there are more than the answer shows."""
    if m.cases.outputs or len(m.known) == len(m.estimates):
        return None
    return Section(
        "all-measures",
        "All measures",
        [_measure_table(m, m.estimates, "Every measure that suits these cases.")],
        folded=True,
    )


@section(Measures, 90)
def repeat_measures(m: Measures) -> Section:
    """Return the command and the settings."""
    facts = [["seed", str(m.seed)], ["confidence level", f"{m.level:g}"], ["resamples", str(m.n_bootstrap)]]
    return repeat_section(m.command, facts)


@section(Measures, 20)
def residuals(m: Measures) -> Section | None:
    """Return predicted against observed numbers."""
    return figure_section(m, "residuals", "residuals", "Predicted against observed")


@section(Measures, 20)
def confusion(m: Measures) -> Section | None:
    """Return the confusion matrix as a heat map, and as a table with an interval for each cell."""
    if m.cases.classes is None:
        return None
    made = picture(m, "confusion")
    cells = [
        [
            r["truth"],
            r["decision"],
            r["count"],
            TableCell(_number_text(r["share"], True), r["share"]),
            TableCell(f"{_number_text(r['lower'], True)} to {_number_text(r['upper'], True)}", r["lower"]),
        ]
        for r in m.confusion().rows()[:MOST_CELLS]
    ]
    table = Table(["true", "called", "cases", "share of the true class", f"{100 * m.level:g}% interval"], cells)
    return Section("confusion", "Confusion matrix", [*([made] if made is not None else []), table])


@section(Measures, 30)
def roc(m: Measures) -> Section | None:
    """Return the ROC curve."""
    made = picture(m, "roc")
    if made is None:
        return None
    if not has_band(m):
        made = replace(made, caption=made.caption.partition(" The band")[0])
    return Section("roc", "ROC curve", [made])


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
    parts = Text(f"{c.brier.sentence()}.")
    return Section("calibration", "Calibration", [Text(c.fit.sentence()), made, parts, table_of(c.rows(), "Bins.")])


@section(Measures, 55)
def decision_curve(m: Measures) -> Section | None:
    """Return the decision curve with what it says."""
    made = picture(m, "decision-curve")
    return (
        None
        if made is None
        else Section("decision-curve", "Decision curve", [Text(m.decision_curve().sentence()), made])
    )


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


@section(PredictionFiles, 5)
def answer_of_files(result: PredictionFiles) -> Section:
    """Return which file is best and by how much, in a sentence, then every verdict whole."""
    verdicts = [Text(f"{p.a} against {p.b}: {p.verdict}.") for p in result.pairs[:SHOWN]]
    scale = result.scale_sentence()
    return Section(
        "answer", "The answer", [Text(result.sentence(), lead=True), *verdicts, *([Text(scale)] if scale else [])]
    )


@section(PredictionFiles, 10)
def differences(result: PredictionFiles) -> Section | None:
    """Return the paired differences and every test of them."""
    if not result.pairs:
        return None
    made = picture(result, "file-differences")
    rate = result.loss == "zero-one"

    def gap(value: float) -> str:
        return f"{100 * value + 0.0:+.1f}" if rate else f"{value + 0.0:+.4g}"

    rows = [
        [
            r["a"],
            r["b"],
            r["test"],
            TableCell(gap(r["difference"]), r["difference"]),
            None if r["lower"] is None else TableCell(f"{gap(r['lower'])} to {gap(r['upper'])}", r["lower"]),
            None if r["p"] is None else TableCell(p_words(r["p"], ""), r["p"]),
            None if r["p_adjusted"] is None else TableCell(p_words(r["p_adjusted"], ""), r["p_adjusted"]),
            r["verdict"],
        ]
        for r in result.rows()
    ]
    caption = "Every test of every pair."
    if len(result.pairs) > 1:
        caption += " An interval is of one pair by itself; the verdict goes by the p-value adjusted for all pairs."
    less = "a less b (points)" if rate else "a less b"
    table = Table(["a", "b", "test", less, "interval", "p", "adjusted", "verdict"], rows, caption)
    return Section("differences", "Paired differences", [*([made] if made is not None else []), table])


@section(PredictionFiles, 20)
def errors(result: PredictionFiles) -> Section:
    """Return the error of each file."""
    rows = []
    for row in result.by_file():
        share = row["measure"] in SHARES
        ends = (
            None
            if row["lower"] is None
            else TableCell(f"{_number_text(row['lower'], share)} to {_number_text(row['upper'], share)}", row["lower"])
        )
        rows.append(
            [
                row["file"],
                measure_name(row["measure"]),
                TableCell(_number_text(row["estimate"], share), row["estimate"]),
                ends,
                row["method"],
                row["n"],
            ]
        )
    table = Table(["file", "measure", "value", "interval", "by", "units"], rows, f"{result.n:,} rows.")
    made = picture(result, "file-errors")
    return Section(
        "errors",
        "Errors",
        [*([made] if made is not None else []), table, *([Notes(result.notes)] if result.notes else [])],
    )


@section(PredictionFiles, 90)
def repeat_files(result: PredictionFiles) -> Section:
    """Return the command and the version."""
    return repeat_section(result.command, [["files", ", ".join(result.estimates)], ["loss", result.loss]])


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


_HEADS = {
    "n": "points",
    "n_disagree": "disagreements",
    "bound": "largest difference",
    "requested": "to be labelled",
    "saved": "labels saved",
}


@section(Disagreement, 10)
def share(d: Disagreement) -> Section:
    """Return how often the two disagree and what that bounds."""
    lead = (
        f"{d.first} and {d.second} disagree on {100 * d.share:.1f}% of {d.n} points, so their accuracies differ by at most "
        f"{100 * d.share:.1f} percentage points."
    )
    rest = f"{len(d.request)} of the {d.n_disagree} disagreements are to be labelled; that saves {d.saved} labels."
    table = table_of(d.rows(), percent={"share", "lower", "upper"}, points={"bound"}, heads=_HEADS)
    blocks: list[Any] = [Text(lead, lead=True), Text(rest), picture(d, "disagreement"), table]
    made = [b for b in blocks if b is not None]
    return Section("share", "Disagreement", [*made, *([Notes(d.notes)] if d.notes else [])])


@section(LabelledDisagreement, 10)
def difference(d: LabelledDisagreement) -> Section:
    """Return the difference of the accuracies with both intervals."""
    more = "higher" if d.difference >= 0 else "lower"
    here, new = (" and ".join(f"{100 * end + 0.0:+.1f}" for end in ends) for ends in (d.interval, d.population))
    lead = (
        f"The accuracy of {d.first} is {100 * abs(d.difference):.1f} percentage points {more} than that of {d.second}; the "
        f"difference lies between {here} on these points and between {new} on new ones ({100 * d.interval.level:g}% each)."
    )
    counts = (
        f"{d.labels} labels: {d.first} alone right {d.first_right}, {d.second} alone right {d.second_right}, both wrong "
        f"{d.both_wrong}. {d.saved} labels were saved against labelling everything; a plain random sample would need about "
        f"{d.equivalent_sample:.0f} to hold as many disagreements."
    )
    table = table_of(d.rows(), points={"difference", "lower", "upper"}, heads=_HEADS)
    blocks: list[Any] = [Text(lead, lead=True), picture(d, "disagreement-intervals"), table, Text(counts)]
    made = [b for b in blocks if b is not None]
    return Section("difference", "Difference of the accuracies", [*made, *([Notes(d.notes)] if d.notes else [])])
