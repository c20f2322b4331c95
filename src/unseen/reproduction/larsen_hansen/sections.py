"""Report sections of the Larsen-Hansen experiment."""

from __future__ import annotations

from unseen.reproduction.larsen_hansen.experiment import LarsenHansenResult
from unseen.show.sections import Section, figure_section, section, table_of

__all__: list[str] = []


@section(LarsenHansenResult, 12)
def distributions(result: LarsenHansenResult) -> Section | None:
    """Return the distributions."""
    return figure_section(result, "larsen-hansen-distributions", "figure-1-left", "Distributions of the error")


@section(LarsenHansenResult, 13)
def density(result: LarsenHansenResult) -> Section | None:
    """Return the density of the true errors."""
    return figure_section(result, "larsen-hansen-density", "figure-1-right", "Density of the true error")


@section(LarsenHansenResult, 14)
def nested_models(result: LarsenHansenResult) -> Section | None:
    """Return the comparison of nested models by tau."""
    made = figure_section(result, "larsen-hansen-tau", "by-tau", "Ten against nine inputs")
    return None if made is None else Section(made.id, made.title, [*made.blocks, table_of(result.by_tau)])
