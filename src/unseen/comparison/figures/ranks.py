"""Critical-difference diagram of mean ranks over many data sets (Demsar, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label
from unseen.significance.ranking import Ranking

__all__ = ["RanksInfo"]


@dataclass(frozen=True, kw_only=True)
class RanksInfo:
    """Models from the best mean rank to the worst, and the first and last of each group that is not distinguished."""

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: tuple[tuple[int, int], ...]
    critical_difference: float | None
    n_datasets: int

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the models need."""
        return 7.0, 1.3 + 0.26 * ((len(self.names) + 1) // 2) + 0.14 * len(self.groups)


def info(r: Ranking) -> RanksInfo:
    """Return ordered mean ranks and the groups by place."""
    order = r.order()
    names = tuple(r.names[k] for k in order)
    groups = tuple((names.index(group[0]), names.index(group[-1])) for group in r.groups())
    return RanksInfo(
        names=names,
        ranks=tuple(float(r.mean_ranks[k]) for k in order),
        groups=groups,
        critical_difference=r.critical_difference,
        n_datasets=r.n_datasets,
    )


def draw(numbers: RanksInfo, ax: Any) -> None:
    """Draw the axis of ranks on top, names left and right below it, a bar over models that are not distinguished."""
    k = len(numbers.names)
    half = (k + 1) // 2
    bars = 0.35 * len(numbers.groups)
    depth = 0.5 + bars
    ax.set_xlim(1 - 0.02 * k, k + 0.02 * k)
    ax.set_ylim(-(depth + 0.62 * half), 1.35)
    ax.plot([1, k], [0, 0], color=GREY, linewidth=1.2)
    for tick in range(1, k + 1):
        ax.plot([tick, tick], [0, 0.16], color=GREY, linewidth=1.2)
        ax.text(tick, 0.24, str(tick), ha="center", va="bottom")
    for place, (name, rank) in enumerate(zip(numbers.names, numbers.ranks)):
        left = place < half
        level = -(depth + 0.62 * (place if left else k - 1 - place))
        edge, side = (1 - 0.02 * k, "right") if left else (k + 0.02 * k, "left")
        ax.plot([rank, rank, edge], [0, level, level], color=MAIN, linewidth=1.1, clip_on=False)
        ax.plot([rank], [0], marker="o", color=MAIN, markersize=5)
        text = f"{label(name, 20)}  {rank:.2f}" if left else f"{rank:.2f}  {label(name, 20)}"
        offset = (-4, 0) if left else (4, 0)
        ax.annotate(
            text, (edge, level), offset, textcoords="offset points", ha=side, va="center", annotation_clip=False
        )
    for line, (first, last) in enumerate(numbers.groups):
        at = -(0.3 + 0.35 * line)
        ax.plot([numbers.ranks[first], numbers.ranks[last]], [at, at], color=OTHER, linewidth=4, solid_capstyle="round")
    if numbers.critical_difference is not None:
        end = 1 + numbers.critical_difference
        ax.plot([1, end], [1.0, 1.0], color=OTHER, linewidth=2, marker="|", markersize=8, clip_on=False)
        ax.annotate(
            f"critical difference {numbers.critical_difference:.2f}",
            (end, 1.0),
            (6, 0),
            textcoords="offset points",
            va="center",
            ha="left",
            annotation_clip=False,
        )
    ax.axis("off")


figure(
    Figure(
        name="ranks",
        record=Ranking,
        info=info,
        draw=draw,
        title="Mean ranks and critical difference",
        caption="Mean rank of each model over the data sets, 1 being the best. Models joined by a bar are not distinguished by the "
        "pairwise tests.",
        order=10,
    )
)
