"""The tables of the synthetic experiment: our numbers beside the published ones, and what has to hold over many of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.summary import summarize
from unseen.reproduction.published_numbers import read_published
from unseen.reproduction.record import Cell, Check

__all__ = [
    "ESTIMATORS",
    "RULES",
    "Runs",
    "cells_for",
    "checks_of_cells",
    "checks_of_estimates",
    "error_of_difference",
    "errors_of_test_sets",
    "remark_on_test_set",
]

RULES = ("linear-svm", "rbf-svm", "cart", "3nn", "5nn", "7nn")
ESTIMATORS = ("resub", "bolster", "semi-bolster", "3nnpp", "bolster-3nnpp", "cv10", "bootstrap-zero", "cv10-shuffled")
# by rule and size: true errors, estimates and milliseconds by column, one value per replication
Runs = Mapping[tuple[str, int], Mapping[str, Floats]]
PUBLISHED_REPLICATIONS = 200
DIGITS = {"2.1": 3, "2.2 bias": 3, "2.3 variance": 4, "2.4 rms": 4}  # decimals printed
NOT_COUNTED = "7nn n=80"  # the true error that the acceptance criteria leave out; its cell is shown all the same
# acceptance criteria, fixed before the first run: the rms of z is about 1 if two runs differ by chance alone
MOST_RMS_Z, MOST_Z = 1.5, 4.0
LOOSE, MOST_RMS_Z_LOOSE = ("bolster", "bolster-3nnpp"), 1.8  # the text leaves their averages open, see REMARKS
VARIANCE_RATIOS = (0.88, 1.14)  # ours over published, geometric mean over 30 cells


def cells_for(row: dict[str, Any], runs: Runs) -> list[Cell]:
    """Return the cell of a published number; a cross-validation cell is followed by its shuffled counterpart."""
    run, column = runs[row["rule"], row["n"]], row["estimator"]
    name = f"{row['rule']} n={row['n']}"
    if row["table"] == "2.1":
        truth = run["true-error"]
        error = error_of_difference(_error_of_mean(truth), len(truth), "2.1")
        return [Cell("2.1 true error", name, published=row["value"], ours=float(truth.mean()), mc_error=error)]
    cells = [_estimate_cell(row, run, column, name, row["note"] or _remark(row))]
    if column == "cv10":
        cells.append(_estimate_cell(row, run, "cv10-shuffled", name, "shuffled folds, for comparison"))
    return cells


def _estimate_cell(row: dict[str, Any], run: Mapping[str, Floats], column: str, name: str, remark: str) -> Cell:
    label, value = f"{name} {column}", row["value"]
    if row["table"] == "2.5 milliseconds":
        return Cell(
            row["table"],
            label,
            published=value,
            ours=float(run[f"ms {column}"].mean()),
            mc_error=None,
            remark="time on another machine",
        )
    quantity = row["table"].split()[1]
    summary = summarize(run[column], run["true-error"], column)
    error = error_of_difference(getattr(summary, f"{quantity}_error"), summary.n, row["table"])
    return Cell(row["table"], label, published=value, ours=getattr(summary, quantity), mc_error=error, remark=remark)


def error_of_difference(error: float, count: int, table: str) -> float:
    """Return the error of ours minus published: ours, that of 200 published replications with the same spread, and rounding."""
    rounding = 10.0 ** -DIGITS[table] / math.sqrt(12)
    return math.sqrt(error**2 * (1 + count / PUBLISHED_REPLICATIONS) + rounding**2)


def _error_of_mean(values: Floats) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


@cache
def errors_of_test_sets() -> dict[tuple[str, int], float]:
    """Return what one published test set adds to the error of a mean true error, by rule and size."""
    return {(row["rule"], row["n"]): row["spread"] for row in read_published("ghane_test_set")}


def _true_errors(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of table 2.1 that are judged."""
    return [c for c in cells if c.table == "2.1 true error" and c.cell != NOT_COUNTED]


def remark_on_test_set(cells: Sequence[Cell]) -> str:
    """Say what the checks of the true errors would be, if one published test set served all classifiers of a rule."""
    found = []
    for cell in _true_errors(cells):
        rule, size = cell.cell.split()
        shared = errors_of_test_sets()[rule, int(size.removeprefix("n="))]
        found.append(replace(cell, mc_error=math.hypot(cell.mc_error or 0.0, shared)).z or 0.0)
    figures = f"rms z {_rms(found):.2f}, largest |z| {np.max(np.abs(found)):.1f}"
    return f"With the error of one published test set counted too, the mean true errors have {figures}; not judged."


def _remark(row: dict[str, Any]) -> str:
    knn = row["rule"] in ("3nn", "5nn", "7nn")
    return "made from rounded standard deviations" if knn and row["table"] == "2.4 rms" else ""


def checks_of_cells(cells: Sequence[Cell]) -> tuple[Check, ...]:
    """Return the acceptance criteria: true errors, bias by column, variance ratio by column."""
    truth = [c.z for c in _true_errors(cells) if c.z is not None]
    checks = []
    if truth:
        checks.append(Check("mean true errors, rms z", _rms(truth), high=MOST_RMS_Z))
        checks.append(Check("mean true errors, largest |z|", float(np.max(np.abs(truth))), high=MOST_Z))
    columns = list(dict.fromkeys(c.cell.split()[-1] for c in cells if c.table == "2.2 bias" and not c.remark))
    for column in columns:
        z = [c.z for c in _comparable_cells(cells, "2.2 bias", column) if c.z is not None]
        checks.append(Check(f"bias of {column}, rms z", _rms(z), high=_most_rms_z(column)))
    for column in columns:
        pairs = [(c.ours, c.published) for c in _comparable_cells(cells, "2.3 variance", column) if c.published]
        ratio = float(np.exp(np.mean([math.log(ours / theirs) for ours, theirs in pairs])))
        checks.append(
            Check(
                f"variance of {column}, geometric mean of ours / published",
                ratio,
                low=VARIANCE_RATIOS[0],
                high=VARIANCE_RATIOS[1],
            )
        )
    return tuple(checks)


def checks_of_estimates(rows: Sequence[dict[str, Any]], runs: Runs) -> list[Check]:
    """Compare the means of the estimates themselves, published bias plus true error, which no test set enters."""
    truth = {(row["rule"], row["n"]): row["value"] for row in rows if row["table"] == "2.1"}
    z: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["table"] == "2.2 bias" and not row["note"]:
            key, column = (row["rule"], row["n"]), row["estimator"]
            ours = runs[key][column]
            error = math.hypot(
                error_of_difference(_error_of_mean(ours), len(ours), "2.2 bias"), 10.0 ** -DIGITS["2.1"] / math.sqrt(12)
            )
            z[column].append((float(ours.mean()) - row["value"] - truth[key]) / error)
    return [Check(f"mean of {column} itself, rms z", _rms(z[column]), high=_most_rms_z(column)) for column in z]


def _comparable_cells(cells: Sequence[Cell], table: str, column: str) -> list[Cell]:
    return [c for c in cells if c.table == table and c.cell.split()[-1] == column and not c.remark]


def _most_rms_z(column: str) -> float:
    return MOST_RMS_Z_LOOSE if column in LOOSE else MOST_RMS_Z


def _rms(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
