"""Report sections of the UCI experiment."""

from __future__ import annotations

from unseen.reproduction.ghane_uci.experiment import UciResult
from unseen.show.sections import Section, figure_section, section

__all__: list[str] = []


@section(UciResult, 14)
def deviation_section(result: UciResult) -> Section | None:
    """Return the scatter of deviations."""
    return figure_section(result, "deviation", "deviation", "Deviation against true error")


@section(UciResult, 15)
def shape_section(result: UciResult) -> Section | None:
    """Return the deviations by depth and width."""
    return figure_section(result, "shapes", "shapes", "Depth and width")
