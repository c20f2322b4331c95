"""Mean loss over rows with a standard error that counts groups as units (linearised ratio; Cochran, 1977)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.estimate import Estimate
from unseen.core.losses import LossTable

__all__ = ["UnitMean", "for_this_model", "split_values", "unit_mean"]


@dataclass(frozen=True)
class UnitMean:
    """Weighted mean of rows, its standard error over units, and how many units and rows it rests on."""

    value: float
    std_error: float
    n_units: int
    n_rows: int


def unit_mean(table: LossTable, splits: Array | None = None) -> UnitMean:
    """Return the mean test loss of the rows of some splits (a mask over the plan), with its clustered standard error.

    With one row per unit and no weights the standard error is S / sqrt(n).
    """
    rows, values = table.test.row, table.test.value
    if splits is not None:
        keep = splits[table.test.split]
        rows, values = rows[keep], values[keep]
    units, weight = table.data.units[rows], table.row_weights(rows)
    total = np.bincount(units, weight, table.data.n_units)
    value = float(np.average(values, weights=weight))
    residual = np.bincount(units, weight * (values - value), table.data.n_units)
    n = int(np.count_nonzero(np.bincount(units, minlength=table.data.n_units)))
    variance = n / (n - 1) * np.square(residual).sum() / total.sum() ** 2 if n > 1 else np.nan
    return UnitMean(value, float(np.sqrt(variance)), n, len(rows))


def for_this_model(estimate: Estimate, table: LossTable) -> Estimate:
    """Return the estimate with its target, the one model, at the size it was trained on."""
    return replace(estimate, target=estimate.target.at_share(table.data, table.plan.mean_sizes()[1]))


def split_values(table: LossTable) -> Floats:
    """Return the mean test loss of every split of the plan, NaN if its fit failed."""
    values = np.full(len(table.plan), np.nan)
    values[table.completed] = table.split_means()
    return values
