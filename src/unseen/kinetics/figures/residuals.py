"""Standardised residuals of a tracer fit against time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, tidy

__all__ = ["KineticResidualsInfo"]


@dataclass(frozen=True)
class KineticResidualsInfo:
    """Minutes and standardised residuals (sample minus curve, over its standard deviation) of each analyte."""

    analytes: tuple[str, ...]
    minutes: tuple[Array, ...]
    residuals: tuple[Array, ...]
    runs_p: float

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        largest = max(float(np.abs(r).max()) for r in self.residuals)
        return f"largest standardised residual {largest:.1f}; run test p = {self.runs_p:.2g}"


def info(fit: KineticFit) -> KineticResidualsInfo:
    """Return the residuals of the fit at its own location."""
    one, curves = fit.at(), fit.curves
    standard = (curves.value - one.fitted) / one.sigma
    parts = [curves.which == k for k in range(3)]
    return KineticResidualsInfo(
        fit.scheme.analytes, tuple(curves.time[m] for m in parts), tuple(standard[m] for m in parts), one.runs_p
    )


def draw(numbers: KineticResidualsInfo, ax: Any) -> None:
    """Draw residuals around zero, two standard deviations marked."""
    tidy(ax, "y")
    ax.axhline(0, color="#000000", linewidth=1)
    for level in (-2, 2):
        ax.axhline(level, color=PALETTE[5], linewidth=1, linestyle="--")
    for k, analyte in enumerate(numbers.analytes):
        ax.plot(
            numbers.minutes[k],
            numbers.residuals[k],
            "-",
            color=PALETTE[k],
            marker="osD"[k],
            markersize=5,
            linewidth=0.8,
            markerfacecolor="none",
            markeredgewidth=1.4,
            label=label(analyte),
        )
    ax.set_xlabel("minutes after the dose")
    ax.set_ylabel("standardised residual")
    legend_below(ax)


figure(
    Figure(
        name="residuals",
        record=KineticFit,
        info=info,
        draw=draw,
        title="Residuals",
        caption="Sample minus curve in standard deviations; long stretches on one side of zero tell of a wrong shape.",
        size=(7.0, 3.2),
        order=20,
    )
)
