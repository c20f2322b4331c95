"""Predicted against observed numbers, from models that had not seen the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED, first_table
from unseen.core.arrays import Floats
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, label, tidy

__all__ = ["ResidualsInfo"]

MOST_POINTS = 400  # more points make the picture larger but not clearer


@dataclass(frozen=True, kw_only=True)
class ResidualsInfo:
    """Observed and mean cross-validated prediction of at most 400 rows, evenly spaced in order of the observed value."""

    observed: Floats
    predicted: Floats
    n_rows: int
    limits: tuple[float, float]
    target: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{len(self.observed)} of {self.n_rows} rows, predictions from {self.predicted.min():.4g} to {self.predicted.max():.4g}"


def info(a: Assessment) -> ResidualsInfo | None:
    """Return the pairs, or None for classes."""
    table = first_table(a, CROSS_VALIDATED)
    if a.data.task != "regression" or table is None:
        return None
    test, n = table.source[0].test, a.data.n
    times = table.times_tested()
    tested = np.flatnonzero(times)
    predicted = np.bincount(test.row, test.value.astype(float), n)[tested] / times[tested]
    observed = np.asarray(a.data.y, dtype=float)[tested]
    order = np.argsort(observed, kind="stable")
    some = order[np.unique(np.linspace(0, len(order) - 1, min(MOST_POINTS, len(order))).round().astype(np.int64))]
    both = np.concatenate([observed, predicted])
    margin = 0.04 * max(float(both.max() - both.min()), 1e-12)
    limits = (float(both.min()) - margin, float(both.max()) + margin)
    return ResidualsInfo(
        observed=observed[some], predicted=predicted[some], n_rows=len(tested), limits=limits, target=a.data.target_name
    )


def draw(numbers: ResidualsInfo, ax: Any) -> None:
    """Draw the points and the line on which a perfect prediction lies."""
    tidy(ax)
    ax.plot(numbers.limits, numbers.limits, color="#000000", alpha=0.45, linewidth=1.2, linestyle="--")
    ax.plot(
        numbers.observed,
        numbers.predicted,
        linewidth=0,
        marker="o",
        markersize=4,
        color=MAIN,
        alpha=0.6,
        markeredgewidth=0,
    )
    ax.set_xlim(*numbers.limits)
    ax.set_ylim(*numbers.limits)
    ax.set_aspect("equal")
    name = label(numbers.target, 24)
    ax.set_xlabel(f"observed {name}")
    ax.set_ylabel(f"predicted {name}")


figure(
    Figure(
        name="residuals",
        record=Assessment,
        info=info,
        draw=draw,
        title="Predicted against observed",
        caption="Each point is a row, predicted by cross-validated models that had not seen it (mean over repetitions). On the dashed "
        "line a prediction is perfect; a cloud flatter than the line means predictions are drawn towards the mean.",
        size=(4.4, 4.0),
        order=50,
    )
)
