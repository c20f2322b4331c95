"""Sections of the report of measures scored on a table of networks."""

from __future__ import annotations

from unseen.nets._measure_scores import MeasureScores
from unseen.report._sections import Block, Notes, Section, Table, Text, picture, section

__all__ = ["answer"]


@section(MeasureScores, 10)
def answer(found: MeasureScores) -> Section:
    """Return which measure says most about the gap, in words, and the figure of scores."""
    best = found.best_first()[0]
    score, floor = found.scores[best], found.floors[best]
    above = sum(s.value > found.floors[name].quantile for name, s in found.scores.items())
    lead = f"{best} scores {100 * score.value:.1f} of 100, where one in twenty measures without information passes {100 * floor.quantile:.1f} (p = {floor.p_value:.3g})."
    if len(found.scores) > 1 and best in found.adjusted:
        lead += f" It is the best of {len(found.scores)}: adjusted for that, p = {found.adjusted[best]:.3g}."
    about = f"{above} of {len(found.scores)} measures are above their noise floor, on {score.n_networks} networks."
    made = picture(found, "scores")
    blocks: list[Block] = [Text(lead, lead=True), Text(about), *([made] if made is not None else [])]
    return Section("answer", "Which measure can be trusted", [*blocks, *([Notes(found.notes)] if found.notes else [])])


@section(MeasureScores, 20)
def table(found: MeasureScores) -> Section:
    """Return the table of all scores."""
    caption = (
        "CMI: as the PGDL competition's program scores, out of 100, with its interval over seeds where there are several; floor: what one in twenty measures without "
        "information exceeds; p: by permutation, of this measure alone; adjusted: for looking at all of them; tau: Kendall's correlation with the gap, below 0 where the measure points the wrong way; least with: the hyper-parameters held fixed when it scores least."
    )
    columns = ["measure", "CMI", "lower", "upper", "floor", "p", "adjusted p", "tau", "least with", "networks"]
    rows = [list(row.values()) for row in sorted(found.rows(), key=lambda row: -row["cmi"])]
    return Section("table", "All measures", [Table(columns, rows, caption)])


@section(MeasureScores, 30)
def scatter(found: MeasureScores) -> Section | None:
    """Return the gaps against the best measure."""
    made = picture(found, "scatter")
    return None if made is None else Section("scatter", "Gap against the best measure", [made])


@section(MeasureScores, 40)
def sets(found: MeasureScores) -> Section | None:
    """Return what the best measure scores for every set of hyper-parameters held fixed."""
    best = found.best_first()[0]
    made = picture(found.scores[best], "sets")
    return None if made is None else Section("sets", f"What {best} scores by what is held fixed", [made])
