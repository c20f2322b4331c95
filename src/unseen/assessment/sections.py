"""Report sections of assessments, single estimates, distributions and estimates without retraining."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen._version import __version__
from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED, first_table
from unseen.assessment.figures.curves import measures_of
from unseen.assessment.resubstitute import Resubstitutions
from unseen.assessment.wording import (
    estimate_line,
    guess_in_words,
    in_units,
    name_in_words,
    name_with_article,
    source_sentence,
    value_in_units,
)
from unseen.core.distribution import DistributionComparison, ErrorDistribution
from unseen.core.estimate import CalibratedEstimate, Estimate, ResubEstimate, count_of
from unseen.core.losses import LossTable
from unseen.core.notes import merge_notes
from unseen.core.registry import classes_in, describe
from unseen.core.scale import measure_name
from unseen.estimators.range_t import split_contributions
from unseen.evaluation.sections import has_band, slice_blocks
from unseen.show.sections import (
    Alarm,
    Block,
    Notes,
    Pictures,
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
from unseen.show.style import is_rate, quantity
from unseen.show.text import percent_or_number

__all__ = ["estimate_headline", "repeat"]

SHORTEST = 0.1  # seconds: a shorter run is not said to have taken none


@section(Assessment, 10)
def headline(a: Assessment) -> Section:
    """Return the answer in plain words, its picture, the other measures, and what would narrow it."""
    made = picture(a, "answer")
    warning = [] if a.trust.ok else [Alarm(a.trust.warning(), _what_to_do(a))]
    blocks: list[Block] = [*warning, Text(a.plain_sentence(), lead=True), *([made] if made is not None else [])]
    blocks += [Text(text) for text in (a.verdict(), a.narrow()) if text]
    if a.also:
        blocks.append(_measures_table(a))
    if not a.complete:
        blocks.append(Text("The run was interrupted before its end; this report shows what was finished by then."))
    return Section("headline", "The answer", [*blocks, Text(_about(a))])


def _what_to_do(a: Assessment) -> str:
    return " ".join(dict.fromkeys(f"{n.advice} ({n.code})" for n in a.notes if n.alarm))


def _measures_table(a: Assessment) -> Table:
    """Return every measure with its interval, the headline's first."""
    rows = []
    for e in (a.headline, *a.also.values()):
        called = "mean absolute error" if e.loss == "absolute" else name_in_words(e.loss)
        line, shown = estimate_line(called, e), in_units(e)
        name = line.method[:1].upper() + line.method[1:]
        codes = " ".join(n.code for n in e.notes) or None
        low = None if shown.interval is None else TableCell(line.interval or "", shown.interval.low)
        rows.append([name, TableCell(line.value, shown.value), low, e.method, codes])
    level = f"{100 * float(a.settings['level']):g}% interval"
    return Table(["measure", "value", level, "by", "notes"], rows, _sources(a), sortable=False)


def _sources(a: Assessment) -> str:
    """Say which measures are of the same predictions, and which rest on more."""
    found = (a.headline, *a.also.values())
    mixed = [name_in_words(e.loss) for e in found if e.method == "combined"]
    if not mixed:
        return "All from the same predictions."
    names, be = " and ".join(mixed), "is" if len(mixed) == 1 else "are"
    text = (
        f"{names[:1].upper()}{names[1:]} {be} by combined, which weighs the errors of these predictions with other estimates of "
        "this model."
    )
    return text if len(mixed) == len(found) else f"{text} The others are of these predictions alone."


def _about(a: Assessment) -> str:
    data = a.data
    parts = [f"{data.n} rows"]
    if data.n_features:
        parts.append(f"{data.n_features} feature{'s' if data.n_features > 1 else ''}")
    if data.groups is not None:
        parts.append(f"{count_of(data.n_units, data.unit)}, never split")
    elif data.joined is not None:
        parts.append(f"{count_of(data.n_units, data.unit)}, never parted from their copies")
    if data.order is not None:
        parts.append("ordered in time, so that models are always tested on what came later")
    if data.weights is not None:
        parts.append("weighted rows")
    text = f"Measured on {', '.join(parts)}. Target: “{data.target_name}”"
    if data.classes is not None:
        counts = np.bincount(data.codes, minlength=len(data.classes))
        some = [f"{label} ({count})" for label, count in zip(data.classes, counts)]
        text += f", {len(some)} classes: {', '.join(some[:6])}{f' and {len(some) - 6} more' if len(some) > 6 else ''}"
        if len(some) == 2:
            text += f"; positive class {data.positive}"
    fits = sum(t.n_fits for t in a.tables.values())
    trained = f"{fits} models were fitted" if fits else "Nothing was fitted: the model had been trained on other rows"
    text = f"{text}. {trained}; the run took {_seconds(a.seconds)}."
    return text if a.notes else f"{text} No check of the data or the run gave a warning."


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= SHORTEST else f"less than {SHORTEST} s"


