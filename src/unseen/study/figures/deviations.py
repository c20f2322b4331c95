"""Box plots of a study's deviations, for its first population and model; a report draws one per pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unseen.assessment.figures import DEVIATIONS
from unseen.show.figures import figure
from unseen.study.summary import StudySummary

__all__: list[str] = []


def info(s: StudySummary) -> Any:
    """Return the boxes, or None if no estimator has results at every size."""
    return DEVIATIONS.info(s.deviations[0]) if s.deviations else None


figure(replace(DEVIATIONS, name="study-deviations", record=StudySummary, info=info))
