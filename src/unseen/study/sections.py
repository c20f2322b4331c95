"""The report of a study: what was run, every figure with its Monte-Carlo error, box plots, coverage, and who is nearer."""

from __future__ import annotations

from typing import Any

from unseen.show.sections import Block, Section, Table, Text, figure_section, picture, section, table_of
from unseen.study.summary import StudySummary

__all__: list[str] = []

MOST_GROUPS = 40  # populations and models with figures; more would make the page too heavy to mail
HOW = (
    "Bias, variance and RMS are those of the deviation: estimate minus the true error of the model fitted on all n rows. "
    "Coverage is that of the target each method declares: the very model, or the expected error of the algorithm at "
    "its training size, for which target bias is given too. Internal is the variance a method has on one and the same "
    "sample; total is the variance of the estimate. Every number has its Monte-Carlo error beside it."
)


@section(StudySummary, 10)
def summary(s: StudySummary) -> Section:
    """Return what was run and how much of it is done."""
    lead = f"{s.name}: {s.done} of {s.total} tasks done, {s.replications} replications, seed {s.seed}."
    blocks: list[Block] = [Text(lead, lead=True)]
    if s.failed:
        blocks.append(Text(f"{s.failed} tasks failed; they are left out of every figure."))
    if not s.complete:
        blocks.append(Text("The study is not complete: the numbers are those of the tasks that are done."))
    best = [_nearest(s, *group) for group in s.groups()]
    rows = [row for row in best if row is not None]
    if rows:
        columns = ["population", "model", "n", "smallest RMS", "RMS", "not shown to be worse"]
        blocks.append(Table(columns, rows, "The estimator nearest the truth at the largest size"))
    return Section("summary", s.title, [*blocks, Text(HOW)])


def _nearest(s: StudySummary, population: str, model: str) -> list[Any] | None:
    """Return the estimator with the smallest RMS at the largest size, and those that may be as good."""
    cells = [c for c in s.only(population, model).cells if c.cell.kind == "estimate"]
    if not cells:
        return None
    n = max(c.cell.n for c in cells)
    first = min((c for c in cells if c.cell.n == n), key=lambda c: c.deviation.rms)
    name = first.cell.method
    pairs = [p for p in s.pairs if (p.population, p.model, p.n) == (population, model, n) and name in (p.a, p.b)]
    others = [p.a if p.b == name else p.b for p in pairs if p.verdict == "no difference shown"]
    return [population, model, n, name, first.deviation.rms, ", ".join(others) or "none"]


@section(StudySummary, 20)
def pictures(s: StudySummary) -> Section | None:
    """Return box plots and RMS for every population and model."""
    blocks: list[Block] = []
    groups = s.groups()
    for population, model in groups[:MOST_GROUPS]:
        part = s.only(population, model)
        blocks += [p for name in ("study-deviations", "study-rms") if (p := picture(part, name)) is not None]
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
    return Section("numbers", "All numbers", [table_of(s.rows())]) if s.cells else None


@section(StudySummary, 60)
def estimator_pairs(s: StudySummary) -> Section | None:
    """Return the paired tests between estimators."""
    if not s.pairs:
        return None
    how = (
        "Mean squared deviation of the first minus that of the second on the same samples, by paired t tests; p-values are "
        f"adjusted by Holm's method for all {len(s.pairs)} pairs of the study."
    )
    return Section("pairs", "Which estimator is nearer the truth", [Text(how), table_of([p.row() for p in s.pairs])])
