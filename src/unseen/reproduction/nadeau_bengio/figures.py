"""Power curves of the Nadeau-Bengio experiment."""

from __future__ import annotations

from typing import Any

from unseen.core.arrays import Floats
from unseen.reproduction.nadeau_bengio.checks import NOMINAL
from unseen.reproduction.nadeau_bengio.experiment import NadeauBengioResult
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, tidy

__all__: list[str] = []

# colour by statistic, line by setting; n1=9n/10 aims at another error and is left to the table
LINES = {
    "t-test": (5, "-"), "5x2cv": (4, "-"), "resampled-t n2=n/2": (1, "-"), "resampled-t n2=n/10": (1, "--"),
    "corrected-t n2=n/2": (0, "-"), "corrected-t n2=n/10": (0, "--"), "conservative-z n2=n/2": (2, "-"),
    "conservative-z n2=n/10": (2, "--"),
}  # fmt: skip


def _curves(problem: str, target: int) -> Any:
    def info(result: NadeauBengioResult) -> dict[str, Floats] | None:
        found = result.power.get(problem)
        return None if found is None else {name: found[name][target] for name in ("offsets", *LINES)}

    return info


def _draw(info: dict[str, Floats], ax: Any) -> None:
    for name, (colour, style) in LINES.items():
        ax.plot(info["offsets"], info[name], style, color=PALETTE[colour], label=name, linewidth=1.2)
    ax.axhline(NOMINAL, color=PALETTE[5], linewidth=0.7, linestyle=":")
    ax.axvline(0.0, color=PALETTE[5], linewidth=0.7, linestyle=":")
    tidy(ax)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("hypothesis minus truth")
    ax.set_ylabel("share of data sets that reject")
    ax.legend(frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))


for _problem, _words in (("synthetic", "synthetic data"), ("letter", "Letter Recognition")):
    for _place, _target in enumerate(("error", "difference")):
        figure(
            Figure(
                name=f"power-{_problem}-{_target}",
                record=NadeauBengioResult,
                info=_curves(_problem, _place),
                draw=_draw,
                title=f"Power for the {_target}, {_words}",
                caption="At 0 the hypothesis is true: there the curves show sizes, to be compared with the dotted line at 10%.",
                size=(7.0, 4.6),
                order=10 + _place + (2 if _problem == "synthetic" else 0),
            )
        )
