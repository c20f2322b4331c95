"""Which of an assessment's tables a figure reads, and what its units are called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.core.data import Data
from unseen.core.losses import LossTable

__all__ = ["CROSS_VALIDATED", "MANY_SPLITS", "first_table", "unit_name"]

CROSS_VALIDATED = (
    "repeated-kfold",
    "kfold",
    "holdout",
)  # or held out: each row is tested by a model that had not seen it
MANY_SPLITS = ("leave-out", "repeated-kfold", "kfold")


def first_table(a: Assessment, wanted: Sequence[str]) -> LossTable | None:
    """Return the first of the wanted designs' tables that has any test rows, else the headline's."""
    for name in (*wanted, a.headline_design):
        table = a.tables.get(name)
        if table is not None and len(table.test.row):
            return table
    return None


def unit_name(data: Data, unit: int) -> str:
    """Return what a unit is called: its group, its id, or its row number counted from 1."""
    if data.groups is not None:
        return str(data.groups[np.flatnonzero(data.units == unit)[0]])
    row = int(np.flatnonzero(data.units == unit)[0]) if data.grouped else unit
    return str(row + 1 if data.ids is None else data.ids[row])
