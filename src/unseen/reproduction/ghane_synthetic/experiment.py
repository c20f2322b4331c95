"""Generalized resubstitution on Gaussian data: tables 2.1 to 2.5 of Ghane's dissertation (2022)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import register
from unseen.engine.events import Reporter
from unseen.engine.threads import worker_count
from unseen.reproduction.ghane_synthetic.checks import (
    ESTIMATORS,
    RULES,
    Runs,
    cells_for,
    checks_of_cells,
    checks_of_estimates,
    remark_on_true_errors,
)
from unseen.reproduction.published_numbers import read_published
from unseen.reproduction.record import Reproduction
from unseen.resubstitution import Deviations

__all__ = ["GhaneResult", "GhaneSynthetic"]


CHUNK = 5  # replications handed to a worker at a time: about half a second of work

REMARKS = (
    "cv10 is the published column: ten contiguous folds on class-sorted data, which biases it upwards by that alone; "
    "cv10-shuffled is cross-validation as it should be, on the same samples, set against the same published numbers.",
    "bolster: equal class weights for SVM, CART and 3NN, plain average for 5NN and 7NN; semi-bolster: equal class weights; "
    "bolster-3nnpp: posterior at the kernel point, not the product of equation (2.38).",
    "The kNN rows of table 2.4 were made from rounded standard deviations; times of table 2.5 come from another machine.",
    "The published true errors of a rule are off by about the same at every size, as a test set of 5,000 points shared by its classifiers makes them; "
    "ours come from fresh points in every replication. The checks of true errors and biases count such a set for each rule (docs/validation/reproductions.md).",
    "Resampled nearest neighbours are read off one table of distances instead of being fitted again, with the same results.",
    "Milliseconds differ from run to run; every other number follows from the seed.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class GhaneResult(Reproduction):
    """The reproduction with the deviation distributions behind figures 2.1 and 2.2."""

    shown_by: ClassVar[str] = "unseen.reproduction.ghane_synthetic"

    deviations: tuple[Deviations, ...] = field(default=(), metadata={"shown": False})


@register
@dataclass(frozen=True)
class GhaneSynthetic:
    """Bias, variance, RMS and time of seven error estimators for six rules on two Gaussian classes in ten dimensions.

    Parameters
    ----------
    sizes : tuple of int
        Sample sizes, of 20, 40, 60, 80, 100.
    rules : tuple of str
        Classification rules, of linear-svm, rbf-svm, cart, 3nn, 5nn, 7nn.
    bootstrap : int
        Bootstrap samples per replication.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.4.1.

    Examples
    --------
    >>> GhaneSynthetic(sizes=(20,), rules=("3nn",)).sizes
    (20,)
    """

    sizes: tuple[int, ...] = (20, 40, 60, 80, 100)
    rules: tuple[str, ...] = RULES
    bootstrap: int = 50
    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "ghane-synthetic"
    title: ClassVar[str] = "Generalized resubstitution on synthetic data"
    source: ClassVar[str] = "Ghane (2022), dissertation, Texas A&M University, tables 2.1 to 2.5"
    replications: ClassVar[int] = 200
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 5.0

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> GhaneResult:
        """Run every rule at every size and set the tables beside the published ones."""
        self._check()
        return self._result(self._runs(replications, seed, reporter, n_jobs), replications, seed)

    def run_stored(
        self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None, store: Any
    ) -> GhaneResult:
        """Run what a store does not hold yet; the numbers are those of `run`."""
        from unseen.reproduction.ghane_synthetic.tasks import cells_of, runs_of
        from unseen.reproduction.stored import run_tasks
        from unseen.study import tasks_over

        self._check()
        cells = cells_of(self.sizes, self.rules, self.bootstrap)
        tasks = tasks_over(cells, seed, replications)
        name = run_tasks(
            store, self, cells, tasks, replications=replications, seed=seed, reporter=reporter, n_jobs=n_jobs
        )
        return self._result(runs_of(store.cells(name), store.columns(name)), replications, seed)

    @staticmethod
    def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> list[Any]:
        """Run tasks of the stored experiment."""
        from unseen.reproduction.ghane_synthetic.tasks import run_group

        return run_group(spec, cells, rows)

    def _result(self, runs: Runs, replications: int, seed: int) -> GhaneResult:
        wanted = [row for row in read_published("ghane_synthetic") if (row["rule"], row["n"]) in runs]
        cells = tuple(cell for row in wanted for cell in cells_for(row, runs))
        checks = (*checks_of_cells(cells, replications), *checks_of_estimates(wanted, runs))
        boxes = tuple(_deviations(rule, self.sizes, runs) for rule in self.rules)
        remarks = (*REMARKS, remark_on_true_errors(cells, replications))
        return GhaneResult(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=cells,
            checks=checks,
            replications=replications,
            seed=seed,
            seconds=0.0,
            remarks=remarks,
            deviations=boxes,
        )

    def _check(self) -> None:
        known = {(row["rule"], row["n"]) for row in read_published("ghane_synthetic")}
        for rule in self.rules:
            if rule not in {r for r, _ in known}:
                raise UnknownName("rule", rule, {r for r, _ in known})
        if not set(self.sizes) <= {n for _, n in known} or not self.sizes:
            raise InputError(f"sizes is {self.sizes}; the published sizes are 20, 40, 60, 80 and 100.")

    def _runs(self, count: int, seed: int, reporter: Reporter, n_jobs: int | None) -> Runs:
        from joblib import Parallel, delayed

        from unseen.reproduction.ghane_synthetic.trial import replications

        # largest first, so that no worker is left with the long ones at the end
        cells = [(rule, n) for n in sorted(self.sizes, reverse=True) for rule in self.rules]
        chunks = [range(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]
        tasks = [(rule, n, chunk) for rule, n in cells for chunk in chunks]
        reporter.expect(count * len(cells), self.id)
        pool = Parallel(n_jobs=worker_count(-1 if n_jobs is None else n_jobs), return_as="generator")
        results: dict[tuple[str, int], list[dict[str, float]]] = defaultdict(list)
        answers = pool(delayed(replications)(rule, n, chunk, seed, self.bootstrap) for rule, n, chunk in tasks)
        for (rule, n, chunk), rows in zip(tasks, answers):
            results[rule, n] += rows
            reporter.advance(len(chunk))
        return {key: {name: np.array([row[name] for row in rows]) for name in rows[0]} for key, rows in results.items()}


def _deviations(rule: str, sizes: Sequence[int], runs: Runs) -> Deviations:
    """Return the deviations of one rule, size by size."""
    values = tuple(
        tuple(runs[rule, n][name] - runs[rule, n]["true-error"] for name in ESTIMATORS) for n in sorted(sizes)
    )
    return Deviations(title=rule, groups=tuple(f"n = {n}" for n in sorted(sizes)), estimators=ESTIMATORS, values=values)
