"""Box plots of the synthetic experiment: figures 2.1 and 2.2, one per rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from unseen.assessment.figures import DEVIATIONS
from unseen.reproduction.ghane_synthetic.checks import RULES
from unseen.reproduction.ghane_synthetic.experiment import GhaneResult
from unseen.show.figures import figure

__all__: list[str] = []


def _of(rule: str) -> Callable[[GhaneResult], Any]:
    def info(result: GhaneResult) -> Any:
        found = [d for d in result.deviations if d.title == rule]
        return DEVIATIONS.info(found[0]) if found else None

    return info


for _place, _rule in enumerate(RULES):
    figure(
        replace(
            DEVIATIONS,
            name=f"deviations-{_rule}",
            record=GhaneResult,
            info=_of(_rule),
            title=f"Deviation from the true error, {_rule}",
            caption=f"As figures 2.1 and 2.2 of the dissertation, by sample size. {DEVIATIONS.caption}",
            order=60 + _place,
        )
    )
