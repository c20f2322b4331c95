"""Box plots of a study's deviations, for its first population and model; a report draws one per pair."""

from __future__ import annotations

from unseen.assessment.figures.resub_deviations import CAPTION, DeviationsInfo, draw
from unseen.assessment.figures.resub_deviations import info as boxes
from unseen.show.figures import Figure, figure
from unseen.study.summary import StudySummary

__all__: list[str] = []


def info(s: StudySummary) -> DeviationsInfo | None:
    """Return the boxes, or None if no estimator has results at every size."""
    return boxes(s.deviations[0]) if s.deviations else None


figure(
    Figure(
        name="study-deviations",
        record=StudySummary,
        info=info,
        draw=draw,
        title="Deviation from the true error",
        caption=CAPTION,
        size=(8.0, 3.8),
        order=10,
    )
)
