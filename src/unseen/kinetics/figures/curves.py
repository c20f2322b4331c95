"""Fitted tracer curves with their bands, the samples, and the samples that were removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, tidy

__all__ = ["CurvesInfo"]


@dataclass(frozen=True, kw_only=True)
class CurvesInfo:
    """For each analyte: its curve and 95% band on a grid of minutes, its samples and its removed samples."""

    analytes: tuple[str, ...]
    minutes: Array
    curves: tuple[Array, ...]
    low: tuple[Array, ...]
    high: tuple[Array, ...]
    samples: tuple[tuple[Array, Array], ...]
    removed: tuple[tuple[Array, Array], ...]
    location: str
    subject: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        counts = ", ".join(f"{a} {s[0].size} samples" for a, s in zip(self.analytes, self.samples))
        gone = sum(r[0].size for r in self.removed)
        return f"subject {self.subject}, conversion {self.location}: {counts}; {gone} removed"


def info(fit: KineticFit) -> CurvesInfo:
    """Return curves, bands and samples of a subject."""
    end = float(fit.curves.time.max())
    minutes = np.linspace(end / 400, end, 200)
    analytes = fit.scheme.analytes
    bands = [fit.band(minutes, a) for a in analytes]
    gone = {a: [r for r in fit.removed if r.analyte == a and np.isfinite(r.time) and r.ttr > 0] for a in analytes}
    removed = tuple((np.array([r.time for r in gone[a]]), np.array([r.ttr for r in gone[a]])) for a in analytes)
    return CurvesInfo(
        analytes=analytes,
        minutes=minutes,
        curves=tuple(fit.predict(minutes, a) for a in analytes),
        low=tuple(b[0] for b in bands),
        high=tuple(b[1] for b in bands),
        samples=tuple(fit.curves.of(k)[:2] for k in range(3)),
        removed=removed,
        location=fit.location,
        subject=fit.subject,
    )


def draw(numbers: CurvesInfo, ax: Any) -> None:
    """Draw the curves on a logarithmic axis."""
    tidy(ax)
    ax.set_yscale("log")
    lowest = min(float(s[1][s[1] > 0].min()) for s in numbers.samples if (s[1] > 0).any()) / 3
    for k, analyte in enumerate(numbers.analytes):
        colour, marker = PALETTE[k], "osD"[k]
        low = np.maximum(numbers.low[k], lowest / 10)
        ax.fill_between(numbers.minutes, low, numbers.high[k], color=colour, alpha=0.2, linewidth=0)
        ax.plot(numbers.minutes, numbers.curves[k], color=colour, linewidth=1.6)
        ax.plot(
            *numbers.samples[k],
            marker,
            color=colour,
            markersize=5,
            markerfacecolor="none",
            markeredgewidth=1.4,
            label=label(analyte),
        )
        if numbers.removed[k][0].size:
            ax.plot(*numbers.removed[k], "x", color=colour, markersize=9, markeredgewidth=2)
    if any(r[0].size for r in numbers.removed):
        ax.plot([], [], "x", color=PALETTE[5], markersize=9, markeredgewidth=2, label="removed")
    ax.set_ylim(lowest, 1.6 * max(float(s[1].max()) for s in numbers.samples))
    ax.set_xlim(0, None)
    ax.set_xlabel("minutes after the dose")
    ax.set_ylabel("tracer-to-tracee ratio")
    legend_below(ax, columns=4)


figure(
    Figure(
        name="curves",
        record=KineticFit,
        info=info,
        draw=draw,
        title="Fitted curves",
        caption="Samples and the joint fit with its pointwise 95% confidence band; crosses were removed before the fit.",
        size=(7.0, 4.4),
        order=10,
    )
)
