"""Report section of the overtraining experiment."""

from __future__ import annotations

from unseen.reproduction.hutton_overtraining.experiment import HuttonResult
from unseen.show.sections import Section, figure_section, section

__all__: list[str] = []


@section(HuttonResult, 15)
def curve(result: HuttonResult) -> Section | None:
    """Return the figure of the three errors."""
    return figure_section(result, "overtraining", "overtraining", "Error by epoch")
