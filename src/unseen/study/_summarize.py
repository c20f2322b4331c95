"""From the columns of a store to the summary of a study."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.estimate import Target
from unseen.core.summary import summarize
from unseen.resubstitution import Deviations
from unseen.study._measured import correlation_of, coverage_of, mean_of, share_of, variance_of
from unseen.study._pairs import adjusted_pairs, paired
from unseen.study._summary import CellSummary, StudyCell, StudySummary, deviations_title

__all__ = ["summarized", "summary_of"]

LEAST = 2


@dataclass(frozen=True, kw_only=True)
class _Results:
    """The results of one cell, as arrays over its replications."""

    cell: StudyCell
    columns: Mapping[str, Array]
    kind: str
    n1: int
    target: Floats

    @property
    def deviation(self) -> Floats:
        return self.columns["estimate"] - self.columns["truth"]


def summary_of(store: Any, name: str) -> StudySummary:
    """Return the summary of a study in an open store."""
    spec, progress = store.spec(name), store.progress(name)
    counts = (progress.total, progress.done, progress.failed)
    failures = _counts(store.failures(name))
    return summarized(name, spec, store.cells(name), store.columns(name), store.extras(name), counts, failures)


def _counts(failures: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    out: dict[int, int] = defaultdict(int)
    for one in failures:
        out[one["cell"]] += 1
    return out


def summarized(
    name: str,
    spec: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Array],
    extras: Sequence[tuple[int, int, str]],
    counts: tuple[int, int, int],
    failures: Mapping[int, int] | None = None,
) -> StudySummary:
    """Return the summary of columns that are ordered by cell and replication.

    Parameters
    ----------
    name, spec, cells
        The study, as the store keeps it.
    columns : mapping of str to ndarray
        cell, replication, estimate, truth, lower, upper, spread, p_value, seconds; NaN where there is none.
    extras : sequence of (cell, replication, text)
        The JSON texts of results whose target is not the model fitted on all rows.
    counts : tuple of int
        Tasks in all, done and failed.
    failures : mapping of int to int, optional
        Failed tasks by cell.
    """
    level = float(spec.get("level", 0.95))
    found = [one for one in _results(cells, columns, extras) if len(one[1].columns["cell"]) >= LEAST]
    made = [_summary(results, level, (failures or {}).get(index, 0)) for index, results in found]
    results = [one for _, one in found if one.cell.kind == "estimate"]
    return StudySummary(
        name=name,
        cells=tuple(made),
        pairs=adjusted_pairs(_pairs(results)),
        replications=int(spec["replications"]),
        seed=int(spec["seed"]),
        level=level,
        total=counts[0],
        done=counts[1],
        failed=counts[2],
        deviations=tuple(_boxes(results, cells)),
    )


def _results(
    cells: Sequence[Mapping[str, Any]], columns: Mapping[str, Array], extras: Sequence[tuple[int, int, str]]
) -> list[tuple[int, _Results]]:
    told = _told(extras)
    edges = np.searchsorted(columns["cell"], np.arange(len(cells) + 1))
    out = []
    for index, cell in enumerate(cells):
        part = {name: values[edges[index] : edges[index + 1]] for name, values in columns.items()}
        usable = np.isfinite(part["estimate"]) & np.isfinite(part["truth"])
        part = {name: values[usable] for name, values in part.items()}
        out.append((index, _with_target(cell, part, told.get(index))))
    return out


@dataclass(frozen=True)
class _Told:
    """What the results of one cell say of their target: kind, training size, and a value where it is not the truth."""

    kind: str
    n1: int | None
    replication: Ints
    target: Floats


def _told(extras: Sequence[tuple[int, int, str]]) -> dict[int, _Told]:
    """Read the texts of all results at once; a parser called a million times would take longer than all the rest."""
    rows = [one for one in extras if one[2]]
    contents = json.loads(f"[{','.join(text for _, _, text in rows)}]")
    index = np.array([one[0] for one in rows], dtype=np.int64)
    replication = np.array([one[1] for one in rows], dtype=np.int64)
    target = np.array([one.get("target", np.nan) for one in contents], dtype=float)
    out = {}
    for cell in np.unique(index).tolist():
        at = np.flatnonzero(index == cell)
        first = contents[at[0]]
        out[cell] = _Told(first.get("kind", "model"), first.get("n1"), replication[at], target[at])
    return out


def _with_target(cell: Mapping[str, Any], part: dict[str, Array], told: _Told | None) -> _Results:
    """Add what the method declares as its target; without a word it is the model fitted on all rows."""
    of = StudyCell(
        population=cell["population"],
        model=cell["model"],
        n=cell["n"],
        method=cell["method"],
        kind=cell.get("kind", "estimate"),
        equal=cell.get("equal", False),
    )
    target = np.array(part["truth"], dtype=float)
    if told is None:
        return _Results(cell=of, columns=part, kind="model", n1=int(cell["n"]), target=target)
    _, here, there = np.intersect1d(part["replication"], told.replication, return_indices=True)
    known = np.isfinite(told.target[there])
    target[here[known]] = told.target[there[known]]
    return _Results(
        cell=of, columns=part, kind=told.kind, n1=int(cell["n"] if told.n1 is None else told.n1), target=target
    )


def _summary(found: _Results, level: float, failed: int) -> CellSummary:
    c = found.columns
    estimate, truth = c["estimate"], c["truth"]
    target = Target.MODEL if found.kind == "model" else Target.ALGORITHM
    spread = c["spread"][np.isfinite(c["spread"])]
    bounded = np.isfinite(c["lower"]) & np.isfinite(c["upper"])
    targets = found.target[bounded] if found.kind == "model" else found.target
    tested = np.isfinite(c["p_value"])
    return CellSummary(
        cell=found.cell,
        target=str(target.at(found.n1)),
        failed=failed,
        deviation=summarize(estimate, truth, found.cell.method),
        truth=mean_of(truth),
        target_bias=mean_of(estimate - found.target),
        internal=mean_of(spread**2) if len(spread) >= LEAST else None,
        total=variance_of(estimate),
        correlation=correlation_of(estimate, truth),
        coverage=coverage_of(c["lower"][bounded], c["upper"][bounded], targets, found.kind)
        if bounded.sum() >= LEAST
        else None,
        width=mean_of((c["upper"] - c["lower"])[bounded]) if bounded.sum() >= LEAST else None,
        rejects=share_of(c["p_value"][tested] < 1 - level) if tested.sum() >= LEAST else None,
        seconds=mean_of(c["seconds"]),
    )


def _by_place(results: Sequence[_Results]) -> dict[tuple[str, str, int], dict[str, tuple[Ints, Floats]]]:
    places: dict[tuple[str, str, int], dict[str, tuple[Ints, Floats]]] = defaultdict(dict)
    for one in results:
        place = (one.cell.population, one.cell.model, one.cell.n)
        places[place][one.cell.method] = (one.columns["replication"].astype(np.int64), one.deviation)
    return places


def _pairs(results: Sequence[_Results]) -> list[Any]:
    return [pair for place, of in _by_place(results).items() for pair in paired(place, of)]


def _boxes(results: Sequence[_Results], cells: Sequence[Mapping[str, Any]]) -> list[Deviations]:
    """Return the deviations by population and model; an estimator without results at some size is left out."""
    places = _by_place(results)
    losses = {cell["population"]: cell["loss"] for cell in cells if "loss" in cell}
    out = []
    for population, model in dict.fromkeys((p, m) for p, m, _ in places):
        sizes = [n for p, m, n in places if (p, m) == (population, model)]
        named = [places[population, model, n] for n in sizes]
        methods = tuple(name for name in named[0] if all(name in one for one in named))
        if methods:
            values = tuple(tuple(one[name][1] for name in methods) for one in named)
            title, loss = deviations_title(population, model), losses.get(population, "zero-one")
            out.append(
                Deviations(
                    title=title, groups=tuple(f"n = {n}" for n in sizes), estimators=methods, values=values, loss=loss
                )
            )
    return out
