"""Report sections of power and of the size of a test set: the answer in a sentence, its numbers, its curves."""

from __future__ import annotations

from unseen.planning.power import Power
from unseen.planning.test_size import TestSize
from unseen.show.sections import Notes, Section, Text, figure_section, section, table_of

__all__: list[str] = []


@section(Power, 10)
def power(p: Power) -> Section:
    """Return the answer and what it rests on."""
    (row,) = p.rows()
    shares = p.disagreement is not None
    heads = {"n": "units", "sd": "standard deviation", "alpha": "size of the test", "solved_for": ""}
    rows = [{name: value for name, value in row.items() if value is not None}]
    table = table_of(rows, percent={"power", "disagreement"}, points={"difference"} if shares else (), heads=heads)
    return Section("answer", "The answer", [Text(str(p), lead=True), table])


@section(Power, 20)
def power_by_size(p: Power) -> Section | None:
    """Return the power at other sizes."""
    return figure_section(p, "power-by-size", "power-by-size", "Power against the size of the test set")


@section(Power, 30)
def power_by_difference(p: Power) -> Section | None:
    """Return the power at other differences."""
    return figure_section(p, "power-by-difference", "power-by-difference", "Power against the difference")


@section(TestSize, 10)
def size(t: TestSize) -> Section:
    """Return the answer, and the size by every kind of interval."""
    shares = t.error is not None
    heads = {"n": "units", "sd": "standard deviation", "half_width": "half width"} | ({} if shares else {"error": ""})
    table = table_of(
        t.rows(),
        "Units by every kind of interval.",
        percent={"error"} if shares else (),
        points={"half_width"} if shares else (),
        heads=heads,
    )
    lead = str(t).splitlines()[0]
    return Section("answer", "The answer", [Text(lead, lead=True), table, *([Notes(t.notes)] if t.notes else [])])


@section(TestSize, 20)
def widths(t: TestSize) -> Section | None:
    """Return the width of the interval at other sizes."""
    return figure_section(t, "half-width", "half-width", "Width of the interval against the size of the test set")
