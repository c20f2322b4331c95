"""Figures of every experiment: how far published numbers and ours are apart, and the checks at several seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction.record import AGREES_WITHIN, Reproduction
from unseen.reproduction.seeds import CheckOverSeeds, SeedRuns
from unseen.show.figures import PALETTE, Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, tidy

__all__: list[str] = []

SEEDS_CAPTION = "A point is one run; a cross lies beyond the limits (drawn at 2 where it is further); the bar is the mean over the seeds."
SHARES_DRAWN = (-0.5, 2.0)  # one wild value must not squeeze all others together


@dataclass(frozen=True)
class PublishedDifferences:
    """Differences in Monte-Carlo errors, table by table."""

    tables: tuple[str, ...]
    z: tuple[Floats, ...]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        every = np.concatenate(self.z)
        inside = int(np.sum(np.abs(every) <= AGREES_WITHIN))
        return f"{inside} of {len(every)} differences within {AGREES_WITHIN:g}, from {every.min():.1f} to {every.max():.1f}"


def _differences(result: Reproduction) -> PublishedDifferences | None:
    compared = [c for c in result.cells if c.verdict != "not judged"]
    if not compared:
        return None
    tables = tuple(dict.fromkeys(c.table for c in compared))
    return PublishedDifferences(
        tables, tuple(np.array([c.z for c in compared if c.table == t], dtype=float) for t in tables)
    )


def _draw_differences(info: PublishedDifferences, ax: Any) -> None:
    for k, z in enumerate(info.z):
        # spread points of one table sideways by their rank, so that equal ones stay apart
        offset = 0.5 * (np.argsort(np.argsort(z)) / max(len(z) - 1, 1) - 0.5)
        ax.plot(k + offset, z, ".", color=PALETTE[k % len(PALETTE)], alpha=0.7)
    for edge in (-AGREES_WITHIN, AGREES_WITHIN):
        ax.axhline(edge, color=GREY, linewidth=0.8, linestyle="--")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    tidy(ax, "y")
    ax.set_xticks(range(len(info.tables)), list(info.tables))
    ax.set_ylabel("ours − published, in Monte-Carlo errors")


figure(
    Figure(
        name="reproduction-z",
        record=Reproduction,
        info=_differences,
        draw=_draw_differences,
        title="Differences in Monte-Carlo errors",
        caption="Each point is one published number; between the dashed lines the two runs agree.",
    )
)


@dataclass(frozen=True)
class LimitShares:
    """Values of each check as shares of what its limits allow: 0 to 1 is within them."""

    names: tuple[str, ...]
    shares: tuple[Floats, ...]
    floors: tuple[bool, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        """One line a check."""
        return 7.5, 1.0 + 0.26 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        out = [name for name, share, floor in self.lines if not np.all(_inside(share, floor))]
        inside = len(self.names) - len(out)
        return f"{inside} of {len(self.names)} checks within their limits at every seed" + (
            f"; not so: {', '.join(out)}" if out else ""
        )

    @property
    def caption(self) -> str:
        """How to read the picture, and which checks have no place in it."""
        out = f" Not drawn, as no range lies between their limits: {', '.join(self.left_out)}." if self.left_out else ""
        return SEEDS_CAPTION + out

    @property
    def lines(self) -> list[tuple[str, Floats, bool]]:
        """Name, shares, and whether there is a lower limit, of each check."""
        return list(zip(self.names, self.shares, self.floors))


def _inside(share: Floats, floor: bool) -> Any:
    """Say which values keep the limits; without a lower one a share below 0 does."""
    return (share <= 1) & ((share >= 0) | (not floor))


def share_of(check: CheckOverSeeds) -> Floats | None:
    """Return where in its limits each value lies; None for a check with no upper limit."""
    low = check.low or 0.0
    if check.high is None or not check.high > low:
        return None
    return (np.asarray(check.values, dtype=float) - low) / (check.high - low)


def _limit_shares(result: SeedRuns) -> LimitShares | None:
    found = [(check, share_of(check)) for check in result.checks]
    known = [(check, share) for check, share in found if share is not None]
    if not known:
        return None
    return LimitShares(
        tuple(check.name for check, _ in known),
        tuple(share for _, share in known),
        tuple(check.low is not None for check, _ in known),
        tuple(check.name for check, share in found if share is None),
    )


def _draw_limit_shares(info: LimitShares, ax: Any) -> None:
    for k, (_, whole, floor) in enumerate(info.lines):
        share = np.clip(whole, *SHARES_DRAWN)
        inside = _inside(share, floor)
        ax.plot(share[inside], np.full(inside.sum(), k), "o", color=MAIN, markersize=4, alpha=0.6)
        ax.plot(share[~inside], np.full((~inside).sum(), k), "x", color=OTHER, markersize=5)
        ax.plot([np.clip(whole.mean(), *SHARES_DRAWN)], [k], "|", color="black", markersize=11, markeredgewidth=1.5)
    for edge in (0.0, 1.0):
        ax.axvline(edge, color=GREY, linewidth=0.8, linestyle="--")
    tidy(ax, "x")
    ax.set_yticks(range(len(info.names)), [label(name, 60) for name in info.names])
    ax.invert_yaxis()
    ax.set_xlabel("share of what the limits allow")


figure(
    Figure(
        name="checks-over-seeds",
        record=SeedRuns,
        info=_limit_shares,
        draw=_draw_limit_shares,
        title="Checks at every seed",
        caption=SEEDS_CAPTION,
    )
)
