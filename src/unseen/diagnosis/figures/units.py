"""Units by error and stability, and optimism against training error over splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, axis_name, is_rate, label, legend_below, percent, points, tidy

__all__ = ["LinkInfo", "RankingInfo", "UnitsInfo"]

NAMED = 8  # more names hide the points
# a letter and a line of a name as shares of the axes, on the narrow page of a phone where they are largest
LETTER, LINE = 0.022, 0.06
LONGEST = 24  # letters of a name in the picture


@dataclass(frozen=True, kw_only=True)
class UnitsInfo:
    """Error and agreement (or spread) of each unit, which are hard, and names for the hardest."""

    error: Floats
    agreement: Floats
    hard: Any
    names: tuple[tuple[float, float, str], ...]
    n_named: int
    loss: str
    spread: bool

    @property
    def caption(self) -> str:
        """How to read it: agreement grows to the right, spread too."""
        agree, differ = ("left", "right") if self.spread else ("right", "left")
        text = (
            f"Each point is a unit. High and to the {agree}: models agree and are wrong, so look for a wrong {'value' if self.spread else 'label'}. "
            f"High and to the {differ}: models disagree, so more data or a missing feature may help."
        )
        hard = int(self.hard.sum())
        return text if self.n_named == hard else f"{text} {self.n_named} of the {hard} hard units are named."

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{int(self.hard.sum())} hard units of {len(self.error)}"


def units_info(d: Diagnosis) -> UnitsInfo:
    """Return the units."""
    u = d.units
    hard = np.zeros(len(u.units), dtype=bool)
    hard[u.hard] = True
    places: dict[tuple[float, float], list[str]] = {}
    for k in u.hard:
        places.setdefault((float(u.agreement[k]), float(u.error[k])), []).append(u.names[k])
    names = [(x, y, _list(here)) for (x, y), here in places.items()]
    span = tuple(max(float(np.ptp(v[np.isfinite(v)])), 1e-12) for v in (u.agreement, u.error))
    apart = _without_overlap(names, span)[:NAMED]
    return UnitsInfo(
        error=u.error,
        agreement=u.agreement,
        hard=hard,
        names=tuple(apart),
        n_named=sum(len(places[x, y]) for x, y, _ in apart),
        loss=d.table.loss,
        spread=u.task == "regression",
    )


def _without_overlap(names: list[tuple[float, float, str]], span: tuple[float, ...]) -> list[tuple[float, float, str]]:
    """Return the names that can be read beside those before them; each ends at its point."""
    kept: list[tuple[float, float, str]] = []
    for one in names:
        right, y, width = one[0] / span[0], one[1] / span[1], LETTER * min(len(one[2]), LONGEST)
        free = True
        for x, other_y, text in kept:
            other = x / span[0]
            beside = right <= other - LETTER * min(len(text), LONGEST) or other <= right - width
            free &= beside or abs(y - other_y / span[1]) >= LINE
        if free:
            kept.append(one)
    return kept


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def draw_units(numbers: UnitsInfo, ax: Any) -> None:
    """Draw error against stability, hard units marked."""
    tidy(ax)
    for mask, colour, text in ((~numbers.hard, MAIN, "other units"), (numbers.hard, OTHER, "hard units")):
        ax.plot(numbers.agreement[mask], numbers.error[mask], "o", color=colour, alpha=0.55, markersize=5, label=text)
    for x, y, name in numbers.names:
        ax.annotate(
            label(name, LONGEST),
            (x, y),
            xytext=(-5, 0),
            textcoords="offset points",
            fontsize=8,
            ha="right",
            va="center",
        )
    ax.set_xlabel("spread of predictions" if numbers.spread else "chance that two models agree")
    ax.set_ylabel(f"mean {axis_name(numbers.loss)}")
    percent(ax.yaxis, numbers.loss)
    legend_below(ax)


@dataclass(frozen=True, kw_only=True)
class LinkInfo:
    """Training error and optimism of each split, their correlation, and the straight line through them."""

    train: Floats
    optimism: Floats
    correlation: float
    line: tuple[float, float] | None
    loss: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"correlation {self.correlation:.2f} over {len(self.train)} splits"


def link_info(d: Diagnosis) -> LinkInfo:
    """Return optimism against training error."""
    o = d.optimism
    line = None
    if np.ptp(o.train) > 0:
        slope, cut = np.polyfit(o.train, o.optimism, 1)
        line = float(slope), float(cut)
    return LinkInfo(train=o.train, optimism=o.optimism, correlation=o.correlation, line=line, loss=d.table.loss)


def draw_link(numbers: LinkInfo, ax: Any) -> None:
    """Draw one point per split and the line through them."""
    tidy(ax)
    ax.axhline(0, color=GREY, linewidth=0.9, linestyle="--")
    ax.plot(numbers.train, numbers.optimism, "o", color=MAIN, alpha=0.6, markersize=5)
    if numbers.line is not None:
        ends = np.array([numbers.train.min(), numbers.train.max()])
        ax.plot(ends, numbers.line[0] * ends + numbers.line[1], color=OTHER, linewidth=1.6)
    ax.set_xlabel("training error")
    percent(ax.xaxis, numbers.loss)
    unit = points(ax.yaxis, is_rate(numbers.loss))
    ax.set_ylabel(f"optimism{unit}" if unit else "optimism (test minus training error)")


@dataclass(frozen=True)
class RankingInfo:
    """Models, best first, and the share of splits in which each is first."""

    names: tuple[str, ...]
    first: tuple[float, ...]
    size: tuple[float, float]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return "; ".join(f"{n} first in {100 * f:.0f}% of splits" for n, f in zip(self.names, self.first))


def ranking_info(d: Diagnosis) -> RankingInfo | None:
    """Return the ranking, or None if no other models were given."""
    if d.ranking is None:
        return None
    return RankingInfo(d.ranking.names, d.ranking.first, (7.0, 1.0 + 0.35 * len(d.ranking.names)))


def draw_ranking(numbers: RankingInfo, ax: Any) -> None:
    """Draw one bar per model."""
    tidy(ax, "x")
    place = -np.arange(len(numbers.names))
    ax.barh(place, numbers.first, color=MAIN, height=0.6)
    ax.set_yticks(place, [label(n, 40) for n in numbers.names])
    ax.set_xlim(0, 1)
    percent(ax.xaxis, "zero-one")
    ax.set_xlabel("splits in which it has the smallest error")


figure(
    Figure(
        name="diagnosis-units",
        record=Diagnosis,
        info=units_info,
        draw=draw_units,
        title="Hard and unstable units",
        size=(7.0, 4.2),
        order=10,
    )
)
figure(
    Figure(
        name="diagnosis-optimism",
        record=Diagnosis,
        info=link_info,
        draw=draw_link,
        title="Optimism and training error",
        caption="Each point is a split; optimism is its test error minus its training error. If the line falls, adding the mean optimism to the training error does not cure its bias.",
        size=(6.4, 3.8),
        order=60,
    )
)
figure(
    Figure(
        name="diagnosis-ranking",
        record=Diagnosis,
        info=ranking_info,
        draw=draw_ranking,
        title="Stability of the ranking",
        caption="A share near one over the number of models says that the ranking is decided by the split.",
        order=70,
    )
)
