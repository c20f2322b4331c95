"""Figures of the Larsen-Hansen experiment."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.reproduction.larsen_hansen.experiment import LarsenHansenResult
from unseen.show.figures import Figure, figure
from unseen.show.style import PALETTE, legend_below, tidy

__all__: list[str] = []


def _distributions(result: LarsenHansenResult) -> dict[str, Any] | None:
    return result.figure or None


def _draw_distributions(info: dict[str, Any], ax: Any) -> None:
    ax.plot(info["grid"], info["true"], color=PALETTE[0], label="true errors")
    ax.plot(info["grid"], info["median"], "--", color=PALETTE[1], label="leave-out, median")
    for name, label in (("q25", "leave-out, quartiles"), ("q75", None)):
        ax.plot(info["grid"], info[name], ":", color=PALETTE[1], label=label)
    ax.plot(info["grid"], info["asymptotic"], "-.", color=PALETTE[2], label="asymptotic law (FPE)")
    ax.axvline(np.log1p(info["summary"][0]), color=PALETTE[5], linestyle="--", linewidth=0.8)
    ax.text(np.log1p(info["summary"][0]) - 0.03, 0.5, "lower bound", rotation=90, ha="right", va="center", fontsize=8)
    tidy(ax)
    ax.set_xlabel("log(1 + G)")
    ax.set_ylabel("probability")
    ax.legend(frameon=False)


def _draw_density(info: dict[str, Any], ax: Any) -> None:
    ax.stairs(info["density"], info["edges"], fill=True, color=PALETTE[0], alpha=0.35)
    styles = (("lower bound", "--"), ("mean", "-"), ("median", ":"))
    for value, (label, style) in zip(info["summary"], styles):
        ax.axvline(value, color=PALETTE[1], linestyle=style, label=label)
    tidy(ax)
    ax.set_xlabel("true generalization error G")
    ax.set_ylabel("density")
    ax.legend(frameon=False)


def _by_tau(result: LarsenHansenResult) -> dict[str, Any] | None:
    if not result.by_tau:
        return None
    return {name: np.array([row[name] for row in result.by_tau]) for name in result.by_tau[0]}


def _draw_by_tau(info: dict[str, Any], ax: Any) -> None:
    lines = (
        ("rejected", "naive t below t_.05", "-", 0), ("not_shown", "naive t not above t_.95", "--", 0),
        ("corrected_rejected", "corrected t below t_.05", "-", 1),
        ("corrected_not_shown", "corrected t not above t_.95", "--", 1),
    )  # fmt: skip
    for name, label, style, colour in lines:
        ax.plot(info["tau"], info[name], style, color=PALETTE[colour], marker=".", label=label)
    ax.axhline(0.3, color=PALETTE[5], linewidth=0.8, linestyle=":")
    tidy(ax)
    ax.set_xlabel("tau: variance carried by the omitted input / noise variance")
    ax.set_ylabel("share of data sets")
    legend_below(ax, columns=2)


figure(
    Figure(
        name="larsen-hansen-distributions",
        record=LarsenHansenResult,
        info=_distributions,
        draw=_draw_distributions,
        title="Figure 1, left",
        caption="True distribution of the error (solid) and the leave-out distributions: median (dashed) and quartiles (dotted).",
        order=10,
    )
)
figure(
    Figure(
        name="larsen-hansen-density",
        record=LarsenHansenResult,
        info=_distributions,
        draw=_draw_density,
        title="Figure 1, right",
        caption="The true errors are skewed and long-tailed: their mean lies well above the typical value.",
        order=20,
    )
)
figure(
    Figure(
        name="larsen-hansen-tau",
        record=LarsenHansenResult,
        info=_by_tau,
        draw=_draw_by_tau,
        title="Ten against nine inputs",
        caption="Share of data sets in which the true ordering is rejected (solid) or not shown (dashed).",
        order=30,
    )
)
