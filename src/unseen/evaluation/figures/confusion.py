"""Which class is taken for which, as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.evaluation.curves import Confusion
from unseen.evaluation.measure_record import Measures
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, label, short_names

__all__ = ["MOST_CLASSES", "NUMBERED_CLASSES", "ConfusionInfo", "draw", "most_confused"]

MOST_CLASSES = 30  # as many names as a page has lines
NUMBERED_CLASSES = 12  # in more columns numbers do not fit their cells
LONG_NAMED_CLASSES = 8  # more names of 20 letters push the matrix aside on a phone


@dataclass(frozen=True, kw_only=True)
class ConfusionInfo:
    """Rows are true classes, columns predicted ones; `counts` sum to the tested rows, `shares` to 1 in each row.

    With weights, shares are weighted and counts are not. Beyond 30 classes the most confused ones are kept.
    """

    classes: tuple[str, ...]
    counts: Floats
    shares: Floats
    n_classes: int
    target: str

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the classes need."""
        side = float(np.clip(1.6 + 0.62 * len(self.classes), 2.8, 5.8))
        few = 4.6 if len(self.classes) == 2 else 5.6  # two classes stand beside their curves
        return (7.0, side) if len(self.classes) > 6 else (few, side)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        right = np.trace(self.counts) / max(float(self.counts.sum()), 1e-12)
        return f"{len(self.classes)} classes, {100 * right:.0f}% of the cases shown on the diagonal"


def most_confused(counts: Floats) -> Any:
    """Return the places of the classes that are confused most, in their own order."""
    missed = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
    return np.sort(np.argsort(-missed, kind="stable")[:MOST_CLASSES])


def info_of_confusion(c: Confusion) -> ConfusionInfo:
    """Return the matrix of a set of predictions."""
    kept = most_confused(c.counts)
    grid = np.ix_(kept, kept)
    return ConfusionInfo(
        classes=tuple(c.classes[k] for k in kept),
        counts=c.counts[grid],
        shares=np.nan_to_num(c.share[grid]),
        n_classes=len(c.classes),
        target="class",
    )


def info_of_measures(m: Measures) -> ConfusionInfo | None:
    """Return the matrix, or None for numbers."""
    return None if m.cases.classes is None else info_of_confusion(m.confusion())


def draw(numbers: ConfusionInfo, ax: Any) -> None:
    """Draw the matrix; empty cells are left empty."""
    k = len(numbers.classes)
    for i, j in zip(*np.nonzero(numbers.counts > 0)):
        ax.axhspan(
            i - 0.5,
            i + 0.5,
            j / k,
            (j + 1) / k,
            color=MAIN if i == j else OTHER,
            alpha=0.06 + 0.44 * float(numbers.shares[i, j]),
            linewidth=0,
        )
        if k <= NUMBERED_CLASSES:
            _cell(numbers, i, j, ax)
    edges = np.arange(k + 1) - 0.5
    ax.hlines(edges, -0.5, k - 0.5, color="#000000", alpha=0.2, linewidth=0.6)
    ax.vlines(edges, -0.5, k - 0.5, color="#000000", alpha=0.2, linewidth=0.6)
    names = short_names(numbers.classes, 20 if k <= LONG_NAMED_CLASSES else 16 if k <= NUMBERED_CLASSES else 10)
    slanted = k > 4 and max(map(len, names)) > 4
    ax.set_xticks(
        range(k), names, rotation=45 if slanted else 0, ha="right" if slanted else "center", rotation_mode="anchor"
    )
    ax.set_yticks(range(k), names)
    ax.set_xlim(-0.5, k - 0.5)
    ax.set_ylim(k - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("predicted")
    ax.set_ylabel(f"true {label(numbers.target, 20)}")


def _cell(numbers: ConfusionInfo, i: int, j: int, ax: Any) -> None:
    count, share = numbers.counts[i, j], numbers.shares[i, j]
    shown = f"{count:.1f}".removesuffix(".0") if count < 100 else f"{count:.0f}"
    few = len(numbers.classes) <= 6
    ax.text(j, i, f"{shown}\n{100 * share:.0f}%" if few else shown, ha="center", va="center", fontsize=10 if few else 9)


for record, made in ((Confusion, info_of_confusion), (Measures, info_of_measures)):
    figure(
        Figure(
            name="confusion",
            record=record,
            info=made,
            draw=draw,
            title="Which class is taken for which",
            caption="Which class is taken for which; percentages are shares of the true class.",
            order=25,
        )
    )
