"""Posterior densities of differences with the region of practical equivalence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison, Comparisons
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, PALETTE, axis_name, label, percent, tidy

__all__ = ["PosteriorInfo"]

POINTS = 241  # a density drawn through fewer shows corners
# of the distance between rows, so that neighbours do not touch
TALL = 0.82


@dataclass(frozen=True, kw_only=True)
class PosteriorInfo:
    """Per pair its density on one grid of differences, the three probabilities, and the region."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    grid: Floats
    density: Floats
    chances: tuple[tuple[float, float, float], ...]
    rope: tuple[float, float]
    loss: str

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the pairs need."""
        return 7.0, 1.4 + 0.95 * len(self.a)


def info(result: Comparison | Comparisons) -> PosteriorInfo | None:
    """Return the densities of the pairs that have a posterior with some spread."""
    from scipy.stats import t

    every = [result] if isinstance(result, Comparison) else list(result.pairs)
    pairs = [p for p in every if p.rope is not None and p.rope.posterior is not None and p.std_error]
    if not pairs:
        return None
    rope = pairs[0].rope
    assert rope is not None
    scale = np.array([p.std_error for p in pairs], dtype=float)
    centre = np.array([p.difference for p in pairs])
    ends = min((centre - 4 * scale).min(), 2 * rope.low), max((centre + 4 * scale).max(), 2 * rope.high)
    grid = np.union1d(np.linspace(*ends, POINTS), (rope.low, rope.high))
    density = np.array([t.pdf(grid, p.estimate.df or np.inf, c, s) for p, c, s in zip(pairs, centre, scale)])
    chances = tuple(p.rope.posterior for p in pairs if p.rope is not None and p.rope.posterior is not None)
    return PosteriorInfo(
        a=tuple(p.a for p in pairs),
        b=tuple(p.b for p in pairs),
        grid=grid,
        density=density,
        chances=chances,
        rope=(rope.low, rope.high),
        loss=pairs[0].estimate.loss,
    )


def draw(numbers: PosteriorInfo, ax: Any) -> None:
    """Draw a row per pair: the density, coloured by the three parts, with their probabilities."""
    tidy(ax, "x")
    ax.axvspan(*numbers.rope, color=GREY, alpha=0.18, linewidth=0)
    ax.axvline(0.0, color=GREY, linewidth=1.0, linestyle="--")
    grid, (low, high) = numbers.grid, numbers.rope
    parts = ((grid <= low, MAIN), ((grid >= low) & (grid <= high), GREY), (grid >= high, OTHER))
    for k, density in enumerate(numbers.density):
        curve = k + TALL / 2 - TALL * density / density.max()
        for mask, colour in parts:
            ax.fill_between(grid[mask], k + TALL / 2, curve[mask], color=colour, alpha=0.45, linewidth=0)
        ax.plot(grid, curve, color=PALETTE[5], linewidth=1.0)
        below, inside, above = numbers.chances[k]
        text = f"{label(numbers.a[k], 16)} better {below:.3f}\nequivalent {inside:.3f}\n{label(numbers.b[k], 16)} better {above:.3f}"
        ax.annotate(text, (1.01, k), xycoords=("axes fraction", "data"), va="center", ha="left", fontsize=9)
    ax.set_yticks(range(len(numbers.a)), [f"{label(a)} −\n{label(b)}" for a, b in zip(numbers.a, numbers.b)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(numbers.a) - 0.5, -0.6)
    ax.set_xlim(grid[0], grid[-1])
    ax.set_xlabel(f"difference in {axis_name(numbers.loss)}")
    percent(ax.xaxis, numbers.loss)


CAPTION = (
    "Posterior of each difference. The grey band is the region of practical equivalence; the numbers are the probabilities "
    "of lying left of it, inside it and right of it."
)
figure(
    Figure(
        name="posterior",
        record=Comparisons,
        info=info,
        draw=draw,
        title="Posterior of the differences",
        caption=CAPTION,
        order=30,
    )
)
figure(
    Figure(
        name="posterior",
        record=Comparison,
        info=info,
        draw=draw,
        title="Posterior of the difference",
        caption=CAPTION,
        order=30,
    )
)