@section(Assessment, 50)
def distribution(a: Assessment) -> Section | None:
    """Return the distribution of the error over leave-out splits."""
    made, spread = picture(a, "distribution"), a.distribution
    if made is None or spread is None:
        return None
    blocks: list[Block] = [made]
    if why := _why_not(a, _these(spread.loss), a.tables["leave-out"], float(spread.avr)):
        blocks.append(Text(why))
    return Section("distribution", "Error from split to split", blocks, folded=True)


def _why_not(a: Assessment, what: str, table: LossTable, loss: float, splits: Any = slice(None)) -> str:
    """Say why the mean behind a part of the report is not the answer's; empty if it is, or if the answer has no such measure."""
    names = {table.loss, "1 - accuracy"} if table.loss == "zero-one" else {table.loss}
    answer = next((e for e in (a.headline, *a.also.values()) if e.loss in names), None)
    if answer is None:
        return ""
    told = value_in_units(answer.loss, loss)
    share = float(table.plan.sizes[table.completed][splits, 1].mean()) / a.data.n_units
    called = "headline" if answer is a.headline else f"{quantity(told[0])} above"
    words = percent_or_number(told[1], told[0])
    return source_sentence(what, _design_words(table, splits), words, answer, share, called)


def _these(loss: str) -> str:
    """Return what the values behind a part of the report are called where a sentence begins."""
    word = quantity(value_in_units(loss, 0.0)[0])
    return "These errors" if word == "error" else f"These values of {word}"


def _design_words(table: LossTable, some: Any = slice(None)) -> str:
    """Return where a table, or some of its completed splits, comes from, in words."""
    splits = [table.plan.splits[k] for k in table.completed[some]]
    if table.plan.design == "repeated-kfold":
        rounds = len({s.repeat for s in splits})
        return f"{rounds} round{'s' * (rounds > 1)} of {len(splits) // rounds}-fold cross-validation"
    return (
        f"{len(splits)} random splits" if table.plan.design in ("leave-out", "monte-carlo") else f"{len(splits)} splits"
    )


@section(Assessment, 60)
def optimism(a: Assessment) -> Section | None:
    """Return training and test error by split."""
    from unseen.assessment.figures.optimism import mean_errors

    made = picture(a, "optimism")
    if made is None:
        return None
    table = a.tables[a.headline_design]
    loss, trained = value_in_units(table.loss, table.train_errors())
    tested = value_in_units(table.loss, table.split_means())[1]
    lower, means = quantity(loss) == "error", mean_errors(table)
    gap = tested - trained if lower else trained - tested
    name = "optimism (test less training)" if lower else "optimism (training less test)"
    means[name] = (means["test"] - means["training"]) * (1 if lower else -1)
    rows = [
        [part, *(TableCell(percent_or_number(float(x), loss), float(x)) for x in (means[part], np.min(v), np.max(v)))]
        for part, v in {"training": trained, "test": tested, name: gap}.items()
    ]
    summary = Table(
        [quantity(loss), "mean", "smallest", "largest"], rows, f"Over {len(table.completed)} splits.", sortable=False
    )
    blocks: list[Block] = [made, summary]
    if why := _why_not(a, _these(table.loss), table, float(split_contributions(table).mean())):
        blocks.append(Text(why))
    return Section("optimism", f"Training and test {quantity(loss)}", blocks, folded=True)


@section(Assessment, 30)
def learning_curve(a: Assessment) -> Section | None:
    """Return the learning curve."""
    made = picture(a, "learning-curve")
    if made is None:
        return None
    blocks: list[Block] = [made]
    source = a.tables["learning-curve"]
    parts = np.array([source.plan.splits[k].part for k in source.completed])
    last = parts == parts.max()
    if why := _why_not(a, "Its last points", source, float(source.split_means()[last].mean()), last):
        blocks.append(Text(why))
    return Section("learning-curve", "Learning curve", blocks)


