"""Figures and sections of the Nadeau-Bengio reproduction: power curves, sizes, variance ratios, J and M."""

from __future__ import annotations

from typing import Any

from unseen.core.arrays import Floats
from unseen.reproduction._nadeau_bengio_judged import NOMINAL
from unseen.reproduction.nadeau_bengio import NadeauBengioResult
from unseen.show.figures import Figure, figure
from unseen.show.sections import Section, Text, picture, section, table_of
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


@section(NadeauBengioResult, 12)
def power(result: NadeauBengioResult) -> Section | None:
    """Return the power curves."""
    names = [f"power-{p}-{t}" for p in ("letter", "synthetic") for t in ("error", "difference")]
    made = [p for p in (picture(result, name) for name in names) if p is not None]
    return Section("power", "Power", made) if made else None


@section(NadeauBengioResult, 13)
def sizes(result: NadeauBengioResult) -> Section:
    """Return the sizes, one row per statistic."""
    keys = list(dict.fromkeys((r["problem"], r["target"]) for r in result.sizes))
    names = list(dict.fromkeys(r["statistic"] for r in result.sizes))
    found = {(r["problem"], r["target"], r["statistic"]): r["size"] for r in result.sizes}
    rows = [{"statistic": name, **{" ".join(key): found[(*key, name)] for key in keys}} for name in names]
    text = "Share of data sets in which a true hypothesis is rejected at the nominal 10%."
    return Section("sizes", "Sizes", [Text(text), table_of(rows)])


@section(NadeauBengioResult, 14)
def variance(result: NadeauBengioResult) -> Section:
    """Return lemma 1's ratios and the measured ones."""
    text = (
        "Variance of the estimate over the mean of its variance estimate: above 1 the test is liberal. Predicted by lemma 1 "
        "from components estimated on half of the data sets, measured on the other half."
    )
    names = ("setting", "target", "statistic", "predicted", "measured", "s0", "s1", "s2", "s3")
    return Section(
        "variance", "Variance ratios", [Text(text), table_of([{n: r[n] for n in names} for r in result.variance])]
    )


@section(NadeauBengioResult, 15)
def settings(result: NadeauBengioResult) -> Section:
    """Return size and power for several numbers of splits and halvings."""
    text = "Synthetic difference: size, and power against a hypothesis 2.5 spreads from the truth."
    return Section("settings", "How many splits and halvings", [Text(text), table_of(result.settings)])
