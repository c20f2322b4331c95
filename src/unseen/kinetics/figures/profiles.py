"""Profiles of the sum of squares along rates and fluxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.kinetic_fit import KineticFit
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, tidy

__all__ = ["ProfilesInfo"]


@dataclass(frozen=True, kw_only=True)
class ProfilesInfo:
    """For each quantity: values divided by the estimate, root of the rise of the sum of squares, and its limit."""

    names: tuple[str, ...]
    ratios: tuple[Array, ...]
    roots: tuple[Array, ...]
    limit: float
    ends: tuple[tuple[float, float], ...]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return ", ".join(f"{n} from {a:.2f} to {b:.2f} of its estimate" for n, (a, b) in zip(self.names, self.ends))


def info(fit: KineticFit) -> ProfilesInfo:
    """Return profiles of one exchange rate, the two appearances and the conversion."""
    first, second = (f"U_{s}" for s in fit.scheme.substrates)
    values = fit.values()
    names = tuple(n for n in ("k21", "Fconv", first, second) if values.get(n, 0.0) > 0)
    made = [fit.profile(n, points=9) for n in names]
    return ProfilesInfo(
        names=names,
        ratios=tuple(p.values / values[n] for n, p in zip(names, made)),
        roots=tuple(np.sqrt(p.rise) for p in made),
        limit=float(np.sqrt(made[0].threshold)),
        ends=tuple((p.interval.low / values[n], p.interval.high / values[n]) for n, p in zip(names, made)),
    )


def draw(numbers: ProfilesInfo, ax: Any) -> None:
    """Draw the roots: a straight V means that the delta interval is right."""
    tidy(ax)
    for k, name in enumerate(numbers.names):
        order = np.argsort(numbers.ratios[k])
        ax.plot(numbers.ratios[k][order], numbers.roots[k][order], color=PALETTE[k], linewidth=1.8, label=label(name))
    ax.axhline(numbers.limit, color="#000000", linewidth=1, linestyle="--")
    spread = [r for k in range(len(numbers.names)) for r in numbers.ratios[k] if np.isfinite(r)]
    ax.set_xlim(max(min(spread), 0.3), min(max(spread), 3.0))
    ax.set_ylim(0, 1.8 * numbers.limit)
    ax.set_xlabel("value divided by the estimate")
    ax.set_ylabel("root of the rise in chi2")
    legend_below(ax, columns=4)


figure(
    Figure(
        name="profiles",
        record=KineticFit,
        info=info,
        draw=draw,
        title="Profiles",
        caption="Root of the rise of the sum of squares when a quantity is held fixed; the dashed line marks the 95% interval. "
        "A straight V means that the quick interval is right; a bend or a flat arm, that it is not.",
        size=(7.0, 3.4),
        order=50,
    )
)