@section(Assessment, 25)
def slices(a: Assessment) -> Section | None:
    """Return the error in each slice, if slices were asked for."""
    if a.slices is None:
        return None
    return Section("slices", a.slices.title, slice_blocks(a.slices))


@section(Assessment, 45)
def curve_numbers(a: Assessment) -> Section | None:
    """Return the numbers of the learning curve."""
    from unseen.assessment.figures.learning_curve import info as curve_info

    numbers = curve_info(a)
    if numbers is None:
        return None
    word = quantity(numbers.loss)
    columns = {f"test {word}": numbers.test}
    if numbers.train is not None:
        columns[f"training {word}"] = numbers.train
    rows = [
        [
            float(size),
            *(TableCell(percent_or_number(float(v[k, 0]), numbers.loss), float(v[k, 0])) for v in columns.values()),
            int(numbers.repeats[k]),
        ]
        for k, size in enumerate(numbers.sizes)
    ]
    table = Table(["trained on", *columns, "repetitions"], rows, "Means of the repetitions.", sortable=False)
    return Section("learning-curve-numbers", "Learning curve in numbers", [table], folded=True)


@section(Assessment, 20)
def predictions(a: Assessment) -> Section | None:
    """Return the confusion matrix with the curves of two classes, or predicted against observed numbers."""
    name, title = ("confusion", "Predictions") if a.data.task == "classification" else ("residuals", "Predictions")
    made = picture(a, name)
    if made is None:
        return None
    held_out = "holdout" in a.tables
    if held_out and name == "confusion":
        made = replace(made, caption="Which class is taken for which; percentages are shares of the true class.")
    found = measures_of(a)
    drawn = {curve: picture(a, curve) for curve in CURVES}
    if drawn["roc"] is not None and found is not None and not has_band(found):
        drawn["roc"] = replace(drawn["roc"], caption="ROC curve.")
    curves = [one for one in drawn.values() if one is not None]
    blocks: list[Block] = [Pictures([made, *curves])] if curves else [made]
    table = first_table(a, CROSS_VALIDATED)
    if curves:
        text = "The curves come from one round of cross-validation: a model that had not seen it scored each case."
        if held_out:
            text = "The curves come from the held-out rows."
        elif "1 - auc" in (a.headline.loss, *(e.loss for e in a.also.values())):
            text += " Their area is that of all test parts together; the AUC above is the mean over test parts."
        blocks.append(Text(text))
        if found is not None and found.cases.probability:
            blocks.append(Text(found.calibration().fit.sentence()))
    if name == "confusion":
        if table is not None:
            counts = table.source[0].losses("zero-one")
            why = _why_not(a, "These counts", counts, float(split_contributions(counts).mean()))
            blocks += [Text(why)] if why else []
        blocks += _largest_confusions(a)
    return Section(name, title, blocks)


CURVES = ("roc", "precision-recall", "calibration")


@section(Assessment, 47)
def decision_curve(a: Assessment) -> Section | None:
    """Return at which probabilities acting on the model helps, if it gives probabilities of two classes."""
    made, found = picture(a, "decision-curve"), measures_of(a)
    if made is None or found is None:
        return None
    text = Text(found.decision_curve().sentence())
    return Section("decision-curve", "Decision curve", [made, text], folded=True)


def _largest_confusions(a: Assessment) -> list[Block]:
    """List the largest confusions if the matrix is too large to carry numbers."""
    from unseen.assessment.figures.confusion import info as confusion_info
    from unseen.evaluation.figures.confusion import NUMBERED_CLASSES

    numbers = confusion_info(a)
    if numbers is None or len(numbers.classes) <= NUMBERED_CLASSES:
        return []
    off = np.where(np.eye(len(numbers.classes), dtype=bool), 0.0, numbers.counts)
    order = np.argsort(-off, axis=None, kind="stable")[:12]
    rows = [
        [
            numbers.classes[i],
            numbers.classes[j],
            float(off[i, j]),
            TableCell(f"{100 * numbers.shares[i, j]:.0f}%", float(numbers.shares[i, j])),
        ]
        for i, j in zip(*np.unravel_index(order, off.shape))
        if off[i, j] > 0
    ]
    caption = "The most frequent confusions."
    if len(numbers.classes) < numbers.n_classes:
        caption += f" The picture shows the {len(numbers.classes)} most confused of {numbers.n_classes} classes."
    return [Table(["true", "predicted", "cases", "share of the true class"], rows, caption)] if rows else []


