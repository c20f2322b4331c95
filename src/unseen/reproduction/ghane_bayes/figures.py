"""Figures of the Bayesian-network experiment: bias, variance and RMS by sample size, and how calibrated the posterior is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction.ghane_bayes.checks import NAMES, QUANTITIES
from unseen.reproduction.ghane_bayes.experiment import BayesResult
from unseen.show.figures import PALETTE, Figure, figure
from unseen.show.style import tidy

__all__: list[str] = []

LABELS = {"resub": "resubstitution", "bayesian": "Bayesian PP", "bayesian-bolster": "bolstered Bayesian PP"}
MARKS = {"resub": "o", "bayesian": "s", "bayesian-bolster": "^"}

PITCH, BELOW, BETWEEN, ABOVE = 2.3, 0.85, 0.65, 0.25  # inches
TITLES = {"bias": "bias", "variance": "variance", "rms": "root mean square error"}


@dataclass(frozen=True)
class Panels:
    """Figures by width, quantity and estimator: values and Monte-Carlo errors over sizes."""

    nets: tuple[str, ...]
    sizes: tuple[Floats, ...]
    values: dict[tuple[int, str, str], tuple[Floats, Floats]]

    @property
    def size(self) -> tuple[float, float]:
        """Inches: a row of panels for each net."""
        return 9.5, PITCH * len(self.nets) - BETWEEN + BELOW + ABOVE

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        last = ", ".join(f"{LABELS[name]} {self.values[0, 'bias', name][0][-1]:+.3f}" for name in NAMES)
        return f"bias of {self.nets[0]} at n = {self.sizes[0][-1]:.0f}: {last}"


def _panels(result: BayesResult) -> Panels | None:
    widths = sorted({w for w, _ in result.runs})
    found = result.summaries
    sizes, values = [], {}
    for row, width in enumerate(widths):
        mine = sorted(n for w, n in result.runs if w == width)
        if len(mine) < 2:
            return None
        sizes.append(np.array(mine, dtype=float))
        for q in QUANTITIES:
            for name in NAMES:
                each = [found[width, n, name] for n in mine]
                values[row, q, name] = (
                    np.array([getattr(s, q) for s in each]),
                    np.array([getattr(s, f"{q}_error") for s in each]),
                )
    kinds = {"synthetic": "{} hidden units", "lenet": "LeNet-5", "mlp": "2 × {} hidden units"}
    return Panels(tuple(kinds[result.part].format(w) for w in widths), tuple(sizes), values)


def _draw_panels(info: Panels, ax: Any) -> None:
    ax.axis("off")
    rows = len(info.nets)
    total = info.size[1]
    limits = {q: _limits([info.values[r, q, name] for r in range(rows) for name in NAMES], q) for q in QUANTITIES}
    for row, net in enumerate(info.nets):
        for column, q in enumerate(QUANTITIES):
            bottom = BELOW + (rows - 1 - row) * PITCH
            panel = ax.inset_axes((0.06 + column * 0.345, bottom / total, 0.25, (PITCH - BETWEEN) / total))
            for k, name in enumerate(NAMES):
                value, error = info.values[row, q, name]
                panel.errorbar(
                    info.sizes[row],
                    value,
                    yerr=2 * error,
                    color=PALETTE[k],
                    marker=MARKS[name],
                    markersize=4,
                    linewidth=1.4,
                    capsize=2,
                )
            if q == "bias":
                panel.axhline(0.0, color=PALETTE[5], linewidth=0.8)
            panel.set_ylim(limits[q])
            panel.set_xticks(info.sizes[row])
            tidy(panel)
            panel.set_title(f"{net}: {TITLES[q]}" if q == "bias" else TITLES[q], fontsize=10, loc="left")
            if row == rows - 1:
                panel.set_xlabel("training examples")
    for k, name in enumerate(NAMES):
        ax.plot([], [], color=PALETTE[k], marker=MARKS[name], label=LABELS[name])
    ax.legend(loc="lower center", ncol=3, frameon=False, bbox_to_anchor=(0.5, 0.0), borderaxespad=0.0)


def _limits(curves: list[tuple[Floats, Floats]], quantity: str) -> tuple[float, float]:
    low = min(float((v - 2 * e).min()) for v, e in curves)
    high = max(float((v + 2 * e).max()) for v, e in curves)
    low, high = (min(low, 0.0), max(high, 0.0)) if quantity == "bias" else (0.0, high)
    return low - 0.05 * (high - low) * (quantity == "bias"), high + 0.05 * (high - low)


@dataclass(frozen=True)
class PosteriorCalibration:
    """Mean doubt of the predictive on training and on fresh points beside its true error, by cell."""

    labels: tuple[str, ...]
    train: Floats
    fresh: Floats
    truth: Floats

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        gap = float(np.mean(self.fresh - self.truth))
        return f"doubt on fresh points less true error, on average over cells: {gap:+.3f}"


def _calibration(result: BayesResult) -> PosteriorCalibration | None:
    keys = sorted(result.runs)
    train, fresh, truth = (
        np.array([result.runs[k][column].mean() for k in keys]) for column in ("bayesian", "test_doubt", "true_error")
    )
    labels = tuple(f"{w}, {n}" if w else str(n) for w, n in keys)
    return PosteriorCalibration(labels, train, fresh, truth)


def _draw_calibration(info: PosteriorCalibration, ax: Any) -> None:
    place = np.arange(len(info.labels))
    ax.plot(place, info.truth, "_", color=PALETTE[5], markersize=16, markeredgewidth=2.5, label="true error")
    ax.plot(place, info.fresh, "D", color=PALETTE[3], label="1 − P on fresh points")
    ax.plot(place, info.train, "s", color=PALETTE[1], label="1 − P on training points (Bayesian PP)")
    ax.set_xticks(place, info.labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_ylim(bottom=0)
    tidy(ax)
    ax.set_xlabel("hidden units, training examples" if "," in info.labels[0] else "training examples")
    ax.set_ylabel("error")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3, frameon=False)


figure(
    Figure(
        name="bayes-panels",
        record=BayesResult,
        info=_panels,
        draw=_draw_panels,
        title="Bias, variance and RMS",
        caption="Three estimates of the error of the Bayesian classifier by sample size; bars are two Monte-Carlo errors each way.",
        size=(9.5, 7.8),
        order=5,
    )
)
figure(
    Figure(
        name="bayes-calibration",
        record=BayesResult,
        info=_calibration,
        draw=_draw_calibration,
        title="Is the posterior calibrated?",
        caption="Where the doubt on fresh points is the true error, the posterior is calibrated, and what the estimate misses comes from having seen "
        "the training points.",
        size=(7.5, 4.4),
        order=6,
    )
)
