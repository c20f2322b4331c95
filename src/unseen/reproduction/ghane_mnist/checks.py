"""The tables of the MNIST experiment: our numbers beside the published ones, and what the dissertation concludes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unseen.core.arrays import Floats
from unseen.core.summary import summarize
from unseen.reproduction.record import Cell, Check

__all__ = ["ESTIMATORS", "Runs", "checks_of", "published_cell", "true_error_cell"]

ESTIMATORS = ("resub", "nb_bolster", "calibrated_r1", "calibrated_r5")
DIGITS = {"2.6 bias": 3, "2.7 variance": 4, "2.8 rms": 4}  # decimals printed
PUBLISHED_REPLICATIONS = 200
INNER = 0.006  # the printed calibrated RMS does not follow from the printed bias and variance any closer
# by size: columns of all repetitions
Runs = Mapping[int, Mapping[str, Floats]]


def true_error_cell(n: int, run: Mapping[str, Floats]) -> Cell:
    """Return the mean true error of a size, which the dissertation does not print."""
    values = run["true_error"]
    return Cell(
        "true error",
        f"n={n}",
        published=None,
        ours=float(values.mean()),
        mc_error=float(values.std(ddof=1)) / math.sqrt(len(values)),
    )


def published_cell(row: dict[str, Any], run: Mapping[str, Floats]) -> Cell:
    """Return a published number beside ours."""
    column, label = row["estimator"], f"n={row['n']} {row['estimator'].replace('_', '-')}"
    if row["table"] == "2.9 seconds":
        key = {"resub": "resub", "nb_bolster": "nb", "calibrated_r1": "r1", "calibrated_r5": "r5"}[column]
        return Cell(
            row["table"],
            label,
            published=row["value"],
            ours=float(run[f"seconds_{key}"].mean()),
            mc_error=None,
            remark="time on another machine",
        )
    quantity = row["table"].split()[1]
    summary = summarize(run[column], run["true_error"], column)
    rounding = 10.0 ** -DIGITS[row["table"]] / math.sqrt(12)
    inner = INNER / 3 if quantity == "rms" and column.startswith("calibrated") else 0.0
    error = getattr(summary, f"{quantity}_error")
    both = math.sqrt(error**2 * (1 + summary.n / PUBLISHED_REPLICATIONS) + rounding**2 + inner**2)
    return Cell(row["table"], label, published=row["value"], ours=getattr(summary, quantity), mc_error=both)


def checks_of(runs: Runs) -> tuple[Check, ...]:
    """Check what the dissertation concludes: each step lowers the bias, repetitions lower the variance, calibration wins by RMS."""
    out = []
    for n, run in runs.items():
        resub, plain, one, five = (summarize(run[c], run["true_error"], c) for c in ESTIMATORS)
        out += [
            Check(f"n={n}: |bias| of resub less that of nb-bolster", abs(resub.bias) - abs(plain.bias), low=0.0),
            Check(f"n={n}: |bias| of nb-bolster less that of calibrated-r5", abs(plain.bias) - abs(five.bias), low=0.0),
            Check(
                f"n={n}: variance of calibrated-r1 less that of calibrated-r5", one.variance - five.variance, low=0.0
            ),
            Check(f"n={n}: RMS of nb-bolster less that of calibrated-r5", plain.rms - five.rms, low=0.0),
        ]
    return tuple(out)
