"""Units that most splits get wrong, and how the error is spread over units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import MANY_SPLITS, first_table, unit_name
from unseen.assessment.wording import value_in_units
from unseen.core.arrays import Floats, Ints
from unseen.core.losses import LossTable
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, axis_name, is_rate, percent, tidy

__all__ = ["HardestInfo"]

SHOWN = 15  # rows of the table; more would not fit one screen
MOST_POINTS = 300  # more points make the picture larger but not clearer


@dataclass(frozen=True, kw_only=True)
class HardestInfo:
    """The hardest units, worst first (`name`, `truth`, `said`, `loss`, `tested`), and the whole curve.

    `curve` is the mean loss of the units that begin at the share `rank` of all tested ones; `never` and `always` count
    the units without any loss and, for a rate, those wrong in every split.
    """

    name: tuple[str, ...]
    truth: tuple[str, ...]
    said: tuple[str, ...]
    loss: Floats
    tested: Ints
    rank: Floats
    curve: Floats
    never: int
    always: int
    n_tested: int
    grouped: bool
    measure: str

    @property
    def unit(self) -> str:
        """What is hard: a group of rows, or a case."""
        return "group" if self.grouped else "case"

    @property
    def caption(self) -> str:
        """How to read it."""
        return (
            f"Mean error of each {self.unit} over the splits that tested it, hardest first. A steep fall means a few {self.unit}s "
            "make most of the error: look at them for wrong labels or a missing feature. A long slope means that it is spread over many."
        )

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"of {self.n_tested} units {self.never} have no error; the hardest is {self.name[0]}"


def info(a: Assessment) -> HardestInfo | None:
    """Return the units by falling loss, or None if nothing was tested or nothing was ever wrong."""
    table = first_table(a, MANY_SPLITS)
    if table is None or table.by_split:
        return None
    measure, loss = value_in_units(table.loss, table.by_unit())
    tested = np.flatnonzero(np.isfinite(loss))
    times = np.zeros(a.data.n_units, dtype=np.int64)
    np.maximum.at(times, a.data.units, table.times_tested())  # a split tests all rows of a group, and counts once
    order = tested[np.lexsort((-times[tested], -loss[tested]))]  # of equals, the most often tested first
    worst = order[:SHOWN]
    worst = worst[loss[worst] > 0]
    if not len(worst):
        return None
    some = np.unique(np.linspace(0, len(order) - 1, min(MOST_POINTS, len(order))).round().astype(np.int64))
    grouped = a.data.groups is not None
    return HardestInfo(
        name=tuple(unit_name(a.data, int(u)) for u in worst),
        truth=tuple(_truth(a, int(u)) for u in worst),
        said=tuple(_predictions_of(a, table, int(u)) for u in worst),
        loss=loss[worst],
        tested=times[worst],
        rank=np.append(some / len(order), 1.0),
        curve=np.append(loss[order][some], loss[order[-1]]),
        never=int(np.sum(loss[tested] == 0)),
        always=int(np.sum(loss[tested] == 1)) if is_rate(table.loss) else 0,
        n_tested=len(order),
        grouped=grouped,
        measure=measure,
    )


def _truth(a: Assessment, unit: int) -> str:
    values = a.data.y[a.data.units == unit]
    return _list([str(v) for v in values]) if a.data.task == "classification" else f"{np.mean(values):.4g}"


def _predictions_of(a: Assessment, table: LossTable, unit: int) -> str:
    """Return the most frequent wrong label, or the mean prediction."""
    test = table.source[0].test
    mine = a.data.units[test.row] == unit
    if a.data.classes is None:
        return f"{float(np.mean(test.value[mine])):.4g}"
    codes = test.value[mine].astype(np.int64)
    wrong = codes[codes != a.data.codes[test.row[mine]]]
    return "" if not len(wrong) else str(a.data.classes[np.bincount(wrong).argmax()])


def _list(labels: list[str]) -> str:
    kinds = list(dict.fromkeys(labels))
    return kinds[0] if len(kinds) == 1 else ", ".join(f"{kind} ({labels.count(kind)})" for kind in kinds[:4])


def draw(numbers: HardestInfo, ax: Any) -> None:
    """Draw the units' mean loss in falling order."""
    tidy(ax)
    ax.fill_between(numbers.rank, 0, numbers.curve, step="post", color=MAIN, alpha=0.25, linewidth=0)
    ax.step(numbers.rank, numbers.curve, where="post", color=MAIN, linewidth=1.8)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    percent(ax.xaxis, "zero-one")
    ax.set_xlabel(f"{numbers.unit}s, hardest first")
    ax.set_ylabel("share of splits that miss it" if is_rate(numbers.measure) else axis_name(numbers.measure))
    percent(ax.yaxis, numbers.measure)


figure(
    Figure(
        name="hardest",
        record=Assessment,
        info=info,
        draw=draw,
        title="Hardest cases",
        size=(7.0, 3.0),
        order=60,
    )
)
