"""Figures of the MNIST experiment: noisy digits, and RMS by sample size beside the published values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.summary import summarize
from unseen.reproduction.ghane_mnist.checks import ESTIMATORS
from unseen.reproduction.ghane_mnist.experiment import MnistResult
from unseen.reproduction.published_numbers import read_published
from unseen.show.figures import PALETTE, Figure, figure
from unseen.show.style import GREY, legend_below, tidy

__all__: list[str] = []

LABELS = {
    "resub": "resubstitution",
    "nb_bolster": "naive-Bayes bolster",
    "calibrated_r1": "calibrated, r = 1",
    "calibrated_r5": "calibrated, r = 5",
}


@dataclass(frozen=True)
class NoisyDigits:
    """Noisy images (kappas, 10, height, width) and their kappas."""

    images: Floats
    kappas: tuple[float, ...]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"ten digits with kernel noise at kappa = {', '.join(f'{k:g}' for k in self.kappas)}"


def _digits(result: MnistResult) -> NoisyDigits | None:
    return None if result.digits is None else NoisyDigits(np.asarray(result.digits), result.kappas)


def _draw_digits(info: NoisyDigits, ax: Any) -> None:
    rows, columns, height, width = info.images.shape
    sheet = info.images.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)
    ax.imshow(sheet, cmap="gray_r", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([height * (k + 0.5) for k in range(rows)], [f"κ = {k:g}" for k in info.kappas])
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)


@dataclass(frozen=True)
class BySize:
    """RMS of each estimator by sample size, ours and published."""

    sizes: Floats
    ours: dict[str, Floats]
    theirs: dict[str, Floats]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        last = ", ".join(f"{LABELS[c]} {v[-1]:.3f}" for c, v in self.ours.items())
        return f"root mean square error at n = {self.sizes[-1]:.0f}: {last}"


def _by_size(result: MnistResult) -> BySize | None:
    sizes = sorted(result.runs)
    if len(sizes) < 2:
        return None
    table = {
        (row["n"], row["estimator"]): row["value"] for row in read_published("ghane_mnist") if row["table"] == "2.8 rms"
    }
    ours, theirs = {}, {}
    for column in ESTIMATORS:
        ours[column] = np.array([summarize(result.runs[n][column], result.runs[n]["true_error"]).rms for n in sizes])
        theirs[column] = np.array([table.get((n, column), np.nan) for n in sizes], dtype=float)
    return BySize(np.array(sizes, dtype=float), ours, theirs)


def _draw_by_size(info: BySize, ax: Any) -> None:
    for k, column in enumerate(ESTIMATORS):
        ax.plot(info.sizes, info.ours[column], "o-", color=PALETTE[k], label=LABELS[column])
        ax.plot(info.sizes, info.theirs[column], "s:", color=PALETTE[k], markerfacecolor="none")
    ax.plot([], [], "s:", color=GREY, markerfacecolor="none", label="published")
    ax.set_ylim(bottom=0)
    ax.set_xticks(info.sizes)
    tidy(ax)
    ax.set_xlabel("training images")
    ax.set_ylabel("root mean square error of the estimate")
    legend_below(ax)


figure(
    Figure(
        name="mnist-rms",
        record=MnistResult,
        info=_by_size,
        draw=_draw_by_size,
        title="Error of the error estimates",
        caption="Root mean square difference of estimate and true error by sample size; dotted, the published values.",
        size=(7.0, 4.2),
        order=5,
    )
)
figure(
    Figure(
        name="noisy-digits",
        record=MnistResult,
        info=_digits,
        draw=_draw_digits,
        title="Monte-Carlo images",
        caption="A training image of each digit with the noise of its class's kernel at three sizes (figure 2.3 of the dissertation).",
        size=(8.0, 2.7),
        order=6,
    )
)
