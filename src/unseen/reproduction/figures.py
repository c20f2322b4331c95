"""The report of an experiment at several seeds: every check within its limits, and the numbers that agree at no seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction._seeds import CheckOverSeeds, SeedRuns
from unseen.show.figures import Figure, figure
from unseen.show.sections import Section, Table, Text, figure_section, section, table_of
from unseen.show.style import GREY, MAIN, OTHER, label, tidy

__all__: list[str] = []

DRAWN = (-0.5, 2.0)  # one wild value must not squeeze all others together


@section(SeedRuns, 10)
def summary(result: SeedRuns) -> Section:
    """Return what was run, and every check."""
    first = result.runs[0]
    run = f"{first.source}. {first.replications} replications at each of the seeds {_named(result.seeds)}, {result.seconds:.0f} s."
    head = ["check", "limits", "mean", "smallest", "largest", "passes at"]
    rows = [
        [c.name, c.limits, c.mean.value, min(c.values), max(c.values), f"{c.passing} of {len(result.seeds)}"]
        for c in result.checks
    ]
    return Section("summary", result.title, [Text(result.sentence, lead=True), Text(run), Table(head, rows)])


@section(SeedRuns, 20)
def luck(result: SeedRuns) -> Section | None:
    """Return the figure of the checks."""
    return figure_section(result, "checks-over-seeds", "checks", "Checks at every seed")


@section(SeedRuns, 30)
def cells(result: SeedRuns) -> Section | None:
    """Return the published numbers and the mean of ours."""
    rows = result.cells()
    if not rows:
        return None
    text = "Mean over the seeds of ours, and of the difference in Monte-Carlo errors of one run; in how many runs the two agree."
    return Section("cells", "Published and ours", [Text(text), table_of(rows)])


@dataclass(frozen=True)
class Luck:
    """Values of each check as shares of what its limits allow: 0 to 1 is within them."""

    names: tuple[str, ...]
    shares: tuple[Floats, ...]

    @property
    def size(self) -> tuple[float, float]:
        """One line a check."""
        return 7.5, 1.0 + 0.26 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        out = [name for name, share in zip(self.names, self.shares) if np.any((share < 0) | (share > 1))]
        inside = len(self.names) - len(out)
        return f"{inside} of {len(self.names)} checks within their limits at every seed" + (
            f"; not so: {', '.join(out)}" if out else ""
        )


def share_of(check: CheckOverSeeds) -> Floats | None:
    """Return where in its limits each value lies; None for a check with no upper limit."""
    low = check.low or 0.0
    if check.high is None or not check.high > low:
        return None
    return (np.asarray(check.values, dtype=float) - low) / (check.high - low)


def _info(result: SeedRuns) -> Luck | None:
    found = [(check.name, share_of(check)) for check in result.checks]
    drawn = [(name, share) for name, share in found if share is not None]
    return Luck(tuple(name for name, _ in drawn), tuple(share for _, share in drawn)) if drawn else None


def _draw(info: Luck, ax: Any) -> None:
    for k, whole in enumerate(info.shares):
        share = np.clip(whole, *DRAWN)
        inside = (share >= 0) & (share <= 1)
        ax.plot(share[inside], np.full(inside.sum(), k), "o", color=MAIN, markersize=4, alpha=0.6)
        ax.plot(share[~inside], np.full((~inside).sum(), k), "x", color=OTHER, markersize=5)
        ax.plot([np.clip(whole.mean(), *DRAWN)], [k], "|", color="black", markersize=11, markeredgewidth=1.5)
    for edge in (0.0, 1.0):
        ax.axvline(edge, color=GREY, linewidth=0.8, linestyle="--")
    tidy(ax, "x")
    ax.set_yticks(range(len(info.names)), [label(name, 60) for name in info.names])
    ax.invert_yaxis()
    ax.set_xlabel("share of what the limits allow")


def _named(seeds: tuple[int, ...]) -> str:
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


figure(
    Figure(
        name="checks-over-seeds",
        record=SeedRuns,
        info=_info,
        draw=_draw,
        title="Checks at every seed",
        caption="A point is one run; a cross lies beyond the limits (drawn at 2 where it is further); the bar is the mean over the seeds.",
    )
)
