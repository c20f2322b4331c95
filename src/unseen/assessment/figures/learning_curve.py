"""Training and test error against the number of training units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.wording import value_in_units
from unseen.core.arrays import Floats, Ints
from unseen.core.estimate import count_of
from unseen.core.losses import LossTable
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, axis_name, is_rate, legend_below, percent, quantity, tidy
from unseen.show.text import percent_or_number

__all__ = ["CurveInfo"]


@dataclass(frozen=True, kw_only=True)
class CurveInfo:
    """Mean, smallest and largest error over repetitions at each training size; `train` and `test` have those columns.

    `baseline` is None if it lies so far off that it would flatten the curves.
    """

    sizes: Floats
    test: Floats
    train: Floats | None
    repeats: Ints
    baseline: float | None
    loss: str
    unit: str = "row"

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        first, last = (percent_or_number(float(v), self.loss) for v in (self.test[0, 0], self.test[-1, 0]))
        fewest, most = f"{self.sizes[0]:.0f}", count_of(self.sizes[-1], self.unit)
        return f"mean test {quantity(self.loss)} {first} trained on {fewest} and {last} on {most}"


def info(a: Assessment) -> CurveInfo | None:
    """Return the curve, or None if it was not run or has a single size."""
    table = a.tables.get("learning-curve")
    if table is None:
        return None
    done = table.completed
    part = np.array([table.plan.splits[j].part for j in done])
    steps = np.unique(part)
    if len(steps) < 2:
        return None
    size = table.plan.sizes[done, 1]
    loss, test = _bands(table, table.split_means(), part, steps)
    guess = value_in_units(table.loss, a.baseline.value)[1]
    near = a.baseline.value <= 1.5 * table.split_means().max()
    return CurveInfo(
        sizes=np.array([size[part == k].mean() for k in steps]),
        test=test,
        train=None if table.train is None else _bands(table, table.train_errors(), part, steps)[1],
        repeats=np.array([int(np.sum(part == k)) for k in steps], dtype=np.int64),
        baseline=guess if near else None,
        loss=loss,
        unit=a.data.unit,
    )


def _bands(table: LossTable, values: Floats, part: Ints, steps: Ints) -> tuple[str, Floats]:
    """Return the name of the measure shown, and its mean, smallest and largest value at each size."""
    name, told = value_in_units(
        table.loss, np.array([(v.mean(), v.min(), v.max()) for v in (values[part == k] for k in steps)])
    )
    return name, np.column_stack([told[:, 0], np.sort(told[:, 1:], axis=1)])


def draw(numbers: CurveInfo, ax: Any) -> None:
    """Draw both curves with the range over repetitions."""
    tidy(ax)
    curves = [(numbers.test, OTHER, "o", "-", f"test {quantity(numbers.loss)}")]
    if numbers.train is not None:
        curves.append((numbers.train, MAIN, "s", "-", f"training {quantity(numbers.loss)}"))
    for values, colour, marker, line, name in curves:
        ax.fill_between(numbers.sizes, values[:, 1], values[:, 2], color=colour, alpha=0.18, linewidth=0)
        ax.plot(numbers.sizes, values[:, 0], color=colour, marker=marker, linestyle=line, markersize=5.5, label=name)
    if numbers.baseline is not None:
        ax.axhline(numbers.baseline, color="#000000", alpha=0.7, linewidth=1.4, linestyle=":", label="guessing")
    ax.set_xlim(left=0)
    ax.margins(y=0.08)
    ax.set_xlabel(f"{count_of(2, numbers.unit).removeprefix('2 ')} trained on")
    ax.set_ylabel("error rate" if is_rate(numbers.loss) else axis_name(numbers.loss))
    percent(ax.yaxis, numbers.loss)
    legend_below(ax)


figure(
    Figure(
        name="learning-curve",
        record=Assessment,
        info=info,
        draw=draw,
        title="Learning curve",
        caption="Means at growing training sizes; bands hold the smallest and the largest of the repetitions. A test curve that "
        "still improves at the right end says that more data would help.",
        size=(7.0, 2.6),
        order=40,
    )
)
