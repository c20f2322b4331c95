"""What a study found: bias, deviation variance, RMS, internal variance, correlation, coverage, width, size, power, time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Target
from unseen.core.result import Result, plain
from unseen.core.summary import Summary, summarize
from unseen.resubstitution._deviations import Deviations
from unseen.significance.adjust import adjusted
from unseen.study.statistics import Measured, correlation_of, coverage_of, mean_of, share_of, variance_of

__all__ = [
    "CellSummary",
    "PairTest",
    "StudyCell",
    "StudySummary",
    "adjusted_pairs",
    "paired",
    "summarized",
    "summary_of",
]


ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """Mean squared deviation of estimator a minus that of b over the samples both were given.

    Parameters
    ----------
    population, model, n
        Which samples.
    a, b : str
        The estimators; a negative difference favours a.
    replications : int
        Samples both have a result for.
    difference, error : float
        Difference of the mean squared deviations and its standard error.
    p, p_adjusted : float or None
        Two-sided p-value of a paired t test, and adjusted for all pairs of the study; None without any spread.
    """

    population: str
    model: str
    n: int
    a: str
    b: str
    replications: int
    difference: float
    error: float
    p: float | None
    p_adjusted: float | None = None

    @property
    def verdict(self) -> str:
        """What may be said at 5%."""
        p = self.p_adjusted if self.p_adjusted is not None else self.p
        if p is None or p >= ALPHA or self.difference == 0:
            return "no difference shown"
        return f"{self.a if self.difference < 0 else self.b} is nearer the truth"

    def row(self) -> dict[str, Any]:
        """Return all fields and the verdict."""
        return {**self.__dict__, "verdict": self.verdict}


def paired(place: tuple[str, str, int], deviations: Mapping[str, tuple[Ints, Floats]]) -> list[PairTest]:
    """Compare every two estimators of one place, each given as replications and deviations.

    Examples
    --------
    >>> reps = np.arange(4)
    >>> near, far = np.array([0.1, -0.1, 0.1, -0.1]), np.array([0.3, -0.3, 0.4, -0.2])
    >>> one = paired(("p", "m", 20), {"near": (reps, near), "far": (reps, far)})[0]
    >>> round(one.difference, 3), one.p < 0.1
    (-0.085, True)
    """
    out = []
    for a, b in combinations(deviations, 2):
        shared, at_a, at_b = np.intersect1d(deviations[a][0], deviations[b][0], assume_unique=True, return_indices=True)
        if len(shared) < 2:
            continue
        gap = deviations[a][1][at_a] ** 2 - deviations[b][1][at_b] ** 2
        mean, error = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
        population, model, n = place
        p = _p(mean, error, len(gap) - 1)
        out.append(
            PairTest(
                population=population,
                model=model,
                n=n,
                a=a,
                b=b,
                replications=len(gap),
                difference=mean,
                error=error,
                p=p,
            )
        )
    return out


def _p(mean: float, error: float, df: int) -> float | None:
    from scipy.special import stdtr

    if error <= 0:
        return None
    return float(2 * stdtr(df, -abs(mean) / error))


def adjusted_pairs(pairs: Sequence[PairTest]) -> tuple[PairTest, ...]:
    """Return the pairs with p-values adjusted for their number."""
    return tuple(replace(one, p_adjusted=p) for one, p in zip(pairs, adjusted([one.p for one in pairs], "holm")))


MEASURED = ("truth", "target_bias", "internal", "total", "correlation", "coverage", "width", "seconds")


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """Which entry of a study: population, model, sample size, method.

    `kind` is "estimate" or "comparison"; `equal` marks a comparison whose models have the same error by construction.
    """

    population: str
    model: str
    n: int
    method: str
    kind: str = "estimate"
    equal: bool = False

    def __str__(self) -> str:
        return f"{self.population}, {self.model}, n = {self.n}, {self.method}"


@dataclass(frozen=True, kw_only=True)
class CellSummary:
    """What one method did for one model at one size, every figure with its Monte-Carlo error.

    Parameters
    ----------
    cell : StudyCell
        Which entry.
    target : str
        What the method says it estimates: this model, or the algorithm at a training size.
    failed : int
        Replications that failed and are left out.
    deviation : Summary
        Bias, deviation variance and RMS against the true error of the model fitted on all n rows.
    truth : Measured
        Mean of those true errors.
    target_bias : Measured
        Mean of estimate minus the target the method declares.
    internal, total : Measured or None, Measured
        Expected internal variance E[Var(estimate | sample)] and variance of the estimate; their difference is the
        variance that comes from the sample alone.
    correlation : Measured or None
        Of estimate and true error.
    coverage, width : Measured or None
        Of the intervals, held against the declared target.
    rejects : Measured or None
        Share of replications in which a test rejects equality: size where the models are equal, else power.
    seconds : Measured
        Time of the method beyond the one fit on all rows.
    """

    cell: StudyCell
    target: str
    failed: int
    deviation: Summary
    truth: Measured
    target_bias: Measured
    internal: Measured | None
    total: Measured
    correlation: Measured | None
    coverage: Measured | None
    width: Measured | None
    rejects: Measured | None
    seconds: Measured

    def row(self) -> dict[str, Any]:
        """Return all figures and their errors under flat names."""
        c, d = self.cell, self.deviation
        out: dict[str, Any] = {
            "population": c.population,
            "model": c.model,
            "n": c.n,
            "method": c.method,
            "target": self.target,
            "replications": d.n,
            "failed": self.failed,
        }
        for name in ("bias", "variance", "rms"):
            out |= {name: getattr(d, name), f"{name}_error": getattr(d, f"{name}_error")}
        found = {name: getattr(self, name) for name in MEASURED}
        found |= {"size": self.rejects if c.equal else None, "power": None if c.equal else self.rejects}
        for name, one in found.items():
            out |= {name: None if one is None else one.value, f"{name}_error": None if one is None else one.error}
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class StudySummary(Result):
    """A study of error estimators over many samples.

    Parameters
    ----------
    name : str
        The study.
    cells : tuple of CellSummary
        One per population, model, size and method that has at least two results.
    pairs : tuple of PairTest
        Every two estimators on the same samples: which has the smaller mean squared deviation, p-values adjusted by
        Holm's method over all pairs of the study.
    replications, seed : int
        What was asked for.
    level : float
        Confidence level of the intervals.
    total, done, failed : int
        Tasks.
    deviations : tuple of Deviations
        Estimate minus true error of every replication, for box plots: one per population and model.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.
    Ghane, P. (2022). Dissertation, Texas A&M University, section 1.2, equations 1.3 to 1.6.

    Examples
    --------
    >>> import unseen
    >>> spec = {"sizes": [20], "replications": 4, "populations": ["ar-linear"], "models": ["ols"],
    ...         "methods": ["fpe", "loo"]}
    >>> s = unseen.Study("doc", store="doc.db").run(spec, n_jobs=1).summary()
    >>> [row["method"] for row in s.rows()], s.done
    (['fpe', 'loo'], 8)
    """

    shown_by: ClassVar[str] = "unseen.study"

    name: str
    cells: tuple[CellSummary, ...]
    pairs: tuple[PairTest, ...]
    replications: int
    seed: int
    level: float
    total: int
    done: int
    failed: int
    deviations: tuple[Deviations, ...] = field(default=(), metadata={"shown": False})

    title = "Study of error estimators"

    @property
    def complete(self) -> bool:
        """Whether every task is done."""
        return self.done == self.total

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per cell, without the columns that are empty throughout."""
        rows = [one.row() for one in self.cells]
        empty = {name for name in (rows[0] if rows else ()) if all(row[name] is None for row in rows)}
        return [{k: v for k, v in row.items() if k not in empty} for row in rows]

    def __getitem__(self, key: tuple[Any, ...]) -> CellSummary:
        """Return one cell by any of its method, model, population and n, as in `s["bolster", "knn:3", 20]`."""
        wanted = key if isinstance(key, tuple) else (key,)
        found = [one for one in self.cells if all(part in _names(one.cell) for part in wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{len(found)} cells match {wanted!r}; name the population, model, n and method.")
        raise UnknownName("cell", ", ".join(map(str, wanted)), [str(one.cell) for one in self.cells])

    def groups(self) -> list[tuple[str, str]]:
        """Return the pairs of population and model, in order."""
        return list(dict.fromkeys((one.cell.population, one.cell.model) for one in self.cells))

    def only(self, population: str, model: str) -> StudySummary:
        """Return the part about one population and model."""

        def of(one: Any) -> bool:
            return bool(one.population == population and one.model == model)

        title = deviations_title(population, model)
        return replace(
            self,
            cells=tuple(one for one in self.cells if of(one.cell)),
            pairs=tuple(filter(of, self.pairs)),
            deviations=tuple(d for d in self.deviations if d.title == title),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every figure as plain values."""
        head = {k: getattr(self, k) for k in ("name", "replications", "seed", "level", "total", "done", "failed")}
        return {**head, "cells": plain(self.rows()), "pairs": plain([p.row() for p in self.pairs])}

    def __str__(self) -> str:
        missing = self.total - self.done - self.failed
        state = f"{self.done} of {self.total} tasks done"
        state += f", {self.failed} failed" if self.failed else ""
        state += f", {missing} missing" if missing else ""
        head = (
            f"{self.name}: {state} ({self.replications} replications, seed {self.seed}); Monte-Carlo errors in brackets"
        )
        parts = [head]
        for population, model in self.groups():
            inside = [one for one in self.cells if (one.cell.population, one.cell.model) == (population, model)]
            parts.append(f"{population}, {model}\n{_table(inside)}")
        return "\n\n".join(parts)


def deviations_title(population: str, model: str) -> str:
    """Return the heading of a box plot."""
    return f"{population}, {model}"


def _names(cell: StudyCell) -> tuple[Any, ...]:
    return (cell.population, cell.model, cell.n, cell.method)


def _table(cells: Sequence[CellSummary]) -> str:
    shown = ["n", "method", "truth", "bias", "rms", "correlation", "coverage", "width", "rejects", "ms"]
    lines = [[_text(one, name) for name in shown] for one in cells]
    keep = [k for k in range(len(shown)) if any(line[k] for line in lines)]
    grid = [[shown[k] for k in keep], *([line[k] or "-" for k in keep] for line in lines)]
    widths = [max(len(line[k]) for line in grid) for k in range(len(keep))]
    return "\n".join("  " + "  ".join(t.ljust(w) for t, w in zip(line, widths)).rstrip() for line in grid)


def _text(one: CellSummary, name: str) -> str:
    if name in ("n", "method"):
        return str(getattr(one.cell, name))
    if name in ("bias", "rms"):
        value, error = getattr(one.deviation, name), getattr(one.deviation, f"{name}_error")
        return f"{value:{'+' if name == 'bias' else ''}.4f} ({error:.4f})"
    if name == "truth":
        return f"{one.truth.value:.4f}"
    if name == "ms":
        return f"{1000 * one.seconds.value:.3g}"
    found = getattr(one, name)
    return "" if found is None else f"{found.value:.3f} ({found.error:.3f})"


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
