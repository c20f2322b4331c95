"""Predicted against observed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.evaluation.measure_record import Measures
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, label, tidy

__all__ = ["ResidualsInfo", "draw", "pairs_of"]

MOST_POINTS = 400  # more points make the picture larger but not clearer


@dataclass(frozen=True, kw_only=True)
class ResidualsInfo:
    """Observed and predicted value of at most 400 rows, evenly spaced in order of the observed value."""

    observed: Floats
    predicted: Floats
    n_rows: int
    limits: tuple[float, float]
    target: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{len(self.observed)} of {self.n_rows} rows, predictions from {self.predicted.min():.4g} to {self.predicted.max():.4g}"


def pairs_of(observed: Floats, predicted: Floats, target: str) -> ResidualsInfo:
    """Return the points to draw, and limits that hold all rows.

    Examples
    --------
    >>> made = pairs_of(np.arange(1000.0), np.arange(1000.0) / 2, "dose")
    >>> len(made.observed), made.n_rows, made.observed[[0, -1]].tolist()
    (400, 1000, [0.0, 999.0])
    """
    order = np.argsort(observed, kind="stable")
    some = order[np.unique(np.linspace(0, len(order) - 1, min(MOST_POINTS, len(order))).round().astype(np.int64))]
    both = np.concatenate([observed, predicted])
    margin = 0.04 * max(float(both.max() - both.min()), 1e-12)
    return ResidualsInfo(
        observed=observed[some],
        predicted=predicted[some],
        n_rows=len(observed),
        limits=(float(both.min()) - margin, float(both.max()) + margin),
        target=target,
    )


def info(m: Measures) -> ResidualsInfo | None:
    """Return the pairs, or None for classes and for several outputs, which have no common scale."""
    if m.cases.task != "regression" or m.cases.outputs:
        return None
    return pairs_of(np.asarray(m.cases.y, dtype=float), np.asarray(m.cases.value, dtype=float), "value")


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
        record=Measures,
        info=info,
        draw=draw,
        title="Predicted against observed",
        caption="Each point is a case. On the dashed line a prediction is perfect; a cloud flatter than the line means predictions are "
        "drawn towards the mean.",
        size=(4.4, 4.0),
        order=30,
    )
)
