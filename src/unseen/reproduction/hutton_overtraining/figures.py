"""Figure of the overtraining experiment."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.reproduction.hutton_overtraining.experiment import HuttonResult
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, legend_below, tidy

__all__: list[str] = []


def _info(result: HuttonResult) -> dict[str, Any] | None:
    if not result.curves or result.choices is None:
        return None
    return {**result.curves, "chosen": result.choices[0]}


def _draw(info: dict[str, Any], ax: Any) -> None:
    for k, name in enumerate(("train", "test", "population")):
        epoch = np.arange(len(info[name])) + 1
        ax.plot(epoch, info[name], color=PALETTE[k], label=f"{name} (first repeat)")
        ax.plot(
            np.arange(len(info[f"mean {name}"])) + 1,
            info[f"mean {name}"],
            color=PALETTE[k],
            linestyle=":",
            label=f"{name} (mean)",
        )
    best, ahead, done, late = info["chosen"]
    for x, y, text in ((best + 1, ahead, "quit when ahead"), (done + 1, late, "criterion")):
        ax.annotate(
            text, (x, y), xytext=(0, 26), textcoords="offset points", ha="center", arrowprops={"arrowstyle": "->"}
        )
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    tidy(ax)
    ax.set_xlabel("passes through the training set")
    ax.set_ylabel("root mean square error")
    legend_below(ax)


figure(
    Figure(
        name="overtraining",
        record=HuttonResult,
        info=_info,
        draw=_draw,
        title="Overtraining",
        caption="Errors by epoch; arrows mark the population error where the test error is smallest and where the training error meets the "
        "criterion.",
        size=(7.0, 4.4),
        order=5,
    )
)
