"""Training progress: errors and Pineda's P by epoch, and the weight vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.models.progress import TrainingProgress
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, PALETTE, legend_below, tidy

__all__ = ["ProgressInfo"]


@dataclass(frozen=True)
class ProgressInfo:
    """Curves by epoch with their names, the best epoch, and a level to compare with (None for none)."""

    curves: tuple[tuple[str, Floats], ...]
    best: int
    level: float | None
    ylabel: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{len(self.curves[0][1])} epochs, the monitored error is smallest at epoch {self.best}"


def errors_info(p: TrainingProgress) -> ProgressInfo:
    """Return errors by epoch; the level is the variance of the targets, which knowing the prior alone gives."""
    curves = (("training part", p.train_error), ("monitored part", p.monitor_error))
    return ProgressInfo(curves, p.best, p.target_variance, "mean squared error")


def weights_info(p: TrainingProgress) -> ProgressInfo | None:
    """Return the weight vector's course, each relative to its largest value; None if the model shows no weights."""
    parts = (
        ("angle", p.angle),
        ("length", p.length),
        ("normalised variance", p.variance),
        ("rate of the angle", p.rate),
    )
    if not np.isfinite(p.angle).any():
        return None
    curves = tuple((f"{name} (at most {np.nanmax(v):.3g})", v / np.nanmax(v)) for name, v in parts if np.nanmax(v) > 0)
    return ProgressInfo(curves, p.best, None, "share of its largest value")


def draw(numbers: ProgressInfo, ax: Any) -> None:
    """Draw the curves and mark the best epoch."""
    tidy(ax)
    colours = (MAIN, OTHER, PALETTE[2], PALETTE[3])
    for k, (name, values) in enumerate(numbers.curves):
        ax.plot(np.arange(1, len(values) + 1), values, color=colours[k % 4], linewidth=1.7, label=name)
    if numbers.level is not None:
        ax.axhline(numbers.level, color=GREY, linestyle=":", linewidth=1.3, label="guessing the mean")
    ax.axvline(numbers.best, color=GREY, linestyle="--", linewidth=1, label="best monitored epoch")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("epoch")
    ax.set_ylabel(numbers.ylabel)
    legend_below(ax, columns=2)


figure(
    Figure(
        name="progress",
        record=TrainingProgress,
        info=errors_info,
        draw=draw,
        title="Error by epoch",
        caption="Training error usually goes on falling; if the monitored error rises again, the model learns what is not there.",
        size=(7.0, 4.0),
        order=10,
    )
)
figure(
    Figure(
        name="weights",
        record=TrainingProgress,
        info=weights_info,
        draw=draw,
        title="Weight vector by epoch",
        caption="The rate at which the angle changes shows how far training is from its end.",
        size=(7.0, 4.0),
        order=20,
    )
)
