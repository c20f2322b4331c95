"""Intervals of rates, pools and fluxes, and the ranges left open when both pools may lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, legend_below, tidy

__all__ = ["KineticIntervalsInfo", "RangesInfo"]


@dataclass(frozen=True)
class KineticIntervalsInfo:
    """Quantities, their estimates, and the ends of their 95% intervals divided by the estimate."""

    names: tuple[str, ...]
    values: Array
    low: Array
    high: Array

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the rows need."""
        return 7.0, 1.0 + 0.26 * len(self.names)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        width = (self.high - self.low) / 2
        return ", ".join(f"{n} {v:.3g} (+-{100 * w:.0f}%)" for n, v, w in zip(self.names, self.values, width))


def info(fit: KineticFit) -> KineticIntervalsInfo:
    """Return the delta intervals of all quantities."""
    rows = [
        r
        for r in fit.rows()
        if r["estimate"] != 0 and np.isfinite(r["lower"]) and r["upper"] < 1e6 * abs(r["estimate"])
    ]
    value = np.array([r["estimate"] for r in rows])
    low, high = (np.array([r[k] for r in rows]) / value for k in ("lower", "upper"))
    return KineticIntervalsInfo(tuple(r["quantity"] for r in rows), value, np.minimum(low, high), np.maximum(low, high))


def draw(numbers: KineticIntervalsInfo, ax: Any) -> None:
    """Draw every interval relative to its estimate."""
    tidy(ax, "x")
    place = np.arange(len(numbers.names))[::-1]
    ax.axvline(1, color="#000000", linewidth=1)
    ax.hlines(place, np.clip(numbers.low, -1, 4), np.clip(numbers.high, -1, 4), color=MAIN, linewidth=3)
    ax.plot(np.ones(place.size), place, "o", color=MAIN, markersize=5)
    ax.set_yticks(place, [f"{label(n)}  {v:.3g}" for n, v in zip(numbers.names, numbers.values)])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("interval divided by the estimate")


figure(
    Figure(
        name="intervals",
        record=KineticFit,
        info=info,
        draw=draw,
        title="How well each quantity is known",
        caption="95% intervals with the full covariance, relative to the estimate beside each name.",
        order=40,
    )
)


@dataclass(frozen=True)
class RangesInfo:
    """Appearance of each substrate: the identifiable range and the estimate of each alternative, per hour."""

    names: tuple[str, ...]
    low: Array
    high: Array
    alternatives: tuple[tuple[str, Array], ...]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return ", ".join(f"{n} {a:.3g} to {b:.3g}" for n, a, b in zip(self.names, self.low, self.high))


def info_ranges(fit: KineticFit) -> RangesInfo | None:
    """Return the ranges of total appearance, both pools allowed to lose."""
    ranges = fit.ranges()
    if len(ranges) < 2 or fit.convention != "mass_balance":
        return None
    ends = [r.U for r in ranges.values()]
    first, second = (f"U_{s}" for s in fit.scheme.substrates)
    found = []
    for one in fit.alternatives:
        v = fit.values(one.location)
        found.append((one.location, np.array([v[first], v[second] + v["Fconv"]])))
    names = tuple(f"appearance of {s}" for s in ranges)
    return RangesInfo(names, np.array([e[0] for e in ends]), np.array([e[1] for e in ends]), tuple(found))


def draw_ranges(numbers: RangesInfo, ax: Any) -> None:
    """Draw each range as a bar and the alternatives as marks."""
    tidy(ax, "x")
    place = np.arange(len(numbers.names))[::-1]
    ax.barh(
        place,
        numbers.high - numbers.low,
        left=numbers.low,
        height=0.35,
        color=GREY,
        alpha=0.45,
        label="identifiable range",
    )
    for k, (name, values) in enumerate(numbers.alternatives):
        ax.plot(
            values,
            place + 0.05 * (k - 2),
            "osDv^"[k],
            color=(MAIN, OTHER)[k % 2],
            markersize=7,
            markerfacecolor="none",
            label=name,
        )
    ax.set_yticks(place, numbers.names)
    ax.set_ylim(-0.6, len(place) - 0.4)
    # a bar that begins at the axis is not seen to begin there
    ax.use_sticky_edges = False
    ax.margins(x=0.08)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("per hour; the left end is the rate of the fitted curve")
    legend_below(ax, columns=3)


figure(
    Figure(
        name="ranges",
        record=KineticFit,
        info=info_ranges,
        draw=draw_ranges,
        title="What stays open when both pools may lose",
        caption="Grey: total appearance that the sampled curve allows. Marks: each alternative, fitted to all three curves.",
        size=(7.0, 2.8),
        order=45,
    )
)
