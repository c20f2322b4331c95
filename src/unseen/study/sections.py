"""The report of a study: what was run, every figure with its Monte-Carlo error, box plots, coverage, and who is nearer."""

from __future__ import annotations

from dataclasses import replace

from unseen.core.comparison import p_words
from unseen.show.sections import (
    Block,
    Picture,
    Section,
    Table,
    TableCell,
    Text,
    figure_section,
    picture,
    section,
    table_of,
)
from unseen.study.summary import StudySummary
from unseen.study.summary_table import split_columns, summary_table, unit_of, with_error

__all__: list[str] = []

MOST_GROUPS = 40  # populations and models with figures; more would make the page too heavy to mail
HOW = (
    "Bias, variance and RMS are those of the deviation: estimate minus the true error of the model fitted on all n rows. "
    "Coverage is that of the target each method declares: the very model, or the expected error of the algorithm at "
    "its training size, for which target bias is given too. Internal is the variance a method has on one and the same "
    "sample; total is the variance of the estimate. Every number has its Monte-Carlo error beside it; that of a per cent is in "
    "percentage points. Variances and mean squares are of shares, not of per cents."
)


@section(StudySummary, 10)
def summary(s: StudySummary) -> Section:
    """Return what was run and how much of it is done."""
    state = f"Study “{s.name}”: {s.done} of {s.total} tasks done, {s.replications} replications, seed {s.seed}."
    blocks: list[Block] = [Text(s.sentence, lead=True), Text(state)] if s.sentence else [Text(state, lead=True)]
    if s.failed:
        blocks.append(Text(f"{s.failed} tasks failed; they are left out of every figure."))
    if not s.complete:
        blocks.append(Text("The study is not complete: the numbers are those of the tasks that are done."))
    best = [one for group in s.groups() if (one := s.nearest(*group)) is not None]
    rows = [
        [
            b.population,
            b.model,
            b.n,
            b.method,
            with_error(b.rms, unit=unit_of("rms", b.loss)),
            ", ".join(b.ties) or "none",
        ]
        for b in best
    ]
    if len(rows) > 1:
        columns = ["population", "model", "n", "smallest RMS", "RMS", "not shown to be worse"]
        blocks.append(Table(columns, rows, "The estimator nearest the truth at the largest size"))
    groups = s.groups()
    drawn = _rms_picture(s, *groups[0]) if groups else None
    return Section("summary", s.title, [*blocks[:1], *([drawn] if drawn is not None else []), *blocks[1:], Text(HOW)])


def _rms_picture(s: StudySummary, population: str, model: str) -> Picture | None:
    """Return the RMS of one population and model, named if the study has several."""
    drawn = picture(s.only(population, model), "study-rms")
    if drawn is None or len(s.groups()) == 1:
        return drawn
    return replace(drawn, caption=f"RMS for {model}, {population}. {drawn.caption}")


@section(StudySummary, 20)
def pictures(s: StudySummary) -> Section | None:
    """Return box plots for every population and model, and the RMS of those after the first, whose RMS stands above."""
    blocks: list[Block] = []
    groups = s.groups()
    for k, (population, model) in enumerate(groups[:MOST_GROUPS]):
        boxes = picture(s.only(population, model), "study-deviations")
        blocks += [p for p in (boxes, _rms_picture(s, population, model) if k else None) if p is not None]
    if len(groups) > MOST_GROUPS:
        blocks.append(Text(f"Figures of {len(groups) - MOST_GROUPS} more models are left out."))
    return Section("deviations", "Deviation from the true error", blocks) if blocks else None


@section(StudySummary, 30)
def intervals(s: StudySummary) -> Section | None:
    """Return coverage for every population and model that has intervals."""
    return _each(s, "study-coverage", "coverage", "Coverage of intervals")


@section(StudySummary, 40)
def tests(s: StudySummary) -> Section | None:
    """Return size and power of tests."""
    return _each(s, "study-rejections", "tests", "Size and power of tests")


def _each(s: StudySummary, figure: str, id: str, title: str) -> Section | None:
    groups = s.groups()[:MOST_GROUPS]
    if len(groups) == 1:
        return figure_section(s, figure, id, title)
    blocks: list[Block] = []
    for population, model in groups:
        found = picture(s.only(population, model), figure)
        if found is not None:
            blocks += [Text(f"{population}, {model}"), found]
    return Section(id, title, blocks) if blocks else None


@section(StudySummary, 50)
def numbers(s: StudySummary) -> Section | None:
    """Return every figure."""
    table, words = summary_table(s.rows(), "Monte-Carlo errors in brackets.", [one.cell.loss for one in s.cells])
    if table is None:
        return None
    parts = [part for part in split_columns(table) if part is not None]
    return Section("numbers", "All numbers", [*map(Text, words), *parts])


def _p_cell(p: float | None) -> TableCell | None:
    return None if p is None else TableCell(p_words(p, ""), p)


@section(StudySummary, 60)
def estimator_pairs(s: StudySummary) -> Section | None:
    """Return the paired tests between estimators."""
    if not s.pairs:
        return None
    how = (
        "Mean squared deviation of the first minus that of the second on the same samples, by paired t tests; p-values are "
        f"adjusted by Holm's method for all {len(s.pairs)} pairs of the study."
    )
    same = [k for k in ("population", "model") if len({getattr(p, k) for p in s.pairs}) == 1]
    rows = [
        {
            k.replace("_", " "): _p_cell(v) if k in ("p", "p_adjusted") else v
            for k, v in p.row().items()
            if k not in same
        }
        for p in s.pairs
    ]
    return Section("pairs", "Which estimator is nearer the truth", [Text(how), table_of(rows)])
