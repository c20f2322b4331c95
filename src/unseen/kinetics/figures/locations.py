"""How well each location of the conversion fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, tidy

__all__ = ["LocationsInfo"]

ALIKE = 2  # locations fit alike if their AICc differ by less
MIXED = ("IC-EC", "EC-IC")
_CAPTION = f"Smaller is better; below {ALIKE} (dotted) a location fits as well as the best."
# inches that a digit takes, and the share of a picture that its axis has
LETTER, AXIS = 1 / 12, 0.7


@dataclass(frozen=True)
class LocationsInfo:
    """Locations from best to worst, AICc above the best, Akaike weights (NaN for a whole study) and the one used."""

    locations: tuple[str, ...]
    differences: Array
    weights: Array
    used: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return ", ".join(f"{p} {d:.1f}" for p, d in zip(self.locations, self.differences))

    @property
    def caption(self) -> str:
        """How to read the picture, and whether the two mixed locations fit alike."""
        mixed = [d for p, d in zip(self.locations, self.differences) if p in MIXED]
        alike = len(mixed) == len(MIXED) and abs(mixed[0] - mixed[1]) < ALIKE
        return _CAPTION + (f" {' and '.join(MIXED)} cannot be distinguished." if alike else "")


def info(fit: KineticFit) -> LocationsInfo | None:
    """Return the criteria of a subject's locations."""
    rows = fit.locations
    if len(rows) < 2:
        return None
    criteria = np.array([r["aicc"] for r in rows])
    weights = np.array([r["weight"] for r in rows])
    return LocationsInfo(tuple(r["location"] for r in rows), criteria - criteria.min(), weights, fit.location)


def info_study(study: KineticStudy) -> LocationsInfo | None:
    """Return the criteria summed over subjects."""
    sums = sorted(study.summed_aicc.items(), key=lambda pair: pair[1])
    if len(sums) < 2:
        return None
    names, values = zip(*sums)
    return LocationsInfo(names, np.array(values), np.full(len(names), np.nan), study.location)


def draw(numbers: LocationsInfo, ax: Any) -> None:
    """Draw one bar per location; the axis is square-root so that small differences stay visible."""
    tidy(ax, "x")
    place = np.arange(len(numbers.locations))[::-1]
    colours = [MAIN if p == numbers.used else GREY for p in numbers.locations]
    ax.barh(place, numbers.differences, color=colours, height=0.6)
    ax.set_xscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), np.square))
    top = float(numbers.differences.max())
    ax.set_xlim(0, 1.45 * top if top > 0 else 1)
    ax.set_xticks(_ticks(1.45 * top, ax.figure.get_figwidth()))
    for y, d, w in zip(place, numbers.differences, numbers.weights):
        ax.text(d, y, f" {d:.1f}" + ("" if np.isnan(w) else f" (weight {w:.2g})"), va="center")
    ax.axvline(ALIKE, color="#000000", linewidth=0.8, linestyle=":")
    ax.set_yticks(place, [f"{p} (used)" if p == numbers.used else p for p in numbers.locations])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("AICc above the best")


def _ticks(end: float, inches: float) -> list[int]:
    """Return the round numbers that have room on a square-root axis."""
    kept = [0]
    for tick in (2, 10, 50, 100, 200, 500, 1000, 2000, 5000, 10000):
        room = LETTER * (len(f"{tick}{kept[-1]}") / 2 + 1)
        if tick <= end and (np.sqrt(tick) - np.sqrt(kept[-1])) / np.sqrt(end) * AXIS * inches >= room:
            kept.append(tick)
    return kept if len(kept) > 1 or end >= 2 else [0, 2]


figure(
    Figure(
        name="locations",
        record=KineticFit,
        info=info,
        draw=draw,
        title="Where conversion takes place",
        caption=_CAPTION,
        size=(7.0, 2.6),
        order=30,
    )
)
figure(
    Figure(
        name="locations",
        record=KineticStudy,
        info=info_study,
        draw=draw,
        title="Where conversion takes place, all subjects",
        caption=_CAPTION,
        size=(7.0, 2.6),
        order=20,
    )
)
