"""The two plain means: over tested rows, and over splits."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.estimate import Estimate
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.notes import Note, note

__all__ = ["distinct_drawn", "mean_over_rows", "mean_over_splits", "mean_over_tested", "untested_note"]


def untested_note(table: LossTable) -> tuple[Note, ...]:
    """Return the note on units that no completed split tested, if there are any."""
    tested = len(np.unique(table.data.units[table.test.row]))
    if tested == table.data.n_units:
        return ()
    return (note("U012", f"{table.data.n_units - tested} of {table.data.n_units} units were never tested"),)


def mean_over_rows(method: Any, table: LossTable, level: float) -> Estimate:
    """Return the mean over all test losses, each as often as it was tested; for designs that test all rows alike."""
    check_table(method, table, level)
    value = np.average(table.test.value, weights=table.row_weights(table.test.row))
    return point_estimate(method, table, float(value), notes=untested_note(table))


def mean_over_splits(method: Any, table: LossTable, level: float) -> Estimate:
    """Return the mean of the splits' mean losses; of a measure of sets, its value on the pooled test parts."""
    check_table(method, table, level)
    return point_estimate(method, table, float(table.contributions().mean()))


def mean_over_tested(table: LossTable) -> float:
    """Return the mean over rows of each row's own mean test loss; rows that were never tested are left out."""
    losses = table.by_row()
    tested = np.flatnonzero(np.isfinite(losses))
    return float(np.average(losses[tested], weights=table.row_weights(tested)))


def distinct_drawn(n: int) -> float:
    """Return how many of n units a bootstrap sample holds on average, (1 - (1 - 1/n)^n) n, to one decimal.

    Examples
    --------
    >>> distinct_drawn(100)
    63.4
    """
    return round((1 - (1 - 1 / n) ** n) * n, 1)
