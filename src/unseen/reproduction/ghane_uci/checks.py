"""What the dissertation reads off its figures of the UCI experiment, and our numbers beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.summary import summarize
from unseen.reproduction.record import Cell, Check

__all__ = [
    "ESTIMATORS",
    "MOST_PLOTTED",
    "PUBLISHED_NETS",
    "checks_of",
    "count_cells",
    "deviation_cells",
    "median_deviation",
]

ESTIMATORS = ("resub", "bolster", "posterior", "bolster_posterior")
PUBLISHED_NETS, PUBLISHED_KEPT, PUBLISHED_WRONG = 3600, 3066, 172
MOST_PLOTTED = 0.5  # the dissertation hides nets with a larger true error
SMALL_ERROR = 0.05  # up to here the dissertation sees another order of the estimators


def _share_error(flags: np.ndarray, sets: np.ndarray) -> float | None:
    """Return the standard error of a share; the sets are the sample."""
    means = np.array([flags[sets == name].mean() for name in np.unique(sets)])
    return float(means.std(ddof=1) / math.sqrt(len(means))) if len(means) > 1 else None


def count_cells(nets: dict[str, Any]) -> list[Cell]:
    """Return how many nets reached the training accuracy, and how many of these have a true error above .5."""
    reached = nets["reached"]
    note = "training differs in detail"
    cells = [
        Cell(
            "nets",
            "share that reached the training accuracy",
            published=PUBLISHED_KEPT / PUBLISHED_NETS,
            ours=float(reached.mean()),
            mc_error=_share_error(reached, nets["set"]),
            remark=note,
        ),
    ]
    if reached.any():
        wrong, sets = nets["true_error"][reached] > MOST_PLOTTED, nets["set"][reached]
        cells.append(
            Cell(
                "nets",
                "of these, share with a true error above .5",
                published=PUBLISHED_WRONG / PUBLISHED_KEPT,
                ours=float(wrong.mean()),
                mc_error=_share_error(wrong, sets),
                remark=note,
            )
        )
    return cells


def _groups(nets: dict[str, Any]) -> dict[str, np.ndarray]:
    usual = nets["reached"] & ~nets["defective"] & (nets["true_error"] <= MOST_PLOTTED)
    small = nets["true_error"] <= SMALL_ERROR
    return {
        "as plotted": usual,
        "as plotted, true error up to .05": usual & small,
        "as plotted, true error above .05": usual & ~small,
        "all nets": np.ones(len(usual), dtype=bool),
    }


def deviation_cells(nets: dict[str, Any]) -> list[Cell]:
    """Return bias and RMS of the four estimators, over the plotted nets, in parts, and over all."""
    cells = []
    for label, mine in _groups(nets).items():
        if mine.sum() < 2:
            continue
        for name in ESTIMATORS:
            found = summarize(nets[name][mine], nets["true_error"][mine], name, strata=None)
            row = f"{label}: {name.replace('_', '-')}"
            cells += [
                Cell("bias", row, published=None, ours=found.bias, mc_error=found.bias_error),
                Cell("rms", row, published=None, ours=found.rms, mc_error=found.rms_error),
            ]
    return cells


def median_deviation(nets: dict[str, Any], mine: np.ndarray) -> dict[str, float]:
    """Return the median size of the deviation of each estimator over the nets chosen."""
    truth: Floats = nets["true_error"][mine]
    return {name: float(np.median(np.abs(nets[name][mine] - truth))) for name in ESTIMATORS}


def checks_of(nets: dict[str, Any]) -> tuple[Check, ...]:
    """Check what the dissertation reads off its figures."""
    groups = _groups(nets)
    out = []
    small, large = groups["as plotted, true error up to .05"], groups["as plotted, true error above .05"]
    if large.any():
        found = median_deviation(nets, large)
        others = min(value for name, value in found.items() if name != "bolster_posterior")
        out.append(
            Check(
                "true error above .05: smallest other median deviation less that of bolster-posterior",
                others - found["bolster_posterior"],
                low=0.0,
            )
        )
    if small.any():
        found = median_deviation(nets, small)
        out.append(
            Check(
                "true error up to .05: median deviation of bolster less that of resub",
                found["bolster"] - found["resub"],
                low=0.0,
            )
        )
    narrow, wide = (nets["reached"][nets["width_number"] == k].mean() for k in (0, 3))
    out.append(Check("share that reached the accuracy, width 40 less width 10", float(wide) - float(narrow), low=0.0))
    return tuple(out)
