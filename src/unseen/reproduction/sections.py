"""Report sections of every experiment: what was run, what has to hold, and every published number; at one seed or at several."""

from __future__ import annotations

from typing import Any

from unseen.reproduction.record import Reproduction
from unseen.reproduction.seeds import SeedRuns
from unseen.show.sections import Section, Table, Text, figure_section, section, table_of

__all__: list[str] = []


@section(Reproduction, 10)
def summary(result: Reproduction) -> Section:
    """Return what was run and what has to hold."""
    run = f"{result.source}. {result.replications} replications, seed {result.seed}, {result.seconds:.0f} s."
    blocks: list[Any] = [Text(result.sentence, lead=True), Text(run), *map(Text, result.remarks)]
    if result.checks:
        rows = [[c.name, c.value, c.limits, "passed" if c.passed else "FAILED"] for c in result.checks]
        blocks.append(Table(["check", "value", "limits", "outcome"], rows))
    return Section("summary", result.title, blocks)


@section(Reproduction, 20)
def differences(result: Reproduction) -> Section | None:
    """Return the figure of differences."""
    return figure_section(result, "reproduction-z", "differences", "Differences in Monte-Carlo errors")


@section(Reproduction, 30)
def cells(result: Reproduction) -> Section:
    """Return every cell."""
    return Section("cells", "Published and ours", [table_of(result.rows())])


@section(SeedRuns, 10)
def seeds_summary(result: SeedRuns) -> Section:
    """Return what was run, and every check."""
    first = result.runs[0]
    run = f"{first.source}. {first.replications} replications at each of the seeds {_seeds_in_words(result.seeds)}, {result.seconds:.0f} s."
    head = ["check", "limits", "mean", "smallest", "largest", "passes at"]
    rows = [
        [c.name, c.limits, c.mean.value, min(c.values), max(c.values), f"{c.passing} of {len(result.seeds)}"]
        for c in result.checks
    ]
    return Section("summary", result.title, [Text(result.sentence, lead=True), Text(run), Table(head, rows)])


@section(SeedRuns, 20)
def seeds_checks(result: SeedRuns) -> Section | None:
    """Return the figure of the checks."""
    return figure_section(result, "checks-over-seeds", "checks", "Checks at every seed")


@section(SeedRuns, 30)
def seeds_cells(result: SeedRuns) -> Section | None:
    """Return the published numbers and the mean of ours."""
    rows = result.cells()
    if not rows:
        return None
    text = "Mean over the seeds of ours, and of the difference in Monte-Carlo errors of one run; in how many runs the two agree."
    return Section("cells", "Published and ours", [Text(text), table_of(rows)])


def _seeds_in_words(seeds: tuple[int, ...]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
