"""The report of a reproduction: what was run, what has to hold, every cell, and how the differences are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction._record import AGREES_WITHIN, Reproduction
from unseen.show.figures import PALETTE, Figure, figure
from unseen.show.sections import Section, Table, Text, figure_section, section, table_of
from unseen.show.style import tidy

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
def spread(result: Reproduction) -> Section | None:
    """Return the figure of differences."""
    return figure_section(result, "reproduction-z", "differences", "Differences in Monte-Carlo errors")


@section(Reproduction, 30)
def cells(result: Reproduction) -> Section:
    """Return every cell."""
    return Section("cells", "Published and ours", [table_of(result.rows())])


@dataclass(frozen=True)
class Differences:
    """Differences in Monte-Carlo errors, table by table."""

    tables: tuple[str, ...]
    z: tuple[Floats, ...]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        every = np.concatenate(self.z)
        inside = int(np.sum(np.abs(every) <= AGREES_WITHIN))
        return f"{inside} of {len(every)} differences within {AGREES_WITHIN:g}, from {every.min():.1f} to {every.max():.1f}"


def _info(result: Reproduction) -> Differences | None:
    judged = [c for c in result.cells if c.verdict != "not judged"]
    if not judged:
        return None
    tables = tuple(dict.fromkeys(c.table for c in judged))
    return Differences(tables, tuple(np.array([c.z for c in judged if c.table == t], dtype=float) for t in tables))


def _draw(info: Differences, ax: Any) -> None:
    for k, z in enumerate(info.z):
        # spread points of one table sideways by their rank, so that equal ones stay apart
        offset = 0.5 * (np.argsort(np.argsort(z)) / max(len(z) - 1, 1) - 0.5)
        ax.plot(k + offset, z, ".", color=PALETTE[k % len(PALETTE)], alpha=0.7)
    for edge in (-AGREES_WITHIN, AGREES_WITHIN):
        ax.axhline(edge, color="#5f6b73", linewidth=0.8, linestyle="--")
    ax.axhline(0.0, color="#5f6b73", linewidth=0.8)
    tidy(ax, "y")
    ax.set_xticks(range(len(info.tables)), list(info.tables))
    ax.set_ylabel("ours − published, in Monte-Carlo errors")


figure(
    Figure(
        name="reproduction-z",
        record=Reproduction,
        info=_info,
        draw=_draw,
        title="Differences in Monte-Carlo errors",
        caption="Each point is one published number; between the dashed lines the two runs agree.",
    )
)
