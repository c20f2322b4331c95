"""What a study found: bias, deviation variance, RMS, internal variance, correlation, coverage, width, size, power, time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from textwrap import indent
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Target
from unseen.core.result import Result, plain
from unseen.core.summary import Summary, summarize
from unseen.resubstitution import Deviations
from unseen.show.text import percent_or_number, text_table
from unseen.significance.adjust import adjust_p
from unseen.study.statistics import Measured, correlation_of, coverage_of, mean_of, share_of, variance_of

__all__ = [
    "CellSummary",
    "EstimatorPair",
    "StudyCell",
    "StudySummary",
    "adjust_pairs",
    "compare_pairs",
    "summarize_columns",
    "summary_of",
]


ALPHA = 0.05  # the usual level; p-values are adjusted for all pairs before it applies


@dataclass(frozen=True, kw_only=True)
class EstimatorPair:
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
        Two-sided p-value of a paired t test, and adjusted for all pairs of the study; None if the differences do not vary.
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
        """The conclusion at 5%."""
        p = self.p_adjusted if self.p_adjusted is not None else self.p
        if p is None or p >= ALPHA or self.difference == 0:
            return "no difference shown"
        return f"{self.a if self.difference < 0 else self.b} is nearer the truth"

    def row(self) -> dict[str, Any]:
        """Return all fields and the verdict."""
        return {**self.__dict__, "verdict": self.verdict}


@dataclass(frozen=True)
class SampleGroup:
    """The samples of a study on which estimators can be compared: one population, model and size."""

    population: str
    model: str
    n: int


@dataclass(frozen=True)
class EstimatorDeviations:
    """Estimate minus true error of one estimator, by replication."""

    replication: Ints
    deviation: Floats


def compare_pairs(group: SampleGroup, deviations: Mapping[str, EstimatorDeviations]) -> list[EstimatorPair]:
    """Compare every two estimators on the same samples.

    Examples
    --------
    >>> reps = np.arange(4)
    >>> near = EstimatorDeviations(reps, np.array([0.1, -0.1, 0.1, -0.1]))
    >>> far = EstimatorDeviations(reps, np.array([0.3, -0.3, 0.4, -0.2]))
    >>> one = compare_pairs(SampleGroup("p", "m", 20), {"near": near, "far": far})[0]
    >>> round(one.difference, 3), one.p < 0.1
    (-0.085, True)
    """
    pairs = []
    for a, b in combinations(deviations, 2):
        first, second = deviations[a], deviations[b]
        shared, in_first, in_second = np.intersect1d(
            first.replication, second.replication, assume_unique=True, return_indices=True
        )
        if len(shared) < LEAST:
            continue
        gap = first.deviation[in_first] ** 2 - second.deviation[in_second] ** 2
        mean, error = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
        pairs.append(
            EstimatorPair(
                population=group.population,
                model=group.model,
                n=group.n,
                a=a,
                b=b,
                replications=len(gap),
                difference=mean,
                error=error,
                p=_p_value(mean, error, len(gap) - 1),
            )
        )
    return pairs


def _p_value(mean: float, error: float, df: int) -> float | None:
    """Return the two-sided p-value of a paired t test, None without any spread."""
    from scipy.special import stdtr

    if error <= 0:
        return None
    return float(2 * stdtr(df, -abs(mean) / error))


def adjust_pairs(pairs: Sequence[EstimatorPair]) -> tuple[EstimatorPair, ...]:
    """Return the pairs with p-values adjusted for their number."""
    return tuple(replace(one, p_adjusted=p) for one, p in zip(pairs, adjust_p([one.p for one in pairs], "holm")))


MEASURED = ("truth", "target_bias", "internal", "total", "correlation", "coverage", "width", "seconds")


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """Which entry of a study: population, model, sample size, method.

    `kind` is "estimate" or "comparison"; `equal` marks a comparison whose models have the same error by construction; `loss` is what
    its errors are means of.
    """

    population: str
    model: str
    n: int
    method: str
    kind: str = "estimate"
    equal: bool = False
    loss: str = "zero-one"

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
        Of the intervals, for the declared target.
    rejects : Measured or None
        Share of replications in which a test rejects equality: size if the models are equal, else power.
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


MOST_NAMED = 4  # winners that one sentence names


@dataclass(frozen=True, kw_only=True)
class NearestEstimator:
    """The estimator nearest the truth for one population and model at one size, and those not shown to be worse."""

    population: str
    model: str
    n: int
    method: str
    rms: float
    loss: str
    ties: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The same in words."""
        tied = (
            f"; {', '.join(self.ties)} {'is' if len(self.ties) == 1 else 'are'} not shown to be worse"
            if self.ties
            else ""
        )
        return f"{self.method} is nearest the truth for {self.model} on {self.population} at n = {self.n}: RMS {percent_or_number(self.rms, self.loss)}{tied}."


