"""Which of an assessment's tables a figure reads, and what each unit's predictions were."""

from __future__ import annotations

from collections.abc import Sequence

from unseen.core.losses import LossTable
from unseen.verbs.assessment import Assessment

__all__ = ["CROSS_VALIDATED", "MANY_SPLITS", "first_table", "row_names"]

CROSS_VALIDATED = ("repeated-kfold", "kfold")
MANY_SPLITS = ("leave-out", "repeated-kfold", "kfold")


def first_table(a: Assessment, wanted: Sequence[str]) -> LossTable | None:
    """Return the first of the wanted designs' tables that has any test rows, else the headline's."""
    for name in (*wanted, a.headline_design):
        table = a.tables.get(name)
        if table is not None and len(table.test.row):
            return table
    return None


def row_names(a: Assessment) -> list[str]:
    """Return what each unit is called: its group, its id, or its row number counted from 1."""
    data = a.data
    if data.groups is not None:
        names: list[str] = [""] * data.n_units
        for unit, group in zip(data.units, data.groups):
            names[unit] = str(group)
        return names
    return [str(v) for v in (range(1, data.n + 1) if data.ids is None else data.ids)]