HARDEST_HELD_OUT = (
    "Error of each {unit}, hardest first. A steep fall means a few {unit}s make most of the error: look at them for wrong labels or a "
    "missing feature. A long slope means that it is spread over many."
)


@section(Assessment, 70)
def hardest(a: Assessment) -> Section | None:
    """Return the units that most splits get wrong."""
    from unseen.assessment.figures.hardest import info as hardest_info

    numbers = hardest_info(a)
    made = picture(a, "hardest")
    if numbers is None or made is None:
        return None
    loss = numbers.measure
    unit = "group" if numbers.grouped else "row" if a.data.ids is None else "id"
    numeric = a.data.task == "regression"
    rows = [
        [
            TableCell(name, float(name) if unit == "row" else name),
            TableCell(truth, float(truth)) if numeric else truth,
            TableCell(said, float(said)) if numeric else said or None,
            TableCell(percent_or_number(float(value), loss), float(value)),
            int(times),
        ]
        for name, truth, said, value, times in zip(
            numbers.name, numbers.truth, numbers.said, numbers.loss, numbers.tested
        )
    ]
    wrong = "most often taken for" if a.data.task == "classification" else "mean prediction"
    score = "missed in" if loss == "zero-one" else f"mean {measure_name(loss)}"
    right = (
        f"{numbers.never} of {count_of(numbers.n_tested, a.data.unit)} {'was' if numbers.never == 1 else 'were'} right"
    )
    counted = f"{right} in every split, {numbers.always} wrong in every one."
    heads = [unit, f"true {a.data.target_name}", wrong, score, "times tested"]
    if "holdout" in a.tables:
        wrong = "taken for" if loss == "zero-one" else "prediction"
        heads, rows = [unit, f"true {a.data.target_name}", wrong, score.removeprefix("mean ")], [r[:4] for r in rows]
        counted = f"{right}, {numbers.n_tested - numbers.never} wrong."
        made = replace(made, caption=HARDEST_HELD_OUT.format(unit=numbers.unit))
        if loss == "zero-one" and not numbers.grouped:  # right or wrong: nothing to draw, and no order of rows
            table = Table(heads[:3], [r[:3] for r in rows], f"The first {len(rows)} that were wrong.")
            return Section("hardest", "Cases it got wrong", [Text(counted), table], folded=True)
    blocks: list[Block] = [made, Table(heads, rows, f"The hardest {numbers.unit}s.")]
    shown = [Text(counted), *blocks] if loss == "zero-one" else blocks
    return Section("hardest", f"Hardest {numbers.unit}s", shown, folded=True)


@section(Assessment, 75)
def failures(a: Assessment) -> Section | None:
    """Return the reasons of failed fits."""
    rows = []
    for design, table in a.tables.items():
        failed = [f for source in table.source for f in source.failures]
        for reason, count in Counter(f.reason for f in failed).most_common(20):
            rows.append([design, count, len(table.plan), reason])
    if not rows:
        return None
    text = (
        "Fits that failed were left out of every mean. An error that depends on which fits succeed is too optimistic."
    )
    return Section(
        "failures", "Failed fits", [Text(text), Table(["design", "failed", "of", "reason"], rows, "Reasons.")]
    )


@section(Assessment, 85)
def methods(a: Assessment) -> Section:
    """Return what each method does in a line, and the notes on single estimates."""
    words = {name: describe(cls) for kind in ("estimators", "resubstitution") for name, cls in classes_in(kind).items()}
    rows = [[e.method, words[e.method].replace("`", "")] for e in a.ordered() if e.method in words]
    guess = guess_in_words(a.baseline.loss, a.data.task)
    same = "rows" if "holdout" in a.tables else "splits"
    rows.append(["guessing", f"A model that always guesses the {guess}, on the same {same}."])
    blocks: list[Block] = [Table(["method", "what it does"], rows, sortable=False)]
    others: dict[Any, list[str]] = {}
    for method, estimate in (*a.estimates.items(), ("guessing", a.baseline)):
        for one in merge_notes(estimate.notes):
            if one not in a.notes:
                others.setdefault(one, []).append(method)
    if others:
        noted = [
            [n.code, TableCell(n.title, n.title, n.advice), n.text, ", ".join(methods)] for n, methods in others.items()
        ]
        blocks.append(Table(["code", "note", "what was seen", "estimates"], noted, "Notes on single estimates."))
    return Section("methods", "What the methods do", blocks, folded=True)


