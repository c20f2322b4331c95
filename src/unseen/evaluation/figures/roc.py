"""ROC curve with its simultaneous band, and precision against sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.evaluation.curves import PrecisionRecall, Roc
from unseen.evaluation.measure_record import Measures
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, PALETTE, label, legend_below, tidy

__all__ = ["PrecisionInfo", "RocInfo"]

# the palette has six colours, one of them for chance
MOST_CURVES = 5
# about the pixels of the axis; more points only make the page larger
MOST_POINTS = 400


@dataclass(frozen=True, kw_only=True)
class RocInfo:
    """Curves by class (false-alarm rate, sensitivity), their areas, the band of a single one, and the decision made."""

    labels: tuple[str, ...]
    curves: tuple[tuple[Floats, Floats], ...]
    areas: tuple[float, ...]
    band: tuple[Floats, Floats, Floats] | None
    decision: tuple[float, float] | None
    level: float

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return "; ".join(f"{name}: area {area:.3f}" for name, area in zip(self.labels, self.areas))


def has_band(m: Measures) -> bool:
    """Say whether the picture has a band: that of one curve over independent cases."""
    if m.cases.classes is None or m.cases.size != 2:
        return False
    return _has_band([m.roc(m.cases.classes[m.cases.positive])])


def _has_band(rocs: list[Roc]) -> bool:
    return len(rocs) == 1 and len(np.unique(rocs[0].units)) == len(rocs[0].units)


def _thin(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    some = np.unique(np.linspace(0, len(x) - 1, min(MOST_POINTS, len(x))).round().astype(int))
    return x[some], y[some]


def _roc_info(rocs: list[Roc], level: float, decision: tuple[float, float] | None) -> RocInfo:
    band = None
    if _has_band(rocs):
        grid, low, high = rocs[0].band(level)
        some = np.unique(np.linspace(0, len(grid) - 1, min(MOST_POINTS, len(grid))).round().astype(int))
        band = grid[some], low[some], high[some]
    curves = tuple(_thin(r.alarm_rate, r.hit_rate) for r in rocs)
    return RocInfo(
        labels=tuple(r.label for r in rocs),
        curves=curves,
        areas=tuple(r.auc.value for r in rocs),
        band=band,
        decision=decision,
        level=level,
    )


def info(m: Measures) -> RocInfo | None:
    """Return the curves of the positive class, or of the first few classes against the rest."""
    cases = m.cases
    if cases.score is None or cases.classes is None:
        return None
    codes = [cases.positive] if cases.size == 2 else range(min(cases.size, MOST_CURVES))
    try:
        rocs = [m.roc(cases.classes[k]) for k in codes]
    except InputError:
        return None
    decision = None
    if cases.size == 2 and "false-alarm-rate" in m.estimates and "sensitivity" in m.estimates:
        decision = m["false-alarm-rate"].value, m["sensitivity"].value
    return _roc_info(rocs, m.level, decision)


def info_of_roc(roc: Roc) -> RocInfo:
    """Return the numbers of one curve."""
    return _roc_info([roc], roc.auc.level or 0.95, None)


def draw(numbers: RocInfo, ax: Any) -> None:
    """Draw the curves, the band of a single one, and the diagonal."""
    tidy(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="chance")
    if numbers.band is not None:
        grid, low, high = numbers.band
        text = f"{100 * numbers.level:g}% band of the whole curve"
        ax.fill_between(grid, low, high, color=MAIN, alpha=0.15, linewidth=0, label=text)
    for k, (name, (x, y), area) in enumerate(zip(numbers.labels, numbers.curves, numbers.areas)):
        ax.plot(x, y, color=PALETTE[k % 5], linewidth=1.8, label=f"{label(name)} (area {area:.3f})")
    if numbers.decision is not None:
        ax.plot(*numbers.decision, marker="o", color=OTHER, linestyle="none", label="decisions made")
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal")
    ax.set_xlabel("false-alarm rate")
    ax.set_ylabel("sensitivity")
    legend_below(ax, columns=2)


@dataclass(frozen=True, kw_only=True)
class PrecisionInfo:
    """Sensitivity, precision and its limits, the area under the steps, and the prevalence."""

    label: str
    recall: Floats
    precision: Floats
    low: Floats
    high: Floats
    area: float
    prevalence: float

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"average precision {self.area:.3f} at prevalence {self.prevalence:.3f}"


def info_of_precision(p: PrecisionRecall) -> PrecisionInfo:
    """Return the points of one class, thinned to what a page can show."""
    some = np.unique(np.linspace(0, len(p.recall) - 1, min(MOST_POINTS, len(p.recall))).round().astype(int))
    return PrecisionInfo(
        label=p.label,
        recall=p.recall[some],
        precision=p.precision[some],
        low=p.low[some],
        high=p.high[some],
        area=p.average_precision.value,
        prevalence=p.prevalence,
    )


def precision_info(m: Measures) -> PrecisionInfo | None:
    """Return the precision-recall points of the positive class."""
    if m.cases.score is None or m.cases.size != 2:
        return None
    try:
        return info_of_precision(m.precision_recall())
    except InputError:
        return None


def draw_precision(numbers: PrecisionInfo, ax: Any) -> None:
    """Draw precision as steps with its pointwise limits."""
    tidy(ax)
    ax.fill_between(numbers.recall, numbers.low, numbers.high, step="pre", color=MAIN, alpha=0.15, linewidth=0)
    ax.step(numbers.recall, numbers.precision, where="pre", color=MAIN, linewidth=1.8, label=label(numbers.label))
    ax.axhline(numbers.prevalence, color=GREY, linestyle="--", linewidth=1, label="guessing")
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_xlabel("sensitivity (recall)")
    ax.set_ylabel("precision")
    legend_below(ax, columns=2)


CAPTION = (
    "Sensitivity against false-alarm rate as the threshold falls, one point per distinct score. The band holds the whole true "
    "curve with the stated confidence, which makes it wide."
)
figure(
    Figure(
        name="roc", record=Measures, info=info, draw=draw, title="ROC curve", caption=CAPTION, size=(5.6, 5.4), order=30
    )
)
figure(
    Figure(
        name="roc",
        record=Roc,
        info=info_of_roc,
        draw=draw,
        title="ROC curve",
        caption=CAPTION,
        size=(5.6, 5.4),
        order=10,
    )
)
for record, made, order in ((Measures, precision_info, 40), (PrecisionRecall, info_of_precision, 10)):
    figure(
        Figure(
            name="precision-recall",
            record=record,
            info=made,
            draw=draw_precision,
            title="Precision and recall",
            caption="Share of positives among the cases called positive; the shade holds pointwise Wilson limits.",
            size=(6.4, 3.8),
            order=order,
        )
    )
