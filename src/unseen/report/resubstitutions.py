"""The report of a trained model's error without retraining: every estimate, what each is, and what was left out."""

from __future__ import annotations

from unseen.core.notes import merge_notes
from unseen.core.registry import describe, known
from unseen.report._sections import Block, Notes, Section, Table, Text, picture, section
from unseen.verbs.resubstitute import Resubstitutions

__all__: list[str] = []


@section(Resubstitutions, 10)
def estimates(result: Resubstitutions) -> Section:
    """Return all estimates, with the error of their integration and their notes."""
    first = result.estimates[0]
    lead = f"{result.model}: estimates of its error from the {first.n_units} units it was trained on. Nothing was retrained."
    rows = [
        [
            e.method,
            e.value,
            getattr(e, "mc_error", None),
            getattr(e, "expected_rms", None),
            " ".join(n.code for n in e.notes),
        ]
        for e in result.estimates
    ]
    caption = "No interval can be given without retraining; the integration error is that of the computation alone."
    if result.situation:
        caption += f" Expected RMS: deviation from the true error on data sets with {result.situation}."
    blocks: list[Block] = [
        Text(lead, lead=True),
        Table(["method", "error", "integration error", "expected RMS", "notes"], rows, caption),
    ]
    notes = merge_notes(*(e.notes for e in result.estimates))
    return Section("estimates", "Error without retraining", [*blocks, *([Notes(notes)] if notes else [])])


@section(Resubstitutions, 15)
def contributions(result: Resubstitutions) -> Section | None:
    """Return which training points the error comes from."""
    drawn = picture(result, "contributions")
    return None if drawn is None else Section("contributions", "Where the error comes from", [drawn])


@section(Resubstitutions, 20)
def methods(result: Resubstitutions) -> Section:
    """Return what each method is, and why others were left out."""
    classes = known("resubstitution")
    rows = [[e.method, describe(classes[e.method])] for e in result.estimates if e.method in classes]
    blocks: list[Block] = [Table(["method", "what it is"], rows)]
    if result.left_out:
        blocks.append(Table(["left out", "why"], [list(pair) for pair in result.left_out.items()]))
    return Section("methods", "Methods", blocks)
