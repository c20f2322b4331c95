"""Sections of an assessment's report: the headline, what supports it, and how to repeat it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from unseen.core.notes import merge_notes
from unseen.core.registry import describe, known
from unseen.core.set_losses import as_measure
from unseen.display._style import measure_name, quantity
from unseen.report._sections import Block, Cell, Notes, Section, Table, Text, picture, section
from unseen.report.assessment_estimates import distinct
from unseen.verbs.assessment import Assessment, percent_or_number

__all__ = ["shown_model"]

LONGEST_MODEL = 80


def shown_model(name: str) -> str:
    """Return a model's name as sentences use it; the full one stands in the last section.

    Examples
    --------
    >>> len(shown_model("Pipeline(" + "x" * 200))
    80
    """
    return name if len(name) <= LONGEST_MODEL else name[: LONGEST_MODEL - 1] + "…"


@section(Assessment, 10)
def headline(a: Assessment) -> Section:
    """Return the answer in plain words, and all estimates on one axis."""
    lead = a.sentence().replace(a.model, shown_model(a.model), 1)
    blocks: list[Block] = [Text(lead, lead=True), Text(a.baseline_sentence() + _against_baseline(a))]
    blocks += [Text(text) for text in (a.best_sentence(), _about(a)) if text]
    if not a.complete:
        blocks.append(Text("The run was interrupted before its end; this report shows what was finished by then."))
    if a.notes:
        titles = ", ".join(dict.fromkeys(f"{n.title} ({n.code})" for n in a.notes))
        blocks.append(Text(f"To be kept in mind: {titles}; the notes say more."))
    made = picture(a, "estimates")
    return Section("headline", "The answer", [*blocks, *([made] if made is not None else [])])


def _against_baseline(a: Assessment) -> str:
    """Say whether the interval leaves room for being no better than guessing."""
    if a.interval is None:
        return ""
    below, above = ("below", "above") if a.scale == "error" else ("above", "below")
    if a.interval.high < a.baseline.value:
        return f" The whole interval lies {below} that."
    if a.interval.low > a.baseline.value:
        # the class to guess was chosen on the same rows, so that guessing looks better than it is where classes are balanced
        reach = a.baseline.interval.high if a.baseline.interval is not None else a.baseline.value
        sure = (
            "the model does worse than guessing"
            if a.interval.low > reach
            else "but not clear of what guessing may have"
        )
        return f" The whole interval lies {above} that{': ' if a.interval.low > reach else ', '}{sure}."
    return " The interval reaches that value: these data do not show that the model is better than guessing."


def _about(a: Assessment) -> str:
    data = a.data
    parts = [f"{data.n} rows"]
    if data.n_features:
        parts.append(f"{data.n_features} feature{'s' if data.n_features > 1 else ''}")
    if data.groups is not None:
        parts.append(f"{data.n_units} groups, never split")
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
    return f"{text}. {fits} models were fitted; the run took {a.seconds:.1f} s."


NAMES = {"avr": "mean", "tavr": "trimmed mean", "med": "median", "std": "std. deviation", "mad": "median abs. deviation",
         "iqr": "quartile distance", "q05": "5% fractile", "q25": "25% fractile", "q75": "75% fractile", "q95": "95% fractile"}  # fmt: skip
SCALES = {"identity": "error G", "log1p": "log(1 + G)"}


@section(Assessment, 30)
def distribution(a: Assessment) -> Section | None:
    """Return the distribution of the error over leave-out splits."""
    made, spread = picture(a, "distribution"), a.distribution
    if made is None or spread is None:
        return None
    summaries = spread.rows()
    rows = [[NAMES[key], *(summary[key] for summary in summaries)] for key in NAMES]
    columns = ["over splits", *(SCALES[str(summary["scale"])] for summary in summaries)]
    caption = (
        f"Summary of {len(spread.values)} splits, {spread.n_train:g} units trained on and {spread.n_test:g} tested."
    )
    if a.scale != "error":
        caption += f" The error G is {spread.loss}."
    return Section("distribution", "Error from split to split", [made, Table(columns, rows, caption, sortable=False)])


@section(Assessment, 40)
def optimism(a: Assessment) -> Section | None:
    """Return training and test error by split."""
    made = picture(a, "optimism")
    if made is None:
        return None
    table = a.tables[a.headline_design]
    loss, trained = as_measure(table.loss, table.train_errors())
    errors = {"training": trained, "test": as_measure(table.loss, table.split_means())[1]}
    errors["optimism (test less training)" if a.scale == "error" else "optimism (training less test)"] = (
        table.optimism()
    )
    rows = [
        [name, *(Cell(percent_or_number(float(f(v)), loss), float(f(v))) for f in (np.mean, np.min, np.max))]
        for name, v in errors.items()
    ]
    summary = Table(
        [quantity(loss), "mean", "smallest", "largest"], rows, f"Over {len(table.completed)} splits.", sortable=False
    )
    return Section("optimism", f"Training and test {quantity(loss)}", [made, summary])


@section(Assessment, 50)
def learning_curve(a: Assessment) -> Section | None:
    """Return the learning curve."""
    from unseen.display.learning_curve import info as curve_info

    made, numbers = picture(a, "learning-curve"), curve_info(a)
    if made is None or numbers is None:
        return None
    word = quantity(numbers.loss)
    columns = {f"test {word}": numbers.test}
    if numbers.train is not None:
        columns[f"training {word}"] = numbers.train
    rows = [
        [float(size), *(Cell(percent_or_number(float(v[k, 0]), numbers.loss), float(v[k, 0])) for v in columns.values()),
         int(numbers.repeats[k])]
        for k, size in enumerate(numbers.sizes)
    ]  # fmt: skip
    table = Table(["trained on", *columns, "repetitions"], rows, "Means of the repetitions.", sortable=False)
    return Section("learning-curve", "Learning curve", [made, table])


@section(Assessment, 60)
def predictions(a: Assessment) -> Section | None:
    """Return the confusion matrix, or predicted against observed numbers."""
    name, title = ("confusion", "Confusions") if a.data.task == "classification" else ("residuals", "Predictions")
    made = picture(a, name)
    if made is None:
        return None
    blocks: list[Block] = [made]
    if name == "confusion":
        blocks += _most_confused(a)
    return Section(name, title, blocks)


def _most_confused(a: Assessment) -> list[Block]:
    """List the largest confusions where the matrix is too large to carry numbers."""
    from unseen.display.confusion import NUMBERED_CLASSES
    from unseen.display.confusion import info as confusion_info

    numbers = confusion_info(a)
    if numbers is None or len(numbers.classes) <= NUMBERED_CLASSES:
        return []
    off = np.where(np.eye(len(numbers.classes), dtype=bool), 0.0, numbers.counts)
    order = np.argsort(-off, axis=None, kind="stable")[:12]
    rows = [
        [numbers.classes[i], numbers.classes[j], float(off[i, j]), Cell(f"{100 * numbers.shares[i, j]:.0f}%", float(numbers.shares[i, j]))]
        for i, j in zip(*np.unravel_index(order, off.shape))
        if off[i, j] > 0
    ]  # fmt: skip
    caption = "The most frequent confusions."
    if len(numbers.classes) < numbers.n_classes:
        caption += f" The picture shows the {len(numbers.classes)} most confused of {numbers.n_classes} classes."
    return [Table(["true", "predicted", "cases", "share of the true class"], rows, caption)] if rows else []


@section(Assessment, 70)
def hardest(a: Assessment) -> Section | None:
    """Return the units that most splits get wrong."""
    from unseen.display.hardest import info as hardest_info

    numbers = hardest_info(a)
    made = picture(a, "hardest")
    if numbers is None or made is None:
        return None
    loss = numbers.measure
    unit = "group" if numbers.grouped else "row" if a.data.ids is None else "id"
    numeric = a.data.task == "regression"
    rows = [
        [Cell(name, float(name) if unit == "row" else name), Cell(truth, float(truth)) if numeric else truth,
         Cell(said, float(said)) if numeric else said or None, Cell(percent_or_number(float(value), loss), float(value)), int(times)]
        for name, truth, said, value, times in zip(numbers.name, numbers.truth, numbers.said, numbers.loss, numbers.tested)
    ]  # fmt: skip
    wrong = "most often taken for" if a.data.task == "classification" else "mean prediction"
    score = "missed in" if loss == "zero-one" else f"mean {measure_name(loss)}"
    counted = f"{numbers.never} of {numbers.n_tested} were right in every split"
    counted += f", {numbers.always} wrong in every one." if loss == "zero-one" else "."
    blocks: list[Block] = [
        made,
        Table([unit, f"true {a.data.target_name}", wrong, score, "times tested"], rows, "The hardest units."),
    ]
    return Section("hardest", "Hardest units", [Text(counted), *blocks] if loss == "zero-one" else blocks)


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
    """Return what each method does, in a line."""
    words = {name: describe(cls) for kind in ("estimators", "resubstitution") for name, cls in known(kind).items()}
    names = [row["method"] for row in distinct(a.rows()) if row["method"] in words]
    rows = [[name, words[name].replace("`", "")] for name in names]
    guess = "most frequent class" if a.data.task == "classification" else "mean"
    rows.append(["baseline", f"The headline's method for a model that always guesses the {guess}."])
    return Section("methods", "What the methods do", [Table(["method", "what it does"], rows, sortable=False)])


@section(Assessment, 80)
def notes(a: Assessment) -> Section:
    """Return the notes on data and run, then those on single estimates."""
    blocks: list[Block] = [Notes(a.notes)] if a.notes else [Text("Nothing conspicuous was found in data and run.")]
    others: dict[Any, list[str]] = {}
    for method, estimate in a.estimates.items():
        for one in merge_notes(estimate.notes):
            if one not in a.notes:
                others.setdefault(one, []).append(method)
    if others:
        rows = [[n.code, Cell(n.title, n.title, n.advice), n.text, ", ".join(methods)] for n, methods in others.items()]
        blocks.append(Table(["code", "note", "what was seen", "estimates"], rows, "On single estimates."))
    return Section("notes", "Notes", blocks)