@dataclass(frozen=True, eq=False, kw_only=True)
class StudySummary(Result):
    """A study of error estimators over many samples.

    Parameters
    ----------
    name : str
        The study.
    cells : tuple of CellSummary
        One per population, model, size and method that has at least two results.
    pairs : tuple of EstimatorPair
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
    pairs: tuple[EstimatorPair, ...]
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

    @property
    def sentence(self) -> str:
        """Which estimator is nearest the truth; empty if the study has no estimates."""
        found = [one for group in self.groups() if (one := self.nearest(*group)) is not None]
        if not found:
            return ""
        if len(found) == 1:
            return found[0].sentence
        winners = Counter(one.method for one in found).most_common()
        first, times = winners[0]
        if times == 1:
            parts = ", ".join(f"{one.method} for {one.model}" for one in found[:MOST_NAMED])
            more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
            return f"No estimator is nearest the truth throughout: {parts}{more} at the largest size."
        rest = f"; then {winners[1][0]} ({winners[1][1]})" if len(winners) > 1 else ""
        return f"{first} is nearest the truth for {times} of {len(found)} populations and models at the largest size{rest}."

    def nearest(self, population: str, model: str) -> NearestEstimator | None:
        """Return the estimator with the smallest RMS at the largest size, and those that may be as good; None without estimates."""
        cells = [c for c in self.only(population, model).cells if c.cell.kind == "estimate"]
        if not cells:
            return None
        n = max(c.cell.n for c in cells)
        first = min((c for c in cells if c.cell.n == n), key=lambda c: c.deviation.rms)
        name = first.cell.method
        pairs = [p for p in self.pairs if (p.population, p.model, p.n) == (population, model, n) and name in (p.a, p.b)]
        others = tuple(p.a if p.b == name else p.b for p in pairs if p.verdict == "no difference shown")
        return NearestEstimator(
            population=population,
            model=model,
            n=n,
            method=name,
            rms=first.deviation.rms,
            loss=first.cell.loss,
            ties=others,
        )

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
    names = ["n", "method", "truth", "bias", "rms", "correlation", "coverage", "width", "rejects", "ms"]
    rows = [{name: _text(one, name) for name in names} for one in cells]
    columns = [name for name in names if any(row[name] is not None for row in rows)]
    return indent(text_table(rows, columns), "  ")


def _text(one: CellSummary, name: str) -> str | None:
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
    return None if found is None else f"{found.value:.3f} ({found.error:.3f})"


LEAST = 2  # replications: a mean with a Monte-Carlo error needs two


@dataclass(frozen=True, kw_only=True)
class _Results:
    """The results of one cell, as arrays over its replications, with the target its method declares."""

    index: int
    cell: StudyCell
    columns: Mapping[str, Array]
    kind: str
    n1: int
    target: Floats

    @property
    def deviation(self) -> Floats:
        return self.columns["estimate"] - self.columns["truth"]


@dataclass(frozen=True)
class TaskCounts:
    """Tasks of a study in all, done and failed."""

    total: int
    done: int
    failed: int


def summary_of(store: Any, name: str) -> StudySummary:
    """Return the summary of a study in an open store."""
    spec, progress = store.spec(name), store.progress(name)
    counts = TaskCounts(progress.total, progress.done, progress.failed)
    failures = Counter(one["cell"] for one in store.failures(name))
    return summarize_columns(name, spec, store.cells(name), store.columns(name), store.extras(name), counts, failures)


def summarize_columns(
    name: str,
    spec: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Array],
    extras: Sequence[tuple[int, int, str]],
    counts: TaskCounts,
    failures: Mapping[int, int] | None = None,
) -> StudySummary:
    """Return the summary of columns that are ordered by cell and replication.

    Parameters
    ----------
    name, spec, cells
        The study, as the store keeps it.
    columns : mapping of str to ndarray
        cell, replication, estimate, truth, lower, upper, spread, p_value, seconds; NaN if there is none.
    extras : sequence of (cell, replication, text)
        The JSON texts of results whose target is not the model fitted on all rows.
    counts : TaskCounts
        Tasks in all, done and failed.
    failures : mapping of int to int, optional
        Failed tasks by cell.
    """
    level = float(spec.get("level", 0.95))
    found = [one for one in _results(cells, columns, extras) if len(one.columns["cell"]) >= LEAST]
    estimates = [one for one in found if one.cell.kind == "estimate"]
    return StudySummary(
        name=name,
        cells=tuple(_summarize_cell(one, level, (failures or {}).get(one.index, 0)) for one in found),
        pairs=adjust_pairs(_compare_estimators(estimates)),
        replications=int(spec["replications"]),
        seed=int(spec["seed"]),
        level=level,
        total=counts.total,
        done=counts.done,
        failed=counts.failed,
        deviations=tuple(_deviations(estimates)),
    )


def _results(
    cells: Sequence[Mapping[str, Any]], columns: Mapping[str, Array], extras: Sequence[tuple[int, int, str]]
) -> list[_Results]:
    targets = _declared_targets(extras)
    edges = np.searchsorted(columns["cell"], np.arange(len(cells) + 1))
    out = []
    for index, cell in enumerate(cells):
        part = {name: values[edges[index] : edges[index + 1]] for name, values in columns.items()}
        usable = np.isfinite(part["estimate"]) & np.isfinite(part["truth"])
        part = {name: values[usable] for name, values in part.items()}
        out.append(_results_of_cell(index, cell, part, targets.get(index)))
    return out


@dataclass(frozen=True)
class _DeclaredTargets:
    """Targets of the results of one cell: kind, training size, and a value if it is not the truth."""

    kind: str
    n1: int | None
    replication: Ints
    target: Floats


def _declared_targets(extras: Sequence[tuple[int, int, str]]) -> dict[int, _DeclaredTargets]:
    """Parse the texts of all results at once; a million calls of a parser would take longer than all the rest."""
    rows = [one for one in extras if one[2]]
    contents = json.loads(f"[{','.join(text for _, _, text in rows)}]")
    index = np.array([one[0] for one in rows], dtype=np.int64)
    replication = np.array([one[1] for one in rows], dtype=np.int64)
    target = np.array([one.get("target", np.nan) for one in contents], dtype=float)
    out = {}
    for cell in np.unique(index).tolist():
        at = np.flatnonzero(index == cell)
        first = contents[at[0]]
        out[cell] = _DeclaredTargets(first.get("kind", "model"), first.get("n1"), replication[at], target[at])
    return out


def _results_of_cell(
    index: int, cell: Mapping[str, Any], part: dict[str, Array], declared: _DeclaredTargets | None
) -> _Results:
    """Return the results with their target; by default it is the model fitted on all rows."""
    name = StudyCell(
        population=cell["population"],
        model=cell["model"],
        n=cell["n"],
        method=cell["method"],
        kind=cell.get("kind", "estimate"),
        equal=cell.get("equal", False),
        loss=cell.get("loss", "zero-one"),
    )
    target = np.array(part["truth"], dtype=float)
    if declared is None:
        return _Results(index=index, cell=name, columns=part, kind="model", n1=int(cell["n"]), target=target)
    _, here, there = np.intersect1d(part["replication"], declared.replication, return_indices=True)
    known = np.isfinite(declared.target[there])
    target[here[known]] = declared.target[there[known]]
    n1 = int(cell["n"] if declared.n1 is None else declared.n1)
    return _Results(index=index, cell=name, columns=part, kind=declared.kind, n1=n1, target=target)


def _summarize_cell(found: _Results, level: float, failed: int) -> CellSummary:
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


def _by_group(results: Sequence[_Results]) -> dict[SampleGroup, dict[str, EstimatorDeviations]]:
    groups: dict[SampleGroup, dict[str, EstimatorDeviations]] = defaultdict(dict)
    for one in results:
        group = SampleGroup(one.cell.population, one.cell.model, one.cell.n)
        replication = one.columns["replication"].astype(np.int64)
        groups[group][one.cell.method] = EstimatorDeviations(replication, one.deviation)
    return groups


def _compare_estimators(results: Sequence[_Results]) -> list[EstimatorPair]:
    return [pair for group, of in _by_group(results).items() for pair in compare_pairs(group, of)]


def _deviations(results: Sequence[_Results]) -> list[Deviations]:
    """Return the deviations by population and model; an estimator without results at some size is left out."""
    groups = _by_group(results)
    losses = {one.cell.population: one.cell.loss for one in results}
    out = []
    for population, model in dict.fromkeys((g.population, g.model) for g in groups):
        here = [g for g in groups if (g.population, g.model) == (population, model)]
        methods = tuple(name for name in groups[here[0]] if all(name in groups[g] for g in here))
        if methods:
            out.append(
                Deviations(
                    title=deviations_title(population, model),
                    groups=tuple(f"n = {g.n}" for g in here),
                    estimators=methods,
                    values=tuple(tuple(groups[g][name].deviation for name in methods) for g in here),
                    loss=losses[population],
                )
            )
    return out
