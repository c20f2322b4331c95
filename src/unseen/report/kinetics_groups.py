"""Report of a comparison of groups by their kinetics."""

from __future__ import annotations

from unseen.core.notes import merge_notes
from unseen.kinetics._compare_groups import GroupComparison
from unseen.report._sections import Block, Cell, Notes, Section, Table, Text, picture, section
from unseen.report.kinetics_fit import each_subject, subjects

__all__ = ["headline"]


@section(GroupComparison, 10)
def headline(result: GroupComparison) -> Section:
    """The answer in words and the error estimates."""
    sizes = ", ".join(f"{k} ({v})" for k, v in result.sizes.items())
    rows = []
    for name, e in result.estimates.items():
        span = "none valid" if e.interval is None else f"{100 * e.interval.low:.0f}% to {100 * e.interval.high:.0f}%"
        rows.append([name, Cell(f"{100 * e.value:.1f}%", e.value), span, str(e.target)])
    text = (
        f"Groups of {result.group}: {sizes}. The classifier sees the logarithms of rates and pools. The p-value is the share of "
        f"{result.permutations} permutations of the labels (and the study itself) whose error by {result.decided_by} is as small or smaller."
    )
    blocks: list[Block] = [Text(result.sentence(), lead=True), Text(text)]
    blocks.append(
        Table(
            ["method", "error", "95% interval", "error of"],
            rows,
            f"Naming the largest group errs in {100 * result.chance:.0f}%.",
        )
    )
    return Section("answer", "The answer", blocks)


@section(GroupComparison, 20)
def features(result: GroupComparison) -> Section:
    """Every rate and pool by itself."""
    groups = list(result.sizes)
    rows = [[f.name, *(f.means[g] for g in groups), f.statistic, f.p_value, f.adjusted] for f in result.features]
    columns = ["feature", *(f"mean {g}" for g in groups), "statistic", "p", "adjusted p"]
    caption = "Geometric means; Welch's t of the logarithms (F for more than two groups); p by permutation, adjusted by the largest statistic. A small p says that the groups differ, in their means or, where a small group is much more spread than a large one, in that."
    made = picture(result, "groups")
    return Section(
        "features", "Which rates and pools differ", [*([made] if made else []), Table(columns, rows, caption)]
    )


@section(GroupComparison, 30)
def fitted(result: GroupComparison) -> Section | None:
    """The fits behind the comparison."""
    return subjects(result.study)


@section(GroupComparison, 40)
def each(result: GroupComparison) -> Section | None:
    """Every subject."""
    return each_subject(result.study)


@section(GroupComparison, 50)
def notes(result: GroupComparison) -> Section:
    """Coded remarks."""
    return Section("notes", "Notes", [Notes(merge_notes(result.notes, result.study.notes))])
