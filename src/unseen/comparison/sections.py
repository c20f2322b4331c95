"""Sections of the report of a comparison, of one pair, and of a ranking over data sets."""

from __future__ import annotations

import math
from typing import Any

from unseen.assessment.wording import in_units, value_in_units
from unseen.core.comparison import Comparison, Comparisons, p_words
from unseen.core.registry import classes_in, describe
from unseen.core.scale import measure_name
from unseen.evaluation.sections import slice_blocks
from unseen.show.sections import (
    Alarm,
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
from unseen.show.style import is_rate
from unseen.show.text import percent_or_number
from unseen.significance.ranking import Ranking

__all__ = ["answer"]

GAPS = ("difference", "lower", "upper")
ADJUSTED = {"holm": "by Holm's method", "benjamini-hochberg": "by the method of Benjamini and Hochberg"}
MOST_LINES = 6  # sentences about pairs or models before the table says the rest


def _pair_sentence(c: Comparison) -> str:
    loss = c.estimate.loss
    gap = percent_or_number(abs(c.difference), loss)
    gap = gap.replace("%", " percentage points") if "%" in gap else f"{gap} in {measure_name(loss)}"
    size = f"{gap} in favour of {c.better}" if c.better else "equal errors"
    p = c.p_adjusted if c.p_adjusted is not None else c.p
    if p is not None and not math.isnan(p):
        size += f", {p_words(p)}"
    return f"{c.a} against {c.b}: {c.verdict} ({size})."


def _test_words(test: str) -> str:
    words = {m: describe(cls) for kind in ("significance", "estimators") for m, cls in classes_in(kind).items()}
    return f"How: {words[test]}" if test in words else ""


@section(Comparisons, 10)
def answer(c: Comparisons) -> Section:
    """Return the sentence, which test it rests on and what it is about, and each model's own error."""
    words = [c.test_sentence, _test_words(c.test), c.scale_sentence()]
    own = [Text(f"{line}.") for line in c.model_sentences()[:MOST_LINES]]
    warning = [] if c.trust.ok else [Alarm(c.trust.warning(), " ".join(n.advice for n in c.notes if n.alarm))]
    lead = Text(c.answer, lead=True)
    return Section("answer", "The answer", [*warning, lead, *own, *(Text(text) for text in words if text)])


@section(Comparisons, 30)
def pairs(c: Comparisons) -> Section:
    """Return every verdict in plain words, the differences on one axis, and the table of all pairs."""
    count = ""
    if len(c) > 1:
        adjusted = c.pairs[0].p is not None
        count = (
            f"P-values are adjusted for {len(c)} pairs {ADJUSTED.get(c.adjust, f'by the method {c.adjust}')}."
            if adjusted and c.adjust != "none"
            else f"There are {len(c)} pairs."
        )
    lines = [_pair_sentence(pair) for pair in c.pairs[:MOST_LINES]]
    if len(c) > MOST_LINES:
        lines.append(f"The other {len(c) - MOST_LINES} pairs are in the table.")
    made = picture(c, "differences")
    blocks: list[Block] = [Text(text) for text in (*lines, count) if text]
    return Section("pairs", "The pairs", [*blocks, *([made] if made is not None else []), _pair_table(c)])


def _pair_table(c: Comparisons) -> Table:
    caption = "difference: error of a minus error of b; lower and upper end its interval."
    if any(pair.share_of_splits is not None for pair in c.pairs):
        caption += (
            " share of splits: those on which a has the smaller error, ties counted half; it is about splits of these data, not about "
            "new data."
        )
    heads = {
        "a": "a",
        "b": "b",
        "difference": "difference",
        "lower": "lower",
        "upper": "upper",
        "p": "p",
        "p_adjusted": "adjusted",
        "share_of_splits": "share of splits",
        "rope": "region",
        "verdict": "verdict",
    }
    rows = c.rows()
    kept = {name: head for name, head in heads.items() if any(row[name] is not None for row in rows)}
    rate = all(is_rate(pair.estimate.loss) for pair in c.pairs)
    if rate:
        kept["difference"] += " (points)"
    cells = [[_pair_cell(name, row[name], rate) for name in kept] for row in rows]
    return Table([*kept.values()], cells, caption)


def _pair_cell(name: str, value: Any, rate: bool) -> Any:
    """Return a cell of the pairs: differences of a rate in points, shares in per cent, p-values as they are said."""
    if not isinstance(value, float) or math.isnan(value):
        return value
    if name in ("p", "p_adjusted"):
        return TableCell(p_words(value, ""), value)
    if name == "share_of_splits":
        return TableCell(f"{100 * value:.0f}%", value)
    return TableCell(f"{100 * value + 0.0:+.1f}", value) if rate and name in GAPS else value


@section(Comparisons, 35)
def slices(c: Comparisons) -> Section | None:
    """Return the difference of each pair in every slice."""
    blocks = [block for s in c.slices for block in slice_blocks(s)]
    return Section("slices", "By slice", blocks) if blocks else None


@section(Comparisons, 40)
def posterior(c: Comparisons) -> Section | None:
    """Return the posterior densities of a Bayesian test."""
    return figure_section(c, "posterior", "posterior", "Posterior of the differences")


@section(Comparisons, 20)
def models(c: Comparisons) -> Section:
    """Return each model by itself, and what choosing the best costs."""
    w = c.winner
    naive, corrected = (
        percent_or_number(told, loss) for loss, told in (value_in_units(w.loss, x) for x in (w.naive, w.corrected))
    )
    best, what = w.best.split(" ", 1)
    what = what if what == "error" else measure_name(what)
    how = f"bootstrap bias-corrected cross-validation, {w.n_bootstrap} draws"
    if naive == corrected:
        luck = f"correcting for that choice among {w.n_models} models leaves these digits as they are ({how})."
    else:
        luck = (
            f"that number is too optimistic: {corrected} is the {what} to expect of the best of {w.n_models} models chosen "
            f"like this ({how})."
        )
    text = f"{w.name} has the {best} {what}, {naive}. It was chosen on the same data; {luck}"
    shown = {name: in_units(e).row() for name, e in c.estimates.items()}
    numbers = ("estimate", "std_error", "lower", "upper")
    rows = [
        {"model": name, **row, "measure": measure_name(row["term"])}
        | {
            key: None if row[key] is None else TableCell(percent_or_number(row[key], row["term"]), row[key])
            for key in numbers
        }
        for name, row in shown.items()
    ]
    noted = ["note"] if any(row["note"] for row in rows) else []
    columns = ["model", "measure", "estimate", "std_error", "lower", "upper", "method", "fits", *noted]
    table = Table(columns, [[row[name] for name in columns] for row in rows], "Each model by itself.")
    made = picture(c, "models")
    return Section("models", "The models by themselves", [Text(text), *([made] if made else []), table])


@section(Comparisons, 80)
def notes(c: Comparisons) -> Section | None:
    """Return the notes, if there are any."""
    return Section("notes", "Notes", [Notes(c.notes)]) if c.notes else None


@section(Comparisons, 90)
def repeat(c: Comparisons) -> Section:
    """Return what is needed to get the same numbers again."""
    facts = [["models", ", ".join(c.estimates)], ["test", c.test], ["seed", str(c.seed)]]
    return repeat_section(c.command, facts)


@section(Comparison, 10)
def one_pair(c: Comparison) -> Section:
    """Return one pair in plain words with its picture and numbers."""
    made = picture(c, "difference")
    test = Text(f"Test: {c.test}. {_test_words(c.test)}".rstrip())
    blocks: list[Block] = [Text(_pair_sentence(c), lead=True), test, *([made] if made else [])]
    rows = [[name, value] for name, value in c.to_dict().items() if name not in ("notes", "region")]
    return Section("answer", "The answer", [*blocks, Table(["what", "value"], rows, "All figures.", sortable=False)])


@section(Comparison, 30)
def one_posterior(c: Comparison) -> Section | None:
    """Return the posterior density of a Bayesian test."""
    return figure_section(c, "posterior", "posterior", "Posterior of the difference")


@section(Comparison, 80)
def one_notes(c: Comparison) -> Section | None:
    """Return the notes, if there are any."""
    return Section("notes", "Notes", [Notes(c.notes)]) if c.notes else None


@section(Ranking, 10)
def ranking(r: Ranking) -> Section:
    """Return the ranks, the test in words and the critical-difference diagram."""
    shown = "differ" if r.p < 1 - r.level else "are not shown to differ"
    text = f"Over {r.n_datasets} data sets the {len(r.names)} models {shown} (Friedman chi-square {r.statistic:.4g}, p {r.p:.3g})."
    made = picture(r, "ranks")
    blocks: list[Block] = [Text(text, lead=True), *([made] if made else []), table_of(r.rows())]
    return Section("answer", "The answer", [*blocks, *([Notes(r.notes)] if r.notes else [])])
