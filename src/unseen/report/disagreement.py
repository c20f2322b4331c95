"""Sections for two classifiers that disagree: what to label, and what the labels said."""

from __future__ import annotations

from typing import Any

from unseen.report._sections import Notes, Section, Text, picture, section, table_of
from unseen.verbs.disagreement_record import Disagreement, LabelledDisagreement

__all__: list[str] = []


@section(Disagreement, 10)
def share(d: Disagreement) -> Section:
    """Return how often the two disagree and what that bounds."""
    lead = (
        f"{d.first} and {d.second} disagree on {d.share:.2%} of {d.n} points, so their accuracies differ by at most "
        f"{d.share:.4g}."
    )
    rest = f"{len(d.request)} of the {d.n_disagree} disagreements are to be labelled; that saves {d.saved} labels."
    blocks: list[Any] = [Text(lead, lead=True), Text(rest), picture(d, "disagreement"), table_of(d.rows())]
    made = [b for b in blocks if b is not None]
    return Section("share", "Disagreement", [*made, *([Notes(d.notes)] if d.notes else [])])


@section(LabelledDisagreement, 10)
def difference(d: LabelledDisagreement) -> Section:
    """Return the difference of the accuracies with both intervals."""
    lead = (
        f"The accuracy of {d.first} minus that of {d.second} is {d.difference:+.4g}; on these points it lies in "
        f"{d.interval} and for new points in {d.population} ({100 * d.interval.level:g}% each)."
    )
    counts = (
        f"{d.labels} labels: {d.first} alone right {d.first_right}, {d.second} alone right {d.second_right}, both wrong "
        f"{d.both_wrong}. {d.saved} labels were saved against labelling everything; a plain random sample would need about "
        f"{d.equivalent_sample:.0f} to hold as many disagreements."
    )
    blocks: list[Any] = [Text(lead, lead=True), picture(d, "disagreement-intervals"), table_of(d.rows()), Text(counts)]
    made = [b for b in blocks if b is not None]
    return Section("difference", "Difference of the accuracies", [*made, *([Notes(d.notes)] if d.notes else [])])
