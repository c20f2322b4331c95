"""Each training point's contribution to an estimate made without retraining."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.resubstitute import Resubstitutions
from unseen.core.arrays import Floats, Ints
from unseen.core.estimate import ResubEstimate
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, axis_name, is_rate, percent, tidy

__all__ = ["ContributionsInfo"]

NAMED = 5  # more names overlap
MOST_POINTS = 400  # more do not change the curve that is seen, and make the page heavy
BY_POINT = ("bolster", "semi-bolster", "bolster-posterior", "posterior", "naive-bayes-bolster", "resub")


@dataclass(frozen=True, kw_only=True)
class ContributionsInfo:
    """Contributions in falling order (`share` of the points before each), the largest rows by number, and the value.

    `half` is the share of the points that make half of the value, NaN if points do not count alike in it.
    """

    share: Floats
    contribution: Floats
    rows: Ints
    value: float
    half: float
    n: int
    method: str
    loss: str


def info(e: ResubEstimate) -> ContributionsInfo | None:
    """Return the contributions in falling order, None if there are none."""
    if e.contributions is None or not len(e.contributions):
        return None
    n = len(e.contributions)
    order = np.argsort(-e.contributions, kind="stable")
    ordered = e.contributions[order]
    total = ordered.sum()
    alike = total > 0 and np.isclose(total / n, e.value)  # they do not where points or classes have weights
    half = float((np.searchsorted(np.cumsum(ordered), total / 2) + 1) / n) if alike else float("nan")
    some = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))
    return ContributionsInfo(
        share=np.append(some / n, 1.0),
        contribution=np.append(ordered[some], ordered[-1]),
        rows=order[:NAMED].astype(np.int64),
        value=e.value,
        half=half,
        n=n,
        method=e.method,
        loss=e.loss,
    )


def info_of_several(result: Resubstitutions) -> ContributionsInfo | None:
    """Return the contributions to the estimate that shows most about the points."""
    made = {e.method: e for e in result.estimates if isinstance(e, ResubEstimate)}
    chosen = next((made[name] for name in BY_POINT if name in made), None)
    return None if chosen is None else info(chosen)


def draw(numbers: ContributionsInfo, ax: Any) -> None:
    """Draw the falling curve, the estimate, and the share of points that make half of it."""
    tidy(ax)
    ax.fill_between(numbers.share, 0, numbers.contribution, step="post", color=MAIN, alpha=0.25, linewidth=0)
    ax.step(numbers.share, numbers.contribution, where="post", color=MAIN, linewidth=1.8)
    ax.axhline(numbers.value, color=OTHER, linewidth=1.2, linestyle="--")
    text = (
        f"{numbers.method} {100 * numbers.value:.1f}%"
        if is_rate(numbers.loss)
        else f"{numbers.method} {numbers.value:.4g}"
    )
    ax.annotate(text, (1, numbers.value), (-4, 4), textcoords="offset points", ha="right", va="bottom", color=OTHER)
    if np.isfinite(numbers.half):
        ax.axvline(numbers.half, color=MAIN, linewidth=1, linestyle=":")
        side, shift = ("left", 5) if numbers.half < 0.55 else ("right", -5)
        ax.annotate(
            f"half of it comes from {100 * numbers.half:.0f}% of the points",
            (numbers.half, 0.97),
            (shift, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            va="top",
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.08 * max(float(numbers.contribution.max()), 1e-12))
    percent(ax.xaxis, "zero-one")
    percent(ax.yaxis, numbers.loss)
    ax.set_xlabel(f"share of the {numbers.n} training points, largest contribution first")
    ax.set_ylabel("contribution of a point" if is_rate(numbers.loss) else axis_name(numbers.loss))


for record, numbers_of in ((ResubEstimate, info), (Resubstitutions, info_of_several)):
    figure(
        Figure(
            name="contributions",
            record=record,
            info=numbers_of,
            draw=draw,
            title="Contribution of each point",
            caption="Error attributed to each training point, largest first. A cliff means a few points near or beyond the boundary make "
            "the error; a long slope means many points are a little uncertain.",
            size=(7.0, 3.2),
            order=9,
        )
    )
