"""Which class is taken for which: predictions of cross-validated models, each row's averaged over the splits."""

from __future__ import annotations

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED, first_table
from unseen.core.arrays import Floats
from unseen.core.losses import LossTable
from unseen.evaluation.figures.confusion import ConfusionInfo, draw, most_confused
from unseen.show.figures import Figure, figure

__all__ = ["confusion_counts"]


def confusion_counts(table: LossTable) -> tuple[Floats, Floats]:
    """Return counts and row shares; each tested row counts once, spread over what its models predicted."""
    data, test = table.data, table.source[0].test
    k = len(data.classes) if data.classes is not None else 0
    once = 1.0 / table.times_tested()[test.row]
    cell = data.codes[test.row] * k + test.value.astype(np.int64)
    counts = np.asarray(np.bincount(cell, once, k * k), dtype=float).reshape(k, k)
    weighted = np.asarray(np.bincount(cell, once * table.row_weights(test.row), k * k), dtype=float).reshape(k, k)
    total = weighted.sum(axis=1, keepdims=True)
    return counts, np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)


def info(a: Assessment) -> ConfusionInfo | None:
    """Return the matrix, or None for numbers."""
    table = first_table(a, CROSS_VALIDATED)
    if a.data.classes is None or table is None:
        return None
    counts, shares = confusion_counts(table)
    kept = most_confused(counts)
    names = tuple(str(a.data.classes[k]) for k in kept)
    grid = np.ix_(kept, kept)
    return ConfusionInfo(
        classes=names, counts=counts[grid], shares=shares[grid], n_classes=len(counts), target=a.data.target_name
    )


figure(
    Figure(
        name="confusion",
        record=Assessment,
        info=info,
        draw=draw,
        title="Which class is taken for which",
        caption="Which class is taken for which. Each case counts once, spread over what the models of different splits said of it; "
        "percentages are shares of the true class.",
        order=50,
    )
)
