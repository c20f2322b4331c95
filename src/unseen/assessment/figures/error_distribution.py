"""Distribution functions of errors over splits: one model, or two overlaid, with their fractiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.distribution import DistributionWithLaw
from unseen.core.arrays import Floats
from unseen.core.distribution import DistributionComparison, ErrorDistribution
from unseen.core.scale import measure_name
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, label, legend_below, percent, tidy

__all__: list[str] = []

# the middle, and the middle nine tenths
FRACTILES = (0.05, 0.5, 0.95)
STYLES = ("-", "--")


@dataclass(frozen=True)
class Curve:
    """One step function: ordered errors, its name and its fractiles."""

    name: str
    errors: Floats
    fractiles: Floats


@dataclass(frozen=True)
class Line:
    """A smooth distribution function: errors, heights, and its name."""

    name: str
    errors: Floats
    heights: Floats


@dataclass(frozen=True)
class Curves:
    """Step functions to overlay, smooth ones beside them, and label and loss of their axis."""

    curves: tuple[Curve, ...]
    label: str
    loss: str
    lines: tuple[Line, ...] = ()


def _curve(d: ErrorDistribution, name: str) -> Curve:
    return Curve(name, d.ordered, np.array([d.fractile(q) for q in FRACTILES]))


def _label(d: ErrorDistribution) -> str:
    word = measure_name(d.loss) if d.loss else "error"
    return {"identity": word, "log1p": f"log(1 + {word})"}.get(d.scale, f"{word}, {d.scale}")


def _one(d: ErrorDistribution) -> Curves:
    return Curves((_curve(d, d.model or "model"),), _label(d), _shown_loss(d), _law(d))


def _shown_loss(d: ErrorDistribution) -> str:
    """Return the loss if its values are as they are; a transformed share is none."""
    return d.loss if d.scale == "identity" else ""


def _law(d: ErrorDistribution) -> tuple[Line, ...]:
    if not isinstance(d, DistributionWithLaw) or d.law is None or d.scale not in ("identity", "log1p"):
        return ()
    errors = np.linspace(d.law.sigma2, d.law.fractile(0.999), 200)
    shown = np.log1p(errors) if d.scale == "log1p" else errors
    return (Line(f"asymptotic law, trained on all {d.law.n_units}", shown, d.law.cdf(errors)),)


def _two(c: DistributionComparison) -> Curves:
    pair = tuple(_curve(d, name) for d, name in zip((c.first, c.second), c.names))
    return Curves(pair, _label(c.first), _shown_loss(c.first))


def draw_curves(info: Curves, ax: Any) -> None:
    """Draw the distribution functions, the first solid and the second dashed, with .05, .5 and .95 fractiles."""
    for k, curve in enumerate(info.curves):
        colour = PALETTE[k]
        heights = np.arange(1, len(curve.errors) + 1) / len(curve.errors)
        ax.step(curve.errors, heights, where="post", color=colour, linestyle=STYLES[k], label=label(curve.name, 48))
        for q, value in zip(FRACTILES, curve.fractiles):
            ax.vlines(value, 0, q, color=colour, linewidth=0.9, linestyle=STYLES[k] if q == 0.5 else ":")
    for line in info.lines:
        ax.plot(line.errors, line.heights, color=PALETTE[1], linestyle="-.", label=label(line.name, 48))
    for q in FRACTILES:
        ax.axhline(q, color=PALETTE[5], linewidth=0.5, linestyle=":")
    tidy(ax, "x")
    ax.set_ylim(0, 1.02)
    ax.set_yticks([0, *FRACTILES, 1], ["0", *(f"{q:g}" for q in FRACTILES), "1"])
    ax.set_xlabel(label(info.label, 60))
    percent(ax.xaxis, info.loss)
    ax.set_ylabel("share of splits at or below")
    legend_below(ax)


@dataclass(frozen=True)
class Differences:
    """Differences of the errors of two models, and their mean with the corrected error."""

    values: Floats
    mean: float
    error: float
    names: tuple[str, str]


def _differences(c: DistributionComparison) -> Differences:
    return Differences(c.values, c.difference, c.corrected_std_error, c.names)


def draw_differences(info: Differences, ax: Any) -> None:
    """Draw the differences split by split, their mean and plus and minus one corrected standard error."""
    ax.hist(info.values, bins="auto", color=PALETTE[0], alpha=0.45)
    ax.axvline(0.0, color=PALETTE[5], linewidth=0.9, linestyle="--")
    ax.axvline(info.mean, color=PALETTE[1], label="mean")
    if np.isfinite(info.error):
        ax.axvspan(
            info.mean - info.error, info.mean + info.error, color=PALETTE[1], alpha=0.15, label="± corrected std error"
        )
    ax.set_xlabel("error of the first minus error of the second")
    tidy(ax, "y")
    ax.set_ylabel("splits")
    ax.legend(frameon=False)


figure(
    Figure(
        name="error-distribution",
        record=ErrorDistribution,
        info=_one,
        draw=draw_curves,
        title="Distribution of the error over splits",
        caption="Share of leave-out splits with an error at or below a value; vertical lines mark the 5%, 50% and 95% fractiles. For "
        "least squares the dash-dotted line is the asymptotic law of the error itself over training sets of all units: it has "
        "none of the luck of a small test part.",
        order=10,
    )
)
figure(
    Figure(
        name="error-distributions",
        record=DistributionComparison,
        info=_two,
        draw=draw_curves,
        title="Distributions of the error over splits",
        caption="The first model solid, the second dashed; vertical lines mark the 5%, 50% and 95% fractiles.",
        order=10,
    )
)
figure(
    Figure(
        name="error-differences",
        record=DistributionComparison,
        info=_differences,
        draw=draw_differences,
        title="Differences split by split",
        caption="Left of the dashed line the first model has the smaller error. Splits overlap: their spread is no sampling error.",
        order=20,
    )
)
