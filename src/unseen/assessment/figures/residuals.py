"""Predicted against observed numbers, from models that had not seen the row."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED, first_table
from unseen.evaluation.figures.residuals import ResidualsInfo, draw, pairs_of
from unseen.show.figures import Figure, figure

__all__ = ["TestedResidualsInfo"]


@dataclass(frozen=True, kw_only=True)
class TestedResidualsInfo(ResidualsInfo):
    """Observed and predicted value of tested rows, and the design by which they were predicted."""

    design: str
    repeated: bool

    @property
    def caption(self) -> str:
        """How to read it."""
        by = (
            "by models that had not seen it (mean over repetitions)"
            if self.repeated
            else "by a model that had not seen it"
        )
        if self.design == "time-ordered":
            by = "by a model trained on earlier rows"
        return (
            f"Each point is a row, predicted {by}. On the dashed line a prediction is perfect; a cloud flatter than the line means "
            "predictions are drawn towards the mean."
        )


def info(a: Assessment) -> TestedResidualsInfo | None:
    """Return each tested row's mean prediction, or None for classes."""
    table = first_table(a, CROSS_VALIDATED)
    if a.data.task != "regression" or table is None:
        return None
    test, n = table.source[0].test, a.data.n
    times = table.times_tested()
    tested = np.flatnonzero(times)
    predicted = np.bincount(test.row, test.value.astype(float), n)[tested] / times[tested]
    pairs = pairs_of(np.asarray(a.data.y, dtype=float)[tested], predicted, a.data.target_name)
    values = {field.name: getattr(pairs, field.name) for field in fields(pairs)}
    return TestedResidualsInfo(**values, design=table.plan.design, repeated=bool(times.max() > 1))


figure(
    Figure(
        name="residuals",
        record=Assessment,
        info=info,
        draw=draw,
        title="Predicted against observed",
        size=(4.4, 4.0),
        order=50,
    )
)
