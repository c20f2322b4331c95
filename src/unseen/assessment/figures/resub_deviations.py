"""Box plots of estimate minus true error, by sample size and estimator (figures 2.1 and 2.2 of Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.resubstitution import Deviations
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_beside, percent, tidy

__all__ = ["DEVIATIONS", "DeviationsInfo"]

MOST_DOTS = 2400  # what a page carries easily
MOST_DOTS_OF_A_BOX = 200  # more dots are a bar
DOT = 2.2
CAPTION = (
    "Estimate minus true error over independent samples: a good estimator has a short box around zero. Boxes hold the middle "
    "half, whiskers reach 1.5 times as far, dots lie beyond."
)
THINNED = (
    f" A box shows at most {MOST_DOTS_OF_A_BOX} dots, fewer where there are more than 12 boxes; where there would be more, they are "
    "taken evenly by rank, the farthest on each side always, and the figure says how many there are."
)


@dataclass(frozen=True, kw_only=True)
class DeviationsInfo:
    """Five numbers of each box, shaped (groups, estimators, 5): ends of the whiskers, quartiles, median; and what lies outside.

    Whiskers end at the last value within 1.5 interquartile ranges of the box. `outside` holds rows (group, estimator,
    value): all of the `n_outside` values beyond the whiskers, or, of too many to draw, some of each box evenly by rank.
    """

    box: Floats
    outside: Floats
    groups: tuple[str, ...]
    estimators: tuple[str, ...]
    title: str
    size: tuple[float, float]
    loss: str = "zero-one"
    n_outside: int = 0

    @property
    def caption(self) -> str:
        """How to read the figure; how dots are left out only if some are."""
        return CAPTION + (THINNED if self.n_outside > len(self.outside) else "")


def info(d: Deviations) -> DeviationsInfo:
    """Return the boxes."""
    box = np.empty((len(d.groups), len(d.estimators), 5))
    most = int(np.clip(MOST_DOTS // box[..., 0].size, 2, MOST_DOTS_OF_A_BOX))
    dots, n_outside = [], 0
    for g, row in enumerate(d.values):
        for k, values in enumerate(row):
            q1, median, q3 = np.percentile(values, (25, 50, 75))
            reach = 1.5 * (q3 - q1)
            inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
            box[g, k] = inside.min(), q1, median, q3, inside.max()
            beyond = np.sort(values[(values < inside.min()) | (values > inside.max())])
            n_outside += len(beyond)
            if len(beyond) > most:
                beyond = beyond[np.round(np.linspace(0, len(beyond) - 1, most)).astype(np.int64)]
            dots.append(np.column_stack([np.full(len(beyond), g), np.full(len(beyond), k), beyond]))
    width = float(np.clip(2.2 + 0.28 * len(d.groups) * len(d.estimators), 5.0, 12.0))
    return DeviationsInfo(
        box=box,
        outside=np.concatenate(dots),
        groups=d.groups,
        estimators=d.estimators,
        title=d.title,
        size=(width, 3.8),
        loss=d.loss,
        n_outside=n_outside,
    )


def _draw_dots(numbers: DeviationsInfo, place: Floats, step: float, ax: Any) -> None:
    """Draw the dots of each estimator as one path of points with round ends: a fifth of the bytes of markers."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for k in np.unique(numbers.outside[:, 1].astype(np.int64)):
        mine = numbers.outside[numbers.outside[:, 1] == k]
        x = place[mine[:, 0].astype(np.int64), k]
        # not quite of length zero, which some drawers leave out
        ends = np.stack([np.column_stack([x + side, mine[:, 2]]) for side in (-0.01 * step, 0.01 * step)], axis=1)
        codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=np.uint8), len(mine))
        path = Path(ends.reshape(-1, 2), codes)
        path.should_simplify = False
        ax.add_patch(
            PathPatch(
                path,
                fill=False,
                edgecolor=PALETTE[k % len(PALETTE)],
                linewidth=DOT,
                capstyle="round",
                zorder=2,
                snap=False,
            )
        )
    if numbers.n_outside > len(numbers.outside):
        ax.set_xlabel(f"{len(numbers.outside):,} of {numbers.n_outside:,} dots drawn, evenly by rank", fontsize=8)
    ax.autoscale_view()


def draw(numbers: DeviationsInfo, ax: Any) -> None:
    """Draw a cluster of boxes for each group."""
    tidy(ax, "y")
    count = len(numbers.estimators)
    step = 0.84 / count
    place = np.arange(len(numbers.groups))[:, None] + (np.arange(count) - (count - 1) / 2) * step
    for k, name in enumerate(numbers.estimators):
        colour = PALETTE[k % len(PALETTE)]
        for g in range(len(numbers.groups)):
            low, q1, median, q3, high = numbers.box[g, k]
            x = place[g, k]
            ax.plot([x, x], [low, high], color=colour, linewidth=1, solid_capstyle="butt", zorder=2)
            ax.bar(
                x,
                q3 - q1,
                0.78 * step,
                q1,
                facecolor=colour,
                alpha=0.85,
                edgecolor="white" if k >= len(PALETTE) else colour,
                linewidth=0.6,
                zorder=3,
                hatch="//" if k >= len(PALETTE) else None,
                label=label(name) if g == 0 else None,
            )
            half = 0.39 * step
            ax.plot(
                [x - half, x + half], [median, median], color="white", linewidth=1.6, solid_capstyle="butt", zorder=4
            )
    if len(numbers.outside):
        _draw_dots(numbers, place, step, ax)
    ax.axhline(0, color="#000000", linewidth=1, zorder=1)
    ax.set_xticks(range(len(numbers.groups)), [label(g) for g in numbers.groups])
    ax.set_xlim(-0.5, len(numbers.groups) - 0.5)
    ax.set_ylabel("estimate minus true error")
    percent(ax.yaxis, numbers.loss)
    if numbers.title:
        ax.set_title(label(numbers.title, 80), fontsize=10, loc="left")
    legend_beside(ax)


# whoever shows deviations inside another result takes this figure with `replace`: record and info of their own
DEVIATIONS = figure(
    Figure(
        name="deviations",
        record=Deviations,
        info=info,
        draw=draw,
        title="Deviation from the true error",
        caption=CAPTION,
        size=(8.0, 3.8),
        order=10,
    )
)
