"""Pools and fluxes as a diagram: of one subject under each alternative, and of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from unseen.kinetics.group_means import FEWEST
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.kinetics.locations import LOCATIONS
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, PHONE_INCHES, label

__all__ = ["PoolsInfo"]

# places of the pools: sampled ones above, unsampled ones below; precursor left, product right
PLACES = {"1": (0.0, 1.0), "2": (0.0, 0.0), "3": (2.0, 1.0), "4": (2.0, 0.0)}
ROLE = {"1": "EC", "2": "IC", "3": "EC", "4": "IC"}
HALF = (0.42, 0.2)
PLAIN = (7.0, 4.6)  # inches of the diagram of one alternative
OPENING = (9.0, 5.0)  # inches of the diagram that opens a report
_READING = (
    "Pools in the unit of the doses, fluxes per hour. EC: sampled; IC: not sampled (dashed). "
    "U: breakdown into the pool; F0: irreversible loss other than conversion."
)


@dataclass(frozen=True, kw_only=True)
class PoolsInfo:
    """Pools and fluxes per hour under one alternative, and below each its error: a standard error, or the ends of an interval or spread."""

    location: str
    substrates: tuple[str, str]
    values: Mapping[str, float]
    errors: Mapping[str, float]
    title: str
    spans: Mapping[str, tuple[float, float]] | None = None
    size: tuple[float, float] = PLAIN

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        wanted = ("Fconv", *(f"U_{s}" for s in self.substrates))
        return ", ".join(f"{n} {self.values[n]:.3g} ({self.error_of(n)})" for n in wanted)

    def error_of(self, name: str) -> str:
        """What stands below a number."""
        if self.spans is not None:
            return f"{self.spans[name][0]:.3g} to {self.spans[name][1]:.3g}"
        return f"±{self.errors[name]:.2g}"


def _is_drawn(fit: KineticFit, location: str) -> bool:
    """Whether the four pools of the diagram are those of the fit."""
    if fit.order != (2, 2) or all(a.location != location for a in fit.alternatives):
        return False
    return fit.convention != "printed" or location in ("EC-EC", "IC-IC", "whole-body")


def _info(location: str | None) -> Callable[[KineticFit], PoolsInfo | None]:
    def info(fit: KineticFit) -> PoolsInfo | None:
        where = location or fit.location
        if not _is_drawn(fit, where):
            return None
        return PoolsInfo(
            location=where,
            substrates=fit.scheme.substrates,
            values=fit.values(where),
            errors=fit.std_errors(where),
            title=f"conversion {where}" + (" (used)" if where == fit.location else ""),
            size=PLAIN if location else OPENING,
        )

    return info


def info_study(study: KineticStudy) -> PoolsInfo | None:
    """Return the means over subjects; intervals, spreads or errors go with them as the number of subjects allows."""
    where = study.location
    if any(f.location != where or not _is_drawn(f, where) for f in study):
        return None
    means, count = study.means(), len(study)
    if count == 1:
        below, spans = "standard errors", None
    elif count < FEWEST:
        below, spans = "both subjects' values", {n: m.spread for n, m in means.items()}
    else:
        below = "95% intervals"
        spans = {n: (m.interval.low, m.interval.high) for n, m in means.items() if m.interval is not None}
    who = f"subject {study.fits[0].subject}" if count == 1 else f"means of {count} subjects"
    return PoolsInfo(
        location=where,
        substrates=study.scheme.substrates,
        values={n: m.mean for n, m in means.items()},
        errors=study.fits[0].std_errors() if count == 1 else {n: m.std_error for n, m in means.items()},
        title=f"conversion {where}: {who}, below them {below}",
        spans=spans,
        size=OPENING,
    )


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.4) -> None:
    ax.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0}
    )


def _error(ax: Any, numbers: PoolsInfo, name: str) -> str:
    """Return the second line of a number, as short as a narrow picture needs it."""
    text = numbers.error_of(name)
    return text.replace(" to ", "–") if ax.figure.get_figwidth() <= PHONE_INCHES else text


def _flux(ax: Any, numbers: PoolsInfo, name: str, at: tuple[float, float], align: str, colour: str = "#000000") -> None:
    text = f"{label(name)} {numbers.values[name]:.3g}\n{_error(ax, numbers, name)}"
    ax.text(*at, text, ha=align, va="center", fontsize=9, color=colour, linespacing=1.1)


def draw(numbers: PoolsInfo, ax: Any) -> None:
    """Draw four pools, their exchange, loss, breakdown and the conversion."""
    from matplotlib.patches import FancyBboxPatch

    ax.set_axis_off()
    ax.set_xlim(-1.35, 3.35)
    ax.set_ylim(-0.75, 1.62)
    for pool, (x, y) in PLACES.items():
        box = FancyBboxPatch(
            (x - HALF[0], y - HALF[1]),
            2 * HALF[0],
            2 * HALF[1],
            boxstyle="round,pad=0.02",
            fill=False,
            linewidth=1.6,
            edgecolor=MAIN if ROLE[pool] == "EC" else "#000000",
            linestyle="-" if ROLE[pool] == "EC" else "--",
        )
        ax.add_patch(box)
        substrate = numbers.substrates[0 if pool in "12" else 1]
        ax.text(
            x,
            y,
            f"{label(substrate, 12)} {ROLE[pool]}\nQ{pool} = {numbers.values[f'Q{pool}']:.3g}\n{_error(ax, numbers, f'Q{pool}')}",
            ha="center",
            va="center",
            fontsize=9.5,
        )
    _exchange(ax, numbers)
    _outside(ax, numbers)
    _conversion(ax, numbers)
    ax.set_title(numbers.title, fontsize=11)


def _exchange(ax: Any, numbers: PoolsInfo) -> None:
    top, bottom = 1 - HALF[1] - 0.02, HALF[1] + 0.02
    for x, down, up in ((0.0, "F21", "F12"), (2.0, "F43", "F34")):
        _arrow(ax, (x - 0.13, top), (x - 0.13, bottom), "#000000")
        _arrow(ax, (x + 0.13, bottom), (x + 0.13, top), "#000000")
        _flux(ax, numbers, down, (x - 0.18, 0.5), "right")
        _flux(ax, numbers, up, (x + 0.18, 0.5), "left")


def _outside(ax: Any, numbers: PoolsInfo) -> None:
    """Losses to the outside, breakdown into the unsampled pools."""
    edge = HALF[0] + 0.02
    for pool, side in (("1", -1), ("2", -1), ("3", 1), ("4", 1)):
        name = f"F0{pool}"
        x, y = PLACES[pool]
        if name in numbers.values:
            _arrow(ax, (x + side * edge, y), (x + side * (edge + 0.38), y), "#000000")
            _flux(ax, numbers, name, (x + side * (edge + 0.42), y), "right" if side < 0 else "left")
    for pool, name in zip("24", (f"U_{s}" for s in numbers.substrates)):
        x, y = PLACES[pool]
        _arrow(ax, (x, y - 0.52), (x, y - HALF[1] - 0.02), MAIN, 2.2)
        _flux(ax, numbers, name, (x + 0.07, y - 0.48), "left", MAIN)


def _conversion(ax: Any, numbers: PoolsInfo) -> None:
    edge = HALF[0] + 0.02
    if numbers.location == "whole-body":
        for y in (1.0, 0.0):
            _arrow(ax, (edge, y), (2.0 - edge, y), OTHER, 2.2)
        # between the two arrows, above the exchange of the pools: side by side three numbers do not fit on a phone
        at = (1.0, 0.8)
    else:
        source, target = numbers.location.split("-")
        start, end = ((1.0 if s == "EC" else 0.0) for s in (source, target))
        _arrow(ax, (edge, start), (2.0 - edge, end), OTHER, 2.2)
        at = (1.0, (start + end) / 2 + (0.22 if start == end else 0.0))
        if start != end:
            at = (1.0, 1.18)
    _flux(ax, numbers, "Fconv", at, "center", OTHER)


for _rank, _location in enumerate(LOCATIONS):
    figure(
        Figure(
            name=f"pools-{_location.lower()}",
            record=KineticFit,
            info=_info(_location),
            draw=draw,
            title=f"Pools and fluxes, conversion {_location}",
            caption=f"{_READING} Below each number its standard error.",
            order=60 + _rank,
        )
    )

figure(
    Figure(
        name="pools",
        record=KineticFit,
        info=_info(None),
        draw=draw,
        title="Pools and fluxes",
        caption=f"{_READING} Below each number its standard error.",
        order=59,
    )
)
figure(
    Figure(
        name="pools",
        record=KineticStudy,
        info=info_study,
        draw=draw,
        title="Pools and fluxes",
        caption=_READING,
        order=5,
    )
)
