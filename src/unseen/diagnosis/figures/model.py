"""Coefficients, learning curve with its extension, tolerance of noise, and the permutation test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.diagnosis.dependence import Dependence
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.diagnosis.learning_curve import LearningCurveFit
from unseen.diagnosis.noise import NoiseTolerance
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, PALETTE, axis_name, label, legend_below, percent, tidy

__all__ = ["CoefficientsInfo", "Drawn"]

# as many names as a page has lines
MOST = 30


@dataclass(frozen=True, kw_only=True)
class CoefficientsInfo:
    """The largest coefficients relative to their errors: names, values, ends, and which cannot be distinguished from zero."""

    names: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    weak: Any
    size: tuple[float, float]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{int(np.sum(~self.weak))} of the {len(self.names)} shown differ from zero"


def coefficients_info(d: Diagnosis) -> CoefficientsInfo | None:
    """Return the coefficients by falling ratio to their error."""
    c = d.coefficients
    if c is None:
        return None
    ratio = np.abs(c.value) / np.where(c.std_error > 0, c.std_error, np.inf)
    order = np.argsort(-ratio, kind="stable")[:MOST]
    size = (7.0, 1.0 + 0.26 * len(order))
    return CoefficientsInfo(
        names=tuple(c.names[k] for k in order),
        value=c.value[order],
        low=c.low[order],
        high=c.high[order],
        weak=c.near_zero[order],
        size=size,
    )


def draw_coefficients(numbers: CoefficientsInfo, ax: Any) -> None:
    """Draw one interval per coefficient; hollow points cannot be distinguished from zero."""
    tidy(ax, "x")
    for k in range(len(numbers.names)):
        colour = GREY if numbers.weak[k] else MAIN
        ax.plot([numbers.low[k], numbers.high[k]], [-k, -k], color=colour, linewidth=2.2, solid_capstyle="butt")
        ax.plot(numbers.value[k], -k, "o", color=colour, markerfacecolor="none" if numbers.weak[k] else colour)
    ax.axvline(0, color=OTHER, linewidth=1, linestyle="--")
    ax.set_yticks([-k for k in range(len(numbers.names))], [label(n, 40) for n in numbers.names])
    ax.set_ylim(-len(numbers.names) + 0.4, 0.6)
    ax.set_xlabel("coefficient")


@dataclass(frozen=True)
class Drawn:
    """A part of a diagnosis with the name of its loss."""

    part: Any
    loss: str
    summary: str


def curve_info(d: Diagnosis) -> Drawn | None:
    """Return the learning curve."""
    if d.curve is None:
        return None
    c = d.curve
    return Drawn(
        c,
        d.table.loss,
        f"test error {c.test[0, 0]:.4g} at {c.sizes[0]:g} and {c.test[-1, 0]:.4g} at {c.sizes[-1]:g} units",
    )


def draw_curve(numbers: Drawn, ax: Any) -> None:
    """Draw observed errors with bands and the law with its limits."""
    curve: LearningCurveFit = numbers.part
    tidy(ax)
    parts = [(curve.test, OTHER, "o", "test error")]
    if curve.train is not None:
        parts.append((curve.train, MAIN, "s", "training error"))
    for values, colour, marker, name in parts:
        ax.fill_between(curve.sizes, values[:, 1], values[:, 2], color=colour, alpha=0.15, linewidth=0)
        ax.plot(curve.sizes, values[:, 0], color=colour, marker=marker, markersize=5, label=name)
    beyond = curve.ahead >= curve.sizes[-1]
    ax.fill_between(
        curve.ahead[beyond], curve.low[beyond], curve.high[beyond], color=PALETTE[3], alpha=0.2, linewidth=0
    )
    ax.plot(curve.ahead, curve.law, color=PALETTE[3], linestyle="--", label="power law, extended")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("units trained on")
    ax.set_ylabel(axis_name(numbers.loss))
    percent(ax.yaxis, numbers.loss)
    legend_below(ax)


def noise_info(d: Diagnosis) -> Drawn | None:
    """Return the tolerance of noise."""
    if d.noise is None:
        return None
    return Drawn(
        d.noise, d.table.loss, f"error {d.noise.error[0]:.4g} without and {d.noise.error[-1]:.4g} with most noise"
    )


def draw_noise(numbers: Drawn, ax: Any) -> None:
    """Draw the error at each noise level with the spread over samples."""
    noise: NoiseTolerance = numbers.part
    tidy(ax)
    ax.vlines(noise.rates, noise.low, noise.high, color=MAIN, linewidth=2)
    ax.plot(noise.rates, noise.error, color=MAIN, marker="o")
    ax.set_xlabel(f"noise in the {noise.what}")
    ax.set_ylabel(axis_name(numbers.loss))
    percent(ax.yaxis, numbers.loss)
    ax.set_ylim(bottom=0)


def dependence_info(d: Diagnosis) -> Drawn | None:
    """Return the permutation test."""
    return None if d.dependence is None else Drawn(d.dependence, d.table.loss, d.dependence.p_in_words)


def draw_dependence(numbers: Drawn, ax: Any) -> None:
    """Draw the errors on permuted targets and that on the data."""
    test: Dependence = numbers.part
    tidy(ax)
    # errors that differ by rounding alone are one bar
    errors = np.round(test.permuted, 12)
    bins = min(20, max(5, len(errors) // 5)) if np.ptp(errors) > 0 else 1
    ax.hist(errors, bins=bins, color=MAIN, alpha=0.6, label="permuted targets")
    ax.axvline(test.error, color=OTHER, linewidth=2.2, label=f"the data ({test.p_in_words})")
    ax.set_xlabel(f"cross-validated {axis_name(numbers.loss)}")
    ax.set_ylabel("permutations")
    percent(ax.xaxis, numbers.loss)
    legend_below(ax)


figure(
    Figure(
        name="diagnosis-coefficients",
        record=Diagnosis,
        info=coefficients_info,
        draw=draw_coefficients,
        title="Coefficients",
        caption="Coefficients of the fit on all rows with their intervals, clearest first; hollow grey ones cannot be distinguished from zero.",
        order=20,
    )
)
figure(
    Figure(
        name="diagnosis-curve",
        record=Diagnosis,
        info=curve_info,
        draw=draw_curve,
        title="Learning curve and more data",
        caption="Bands hold the middle of the repetitions. The dashed law is a guess beyond the sizes that were run; its shade says how "
        "uncertain it is.",
        size=(7.0, 4.0),
        order=30,
    )
)
figure(
    Figure(
        name="diagnosis-noise",
        record=Diagnosis,
        info=noise_info,
        draw=draw_noise,
        title="Tolerance of noise",
        caption="Models trained on corrupted bootstrap samples and tested on clean units out of the bag.",
        size=(6.4, 3.4),
        order=40,
    )
)
figure(
    Figure(
        name="diagnosis-dependence",
        record=Diagnosis,
        info=dependence_info,
        draw=draw_dependence,
        title="Is there any dependence?",
        caption="If the features said nothing of the target, the error on the data would look like one of the others.",
        size=(6.4, 3.4),
        order=50,
    )
)
figure(
    Figure(
        name="permutations",
        record=Dependence,
        info=lambda d: Drawn(d, d.loss, d.p_in_words),
        draw=draw_dependence,
        title="Is there any dependence?",
        caption="If the features said nothing of the target, the error on the data would look like one of the others.",
        size=(6.4, 3.4),
    )
)