@section(Assessment, 15)
def notes(a: Assessment) -> Section | None:
    """Return the notes on data, run and headline that do not stand in the frame above, if there are any."""
    others = tuple(n for n in a.notes if not n.alarm)
    return Section("notes", "Notes", [Notes(others)]) if others else None


@section(Assessment, 40)
def estimates(a: Assessment) -> Section:
    """Return all estimates on one axis and as a table, grouped by what they are the error of."""
    found = a.ordered()
    pairs = [(e.method, e) for e in found]
    pairs.insert(sum(e.target.kind == a.target.kind for e in found), ("guessing", a.baseline))
    rows = [_estimate_cells(name, e, e is a.headline) for name, e in pairs]
    what = quantity(in_units(a.headline).loss)
    level = f"{100 * float(a.settings['level']):g}% interval"
    columns = ["method", what, level, f"{what} of", "trained on", "fits", "seconds", "RMS", "notes"]
    captions = {
        "seconds": "Seconds are those of the fits.",
        "RMS": "RMS: deviation of the method from the true error on data sets with such a model and sample, if it was studied.",
    }
    empty = [k for k, name in enumerate(columns) if name in captions and all(row[k] is None for row in rows)]
    kept = [k for k in range(len(columns)) if k not in empty]
    caption = " ".join(text for name, text in captions.items() if columns.index(name) in kept)
    made = picture(a, "estimates")
    table = Table([columns[k] for k in kept], [[row[k] for k in kept] for row in rows], caption)
    return Section("estimates", "All estimates", [*([made] if made is not None else []), table], folded=True)


def _estimate_cells(name: str, e: Estimate, headline: bool) -> list[Any]:
    """Return the cells of an estimate: shown as text, sorted by number."""
    shown, line = in_units(e), estimate_line(name, e)
    return [
        TableCell(line.method + (" (headline)" if headline else ""), line.method),
        TableCell(line.value, shown.value),
        None if shown.interval is None else TableCell(line.interval or "", shown.interval.low),
        "this model" if e.target.kind == "model" else "the algorithm",
        None if e.target.n_train is None else TableCell(e.target.size, e.target.n_train),
        e.n_fits,
        TableCell(f"{e.seconds:.2g}", e.seconds)
        if e.seconds
        else None,  # fits shared with another have no time of their own
        None if line.expected_rms is None else TableCell(line.expected_rms, e.expected_rms),
        " ".join(n.code for n in e.notes) or None,
    ]


@section(Assessment, 90)
def repeat(a: Assessment) -> Section:
    """Return the command, the settings and the designs with their fingerprints."""
    known = a.settings
    designs = [
        [name, _options(known["designs"].get(name, table.plan.options)), len(table.plan), table.plan.fingerprint]
        for name, table in a.tables.items()
    ]
    made = Table(["design", "options", "splits", "fingerprint of the splits"], designs, "Designs.", sortable=False)
    return repeat_section(a.command, _facts(a), made)


def _facts(a: Assessment) -> list[list[Any]]:
    known = a.settings
    rows: list[list[Any]] = [
        ["model", known.get("estimator") or a.model],
        ["loss", ", ".join([a.headline.loss, *(e.loss for e in a.also.values())])],
        ["seed", str(known["seed"])],
        ["confidence level", str(known["level"])],
        ["effort", _options(known["effort"])],
        ["headline", f"{a.headline.method}{_reason(a)}"],
        ["data", f"{a.data.n} rows, fingerprint {known['data_fingerprint'] or 'not kept'}"],
    ]
    return [*rows, *([f"{name} version", version] for name, version in known["versions"].items())]


def _reason(a: Assessment) -> str:
    lead = a.settings.get("lead", {})
    return f": {lead['reason']}" if lead.get("method") == a.headline.method else ""


def _options(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None) or "defaults"


