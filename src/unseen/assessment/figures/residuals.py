"""Predicted against observed numbers, from models that had not seen the row."""

from __future__ import annotations

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED, first_table
from unseen.evaluation.figures.residuals import ResidualsInfo, draw, pairs_of
from unseen.show.figures import Figure, figure

__all__: list[str] = []


def info(a: Assessment) -> ResidualsInfo | None:
    """Return each row's mean cross-validated prediction, or None for classes."""
    table = first_table(a, CROSS_VALIDATED)
    if a.data.task != "regression" or table is None:
        return None
    test, n = table.source[0].test, a.data.n
    times = table.times_tested()
    tested = np.flatnonzero(times)
    predicted = np.bincount(test.row, test.value.astype(float), n)[tested] / times[tested]
    return pairs_of(np.asarray(a.data.y, dtype=float)[tested], predicted, a.data.target_name)


figure(
    Figure(
        name="residuals",
        record=Assessment,
        info=info,
        draw=draw,
        title="Predicted against observed",
        caption="Each point is a row, predicted by cross-validated models that had not seen it (mean over repetitions). On the dashed "
        "line a prediction is perfect; a cloud flatter than the line means predictions are drawn towards the mean.",
        size=(4.4, 4.0),
        order=50,
    )
)
