"""What a study found: bias, deviation variance, RMS, internal variance, correlation, coverage, width, size, power, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from unseen.core.errors import InputError, UnknownName
from unseen.core.result import Result, plain
from unseen.core.summary import Summary
from unseen.resubstitution._deviations import Deviations
from unseen.study._measured import Measured
from unseen.study._pairs import PairTest

__all__ = ["CellSummary", "StudyCell", "StudySummary"]

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
