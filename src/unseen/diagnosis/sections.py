"""Sections for a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.core.scale import measure_name
from unseen.diagnosis.dependence import Dependence
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.show.sections import Notes, Section, Text, picture, repeat_section, section, table_of
from unseen.show.style import is_rate

__all__: list[str] = []

SHOWN = 50  # rows of the table of units; all are in `frame()`


@section(Diagnosis, 10)
def findings(d: Diagnosis) -> Section:
    """Return the findings in plain words."""
    first, *rest = d.sentences()
    blocks: list[Any] = [Text(first, lead=True), *(Text(s) for s in rest)]
    return Section("findings", "Findings", [*blocks, *([Notes(d.notes)] if d.notes else [])])


@section(Diagnosis, 20)
def units(d: Diagnosis) -> Section:
    """Return hard and unstable units with their rows."""
    u = d.units
    shares = {"error", "agreement"} if is_rate(d.table.loss) else set()
    blocks: list[Any] = [picture(d, "diagnosis-units")]
    if len(u.hard):
        blocks.append(
            table_of(
                u.table(u.hard[:SHOWN]),
                f"Hard units, worst first ({len(u.hard)} in all); rows by id, or counted from 1.",
                percent=shares,
            )
        )
    if len(u.unstable):
        blocks.append(
            table_of(
                u.table(u.unstable[:SHOWN]),
                f"Unstable units ({len(u.unstable)} in all); rows by id, or counted from 1.",
                percent=shares,
            )
        )
    return Section("units", "Hard and unstable units", [b for b in blocks if b is not None])


@section(Diagnosis, 15)
def importance(d: Diagnosis) -> Section | None:
    """Return how much each column matters."""
    if d.importance is None:
        return None
    i = d.importance
    caption = (
        f"Growth of this model's mean loss ({measure_name(i.loss)}) on unseen rows if the column is permuted; limits hold for all "
        f"columns together. {i.n_splits} models."
    )
    gaps = {"importance", "std_error", "lower", "upper"} if is_rate(i.loss) else set()
    blocks = [Text(i.sentence()), picture(d, "diagnosis-importance"), table_of(i.rows(), caption, points=gaps)]
    return Section("importance", "Which columns matter", [b for b in blocks if b is not None])


@section(Diagnosis, 30)
def coefficients(d: Diagnosis) -> Section | None:
    """Return the coefficients with their intervals."""
    if d.coefficients is None:
        return None
    blocks = [picture(d, "diagnosis-coefficients"), table_of(d.coefficients.rows(), f"By {d.coefficients.method}.")]
    return Section("coefficients", "Coefficients", [b for b in blocks if b is not None])


@section(Diagnosis, 40)
def more(d: Diagnosis) -> Section:
    """Return the learning curve, the tolerance of noise, the test of dependence, optimism and ranking."""
    names = ("diagnosis-curve", "diagnosis-noise", "diagnosis-dependence", "diagnosis-optimism", "diagnosis-ranking")
    made = [picture(d, name) for name in names]
    blocks: list[Any] = [b for b in made if b is not None]
    if d.ranking is not None:
        r = d.ranking
        rows = [{"model": n, "mean error": e, "first in": f} for n, e, f in zip(r.names, r.error, r.first)]
        shares = {"first in", *(["mean error"] if is_rate(d.table.loss) else [])}
        blocks.append(
            table_of(rows, f"Mean Kendall tau of a split's ranking with the overall one: {r.tau:.2f}.", percent=shares)
        )
    return Section("more", "More data, noise, dependence and optimism", blocks)


@section(Diagnosis, 90)
def settings(d: Diagnosis) -> Section:
    """Return how to repeat it."""
    words = {"data_fingerprint": "fingerprint of the data", "version": "unseen version", "rates": "rates of noise"}
    return repeat_section(d.command, [[words.get(k, k), _in_words(v)] for k, v in d.settings.items()])


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={number}" for name, number in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@section(Dependence, 10)
def permutations(d: Dependence) -> Section:
    """Return the answer of a permutation test, its picture and its numbers."""
    how = (
        "Targets were permuted within the folds of one 5-fold cross-validation. If the features said nothing of the target, all these orders "
        "would be equally likely, so that the p-value is exact."
    )
    shares = {"error", "permuted_mean", "permuted_min"} if is_rate(d.loss) else set()
    heads = {"permuted_mean": "mean of permuted", "permuted_min": "smallest of permuted"}
    table = table_of(d.rows(), how, percent=shares, heads=heads)
    blocks = [Text(d.sentence(), lead=True), picture(d, "permutations"), table]
    return Section("answer", "The answer", [b for b in blocks if b is not None])


@section(Dependence, 90)
def repeat_test(d: Dependence) -> Section | None:
    """Return the command or the call that makes the test again, if it is known."""
    return repeat_section(d.command, [["model", d.model], ["permutations", len(d.permuted)]]) if d.command else None
