"""Report sections of the synthetic experiment."""

from __future__ import annotations

from unseen.reproduction.ghane_synthetic.checks import RULES
from unseen.reproduction.ghane_synthetic.experiment import GhaneResult
from unseen.show.sections import Block, Section, picture, section

__all__: list[str] = []


@section(GhaneResult, 25)
def deviations(result: GhaneResult) -> Section | None:
    """Return the box plots of every rule that was run."""
    pictures = (picture(result, f"deviations-{rule}") for rule in RULES)
    blocks: list[Block] = [one for one in pictures if one is not None]
    return Section("deviations", "Deviation distributions (figures 2.1 and 2.2)", blocks) if blocks else None
