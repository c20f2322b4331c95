"""Training and test error of every split of the headline: the gap is the optimism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.wording import value_in_units
from unseen.core.arrays import Floats, Ints
from unseen.core.losses import LossTable, PredictionTable
from unseen.estimators.range_t import split_contributions
from unseen.show.figures import Figure, figure
from unseen.show.style import MAIN, OTHER, axis_name, legend_below, percent, quantity, tidy
from unseen.show.text import percent_or_number

__all__ = ["OptimismInfo"]

# more lines between training and test error run into each other
MOST = 60


@dataclass(frozen=True, kw_only=True)
class OptimismInfo:
    """Errors, or scores, of each split on its own training rows and on its test rows; `optimism` is what training flatters by.

    At most 60 splits are listed, evenly spaced; the means are those of all.
    """

    split: Ints
    train: Floats
    test: Floats
    mean_train: float
    mean_test: float
    mean_optimism: float
    n_splits: int
    in_time: bool
    loss: str

    @property
    def optimism(self) -> Floats:
        """How much better training looks: test less training error, or training less test score."""
        return self.test - self.train if quantity(self.loss) == "error" else self.train - self.test

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        train, test = (percent_or_number(v, self.loss) for v in (self.mean_train, self.mean_test))
        return f"over {self.n_splits} splits, mean training {quantity(self.loss)} {train}, mean test {quantity(self.loss)} {test}"


def info(a: Assessment) -> OptimismInfo | None:
    """Return the errors by split, or None if training predictions were not kept."""
    table = a.tables.get(a.headline_design)
    return None if table is None else table_info(table)


def table_info(table: LossTable) -> OptimismInfo | None:
    """Return the errors by split of any table that kept training predictions."""
    if table.train is None or not len(table.completed):
        return None
    loss, train = value_in_units(table.loss, table.train_errors())
    test = value_in_units(table.loss, table.split_means())[1]
    means = mean_errors(table)
    gap = means["test"] - means["training"]
    some = np.unique(np.linspace(0, len(test) - 1, min(MOST, len(test))).round().astype(np.int64))
    return OptimismInfo(
        split=table.completed[some] + 1,
        train=train[some],
        test=test[some],
        mean_train=means["training"],
        mean_test=means["test"],
        mean_optimism=gap if quantity(loss) == "error" else -gap,
        n_splits=len(test),
        in_time=table.plan.design == "time-ordered",
        loss=loss,
    )


def mean_errors(table: LossTable) -> dict[str, float]:
    """Return the mean training and test error in the units they are shown in: of squares the root of the mean, as in the headline."""
    means = {"training": table.train_errors().mean(), "test": split_contributions(table).mean()}
    return {part: value_in_units(table.loss, float(mean))[1] for part, mean in means.items()}


def draw(numbers: OptimismInfo, ax: Any) -> None:
    """Draw a line from training to test error for each split, and both means."""
    tidy(ax, "y")
    ax.vlines(numbers.split, numbers.train, numbers.test, color="#000000", alpha=0.35, linewidth=1.2)
    parts = (
        (numbers.test, numbers.mean_test, OTHER, "o", "test"),
        (numbers.train, numbers.mean_train, MAIN, "s", "training"),
    )
    for values, mean, colour, marker, name in parts:
        text = f"{name} {quantity(numbers.loss)}, mean {percent_or_number(mean, numbers.loss)}"
        face = colour if name == "test" else "none"  # so that neither hides the other where they are equal
        ax.plot(
            numbers.split,
            values,
            linewidth=0,
            marker=marker,
            markersize=6,
            color=colour,
            markerfacecolor=face,
            markeredgewidth=1.6 if name == "training" else 0,
            label=text,
        )
        ax.axhline(mean, color=colour, linewidth=1.2, linestyle="--")
    ax.plot([], [], color="#000000", alpha=0.35, linewidth=1.2, label=_gap(numbers))
    ax.margins(x=0.03, y=0.08)
    ax.set_xlabel("test block, in the order of time" if numbers.in_time else "split")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylabel(axis_name(numbers.loss))
    percent(ax.yaxis, numbers.loss)
    legend_below(ax)


def _gap(numbers: OptimismInfo) -> str:
    sign = "-" if numbers.mean_optimism < 0 else ""
    return f"optimism, mean {sign}{percent_or_number(abs(numbers.mean_optimism), numbers.loss)}"


ASSESSED = figure(
    Figure(
        name="optimism",
        record=Assessment,
        info=info,
        draw=draw,
        title="Training and test error by split",
        caption="The line between a split's two points is its optimism: how much better the model does on the rows it was trained on. "
        "A long line means the training error says little.",
        size=(7.0, 3.6),
        order=30,
    )
)
figure(replace(ASSESSED, record=LossTable, info=table_info))
figure(replace(ASSESSED, record=PredictionTable, info=lambda table: table_info(table.losses())))
