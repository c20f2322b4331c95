"""How the estimated bias of bolstering changes with the size of the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.estimate import CalibratedEstimate
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, legend_beside, percent, tidy

__all__ = ["CalibrationInfo"]


@dataclass(frozen=True, kw_only=True)
class CalibrationInfo:
    """Every kappa tried with the mean bias, its standard error over the repetitions, and each repetition's deviation."""

    kappa: Floats
    bias: Floats
    error: Floats
    deviations: Floats
    chosen: float
    value: float
    uncalibrated: float


def info(e: CalibratedEstimate) -> CalibrationInfo | None:
    """Return the curve, None if it was not kept."""
    if e.curve is None or e.deviations is None:
        return None
    r = e.deviations.shape[1]
    return CalibrationInfo(
        kappa=e.curve[:, 0],
        bias=e.curve[:, 1],
        error=e.curve[:, 2] / np.sqrt(r),
        deviations=e.deviations,
        chosen=e.kappa,
        value=e.value,
        uncalibrated=e.uncalibrated,
    )


def draw(numbers: CalibrationInfo, ax: Any) -> None:
    """Draw the mean bias with its standard error, each repetition behind it, and the chosen kappa."""
    tidy(ax)
    for k in range(numbers.deviations.shape[1]):
        name = "one 80/20 split" if k == 0 else None
        ax.plot(numbers.kappa, numbers.deviations[:, k], color=GREY, linewidth=0.8, alpha=0.6, label=name)
    if np.isfinite(numbers.error).all():
        low, high = numbers.bias - numbers.error, numbers.bias + numbers.error
        ax.fill_between(
            numbers.kappa,
            low,
            high,
            color=MAIN,
            alpha=0.2,
            linewidth=0,
            label="mean, one standard error\nover such splits",
        )
    ax.plot(
        numbers.kappa, numbers.bias, color=MAIN, linewidth=1.8, marker="o", markersize=4, label="mean of the splits"
    )
    ax.axhline(0, color="#000000", linewidth=0.9)
    ax.axvline(numbers.chosen, color=OTHER, linewidth=1.3, linestyle="--", label=f"chosen: {numbers.chosen:.3g}")
    ax.set_xlabel("factor kappa on the kernels' standard deviation")
    ax.set_ylabel("bolstered minus observed error")
    percent(ax.yaxis, "zero-one")
    text = f"estimate {100 * numbers.uncalibrated:.1f}% at kappa 1, {100 * numbers.value:.1f}% calibrated"
    ax.set_title(text, fontsize=10, loc="left")
    legend_beside(ax)


figure(
    Figure(
        name="calibration",
        record=CalibratedEstimate,
        info=info,
        draw=draw,
        title="Calibration of the kernels",
        caption="Bolstered error minus the error seen on the 20% left out, for models trained on the other 80%. The kernels are scaled by "
        "the kappa at which the mean comes nearest to zero.",
        size=(7.0, 3.4),
        order=5,
    )
)