@section(Estimate, 10)
def estimate_headline(e: Estimate) -> Section:
    """Return the estimate in plain words, its picture and its numbers."""
    row = e.on_scale().row()
    lead = f"Estimated {measure_name(row['term'])}: {percent_or_number(row['estimate'], row['term'])}"
    if e.interval is None:
        lead += ". This method gives no valid interval here"
    else:
        low, high = (percent_or_number(row[end], row["term"]) for end in ("lower", "upper"))
        lead += f" ({100 * e.interval.level:g}% interval {low} to {high})"
    words = {m: describe(cls) for kind in ("estimators", "resubstitution") for m, cls in classes_in(kind).items()}
    method = f"Method {e.method}: {words[e.method]}" if e.method in words else f"Method {e.method}."
    measure = classes_in("measures").get(row["term"])
    higher = getattr(measure, "direction", "lower") == "higher"
    about = (
        f"This is the {measure_name(row['term'])} of {e.target}; higher is better."
        if higher
        else f"This is the error of {e.target}."
    )
    blocks: list[Block] = [Text(f"{lead}. {about}", lead=True), Text(method)]
    made = picture(e, "interval")
    return Section("headline", "The answer", [*blocks, *([made] if made is not None else [])])


@section(Estimate, 70)
def numbers(e: Estimate) -> Section:
    """Return all figures of the estimate."""
    row = e.on_scale().row()
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


@section(Estimate, 90)
def repeat_estimate(e: Estimate) -> Section | None:
    """Return the call that gives the estimate again, if it is known."""
    return repeat_section(e.command, [["method", e.method], ["loss", e.loss]]) if e.command else None


@section(Estimate, 80)
def estimate_notes(e: Estimate) -> Section | None:
    """Return the notes, if there are any."""
    return Section("notes", "Notes", [Notes(e.notes)]) if e.notes else None


SUMMARY_WORDS = {
    "avr": "mean",
    "tavr": "trimmed mean",
    "med": "median",
    "std": "standard deviation",
    "mad": "median absolute deviation",
    "iqr": "quartile distance",
    "q05": "5%",
    "q25": "25%",
    "q75": "75%",
    "q95": "95%",
}
SCALES = {"identity": "as it is", "log1p": "log(1 + error)"}
HOW = (
    "The trimmed mean leaves out 5% at each end. The spread over splits of one data set "
    "shows how the error varies with the rows trained and tested on, mostly the latter; it is no standard error of the mean."
)


def _summaries(rows: Sequence[Mapping[str, Any]], loss: str, caption: str = "") -> Table:
    """Return the summaries of distributions, their columns and scales in words; errors that are shares in per cent."""
    named = []
    for row in rows:
        cells = dict(row)
        if row["scale"] == "identity" and is_rate(loss):
            cells |= {name: TableCell(percent_or_number(row[name], loss), row[name]) for name in SUMMARY_WORDS}
        named.append({**cells, "scale": SCALES.get(row["scale"], row["scale"])})
    return table_of(named, caption, heads=SUMMARY_WORDS)


def _error_of(d: ErrorDistribution) -> str:
    name = measure_name(d.loss) if d.loss and not is_rate(d.loss) else "error"
    return name_with_article(name)


@section(ErrorDistribution, 10)
def summary(d: ErrorDistribution) -> Section:
    """Return what the error is and how it varies."""
    lead = (
        f"Half of the splits have {_error_of(d)} of at most {percent_or_number(d.med, d.loss)}, and 95% of at most "
        f"{percent_or_number(d.fractile(0.95), d.loss)} ({len(d.values)} splits)."
    )
    sizes = f"{d.model or 'The model'}, trained on {d.n_train:.0f} and tested on {d.n_test:.0f} units in each split."
    blocks: list[Any] = [Text(lead, lead=True), Text(sizes), _summaries(d.rows(), d.loss), Text(HOW)]
    return Section("summary", "Distribution of the error", [*blocks, *([Notes(d.notes)] if d.notes else [])])


@section(ErrorDistribution, 20)
def curve(d: ErrorDistribution) -> Section | None:
    """Return the distribution function."""
    return figure_section(d, "error-distribution", "distribution", "Distribution over splits")


@section(DistributionComparison, 10)
def comparison(c: DistributionComparison) -> Section:
    """Return the difference with both standard errors."""
    warning = (
        "The naive standard error takes overlapping splits for independent ones and is too small; it is shown because "
        "it is often quoted. The corrected one is meant to be on the safe side. The share of splits on which the first is worse is about splits, not about data sets."
    )
    blocks: list[Any] = [Text(str(c), lead=True), table_of(c.rows()), Text(warning)]
    each = [{"model": name, **row} for name, d in zip(c.names, (c.first, c.second)) for row in d.rows()]
    blocks += [_summaries(each, c.first.loss, "Each model by itself"), *([Notes(c.notes)] if c.notes else [])]
    return Section("summary", "Comparison on the same splits", blocks)


