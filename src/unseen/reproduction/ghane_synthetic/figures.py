"""Box plots of the synthetic experiment: figures 2.1 and 2.2, one per rule."""

from __future__ import annotations

from unseen.assessment.figures.resub_deviations import CAPTION, DeviationsInfo, draw
from unseen.assessment.figures.resub_deviations import info as boxes
from unseen.reproduction.ghane_synthetic.checks import RULES
from unseen.reproduction.ghane_synthetic.experiment import GhaneResult
from unseen.show.figures import Figure, figure

__all__: list[str] = []


def _of(rule: str):  # type: ignore[no-untyped-def]
    def info(result: GhaneResult) -> DeviationsInfo | None:
        found = [d for d in result.deviations if d.title == rule]
        return boxes(found[0]) if found else None

    return info


for _place, _rule in enumerate(RULES):
    figure(
        Figure(
            name=f"deviations-{_rule}",
            record=GhaneResult,
            info=_of(_rule),
            draw=draw,
            title=f"Deviation from the true error, {_rule}",
            caption=f"As figures 2.1 and 2.2 of the dissertation, by sample size. {CAPTION}",
            size=(8.0, 3.8),
            order=60 + _place,
        )
    )