@section(DistributionComparison, 20)
def distribution_overlay(c: DistributionComparison) -> Section | None:
    """Return both distribution functions."""
    return figure_section(c, "error-distributions", "distributions", "Distributions over splits")


@section(DistributionComparison, 30)
def differences(c: DistributionComparison) -> Section | None:
    """Return the differences split by split."""
    return figure_section(c, "error-differences", "differences", "Differences split by split")


@section(DistributionComparison, 90)
@section(ErrorDistribution, 90)
def repeat_distribution(d: ErrorDistribution | DistributionComparison) -> Section | None:
    """Return the command or the call that gives the distribution again, if it is known."""
    plan = d.plan if isinstance(d, ErrorDistribution) else d.first.plan
    facts: list[list[Any]] = [["splits", len(d.values)], *([["fingerprint of the splits", plan]] if plan else [])]
    return repeat_section(d.command, facts) if d.command else None


@section(Resubstitutions, 10)
def resubstitution_estimates(result: Resubstitutions) -> Section:
    """Return all estimates, with the error of their integration and their notes."""
    loss = in_units(result.headline).loss

    def shown(value: float | None) -> TableCell | None:
        return None if value is None else TableCell(percent_or_number(value, loss), value)

    rows = [
        [
            e.method,
            *(shown(v) for v in (in_units(e).value, getattr(e, "mc_error", None), e.expected_rms, e.worst_rms)),
            " ".join(n.code for n in e.notes),
        ]
        for e in result.estimates
    ]
    caption = (
        f"All estimates, from the {result.headline.target.size} the model was trained on. The integration error is that of "
        f"the computation alone. {result.rms_sentence()}"
    )
    head = ["method", "error", "integration error", "expected RMS", "on the worst data set", "notes"]
    blocks: list[Block] = [
        Text(result.sentence(), lead=True),
        Text(result.meaning()),
        Table(head, rows, caption.strip()),
    ]
    notes = merge_notes(*(e.notes for e in result.estimates))
    return Section("estimates", "Error without retraining", [*blocks, *([Notes(notes)] if notes else [])])


@section(Resubstitutions, 15)
def contributions(result: Resubstitutions) -> Section | None:
    """Return which training points the error comes from."""
    drawn = picture(result, "contributions")
    return None if drawn is None else Section("contributions", "Where the error comes from", [drawn])


@section(Resubstitutions, 90)
def repeat_resubstitutions(result: Resubstitutions) -> Section | None:
    """Return the command or the call that gives the estimates again, if it is known."""
    return repeat_section(result.command, [["model", result.model]]) if result.command else None


@section(Resubstitutions, 20)
def resubstitution_methods(result: Resubstitutions) -> Section:
    """Return what each method is, and why others were left out."""
    classes = classes_in("resubstitution")
    rows = [[e.method, describe(classes[e.method])] for e in result.estimates if e.method in classes]
    blocks: list[Block] = [Table(["method", "what it is"], rows)]
    if result.left_out:
        blocks.append(Table(["left out", "why"], [list(pair) for pair in result.left_out.items()]))
    return Section("methods", "Methods", blocks)


@section(CalibratedEstimate, 30)
def calibration(e: CalibratedEstimate) -> Section | None:
    """Return the bias seen for every size of the kernels, drawn and in numbers."""
    if e.curve is None or e.deviations is None:
        return None
    text = (
        f"{e.deviations.shape[1]} copies were trained on 80% of the data. With kernels scaled by kappa = {e.kappa:.4g} their bolstered error comes "
        f"nearest to the error on the 20% left out; the estimate is {100 * e.value:.1f}%, and {100 * e.uncalibrated:.1f}% at kappa = 1."
    )
    spread = e.calibration_error
    if spread == spread:
        text += f" Other splits and other copies would move the estimate by about {100 * spread:.1f} points (standard error)."
    made = picture(e, "calibration")
    table = Table(["kappa", "mean bias", "spread over copies"], [[float(v) for v in line] for line in e.curve])
    blocks: list[Block] = [Text(text), *([made] if made is not None else []), table]
    return Section("calibration", "Calibration", blocks)
