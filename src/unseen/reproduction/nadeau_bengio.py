"""Size and power of five tests about generalization errors: the simulation study of Nadeau & Bengio (2000, 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.core.rng import stream
from unseen.engine.events import Reporter
from unseen.engine.threads import limited_threads, worker_count
from unseen.reproduction._nadeau_bengio_judged import (
    MOST_J,
    MOST_M,
    J,
    M,
    Study,
    cells,
    setting_checks,
    settings_of,
    size_checks,
    variance_checks,
)
from unseen.reproduction._nadeau_bengio_problems import Letter, Regressions
from unseen.reproduction._nadeau_bengio_stats import Raw, draw_layout, raw_of
from unseen.reproduction._nadeau_bengio_variance import VarianceRun, ratios, variance_run
from unseen.reproduction._record import Reproduction

__all__ = ["NadeauBengio", "NadeauBengioResult"]

INNER = 15
CHUNK = 25
REMARKS = (
    "The publication gives its sizes and powers as a figure and in words; the checks are those words.",
    "Synthetic: the sign of a target by least squares on ten inputs against least squares on ten others, equal by symmetry, "
    "n = 300. The variance ratios use the squared error of the same regressions, whose expectation is known exactly.",
    "Letter Recognition: 300 letters drawn without replacement from 20,000; a tree against one nearest neighbour whose "
    "metric is distorted until both have the same error. The expected errors are means over all data sets.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class NadeauBengioResult(Reproduction):
    """The reproduction with sizes, power curves, the variance ratios of lemma 1 and the study of J and M."""

    sizes: tuple[dict[str, Any], ...] = ()
    power: dict[str, dict[str, Floats]] = field(default_factory=dict)
    variance: tuple[dict[str, Any], ...] = ()
    settings: tuple[dict[str, Any], ...] = ()

    @staticmethod
    def _register_pages() -> None:
        import unseen.reproduction._nadeau_bengio_pages
        import unseen.reproduction._pages  # noqa: F401


@register
@dataclass(frozen=True)
class NadeauBengio:
    """Rejections of true and false hypotheses by the t, resampled t, 5x2cv, conservative Z and corrected t tests.

    Parameters
    ----------
    letter : str
        Where the Letter Recognition table is; left out where there is no such file.
    synthetic_sets : int
        Synthetic data sets; four per replication where 0.
    variance_sets : int
        Synthetic data sets for the variance ratios; forty per replication where 0.
    loss : {"zero-one", "squared"}
        Loss of the synthetic problem whose sizes are measured.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> NadeauBengio(letter="").synthetic_sets
    0
    """

    letter: str = "../shared/data/uci/letter.csv.gz"
    synthetic_sets: int = 0
    variance_sets: int = 0
    loss: str = "zero-one"
    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "nadeau-bengio"
    title: ClassVar[str] = "Size and power of tests about generalization errors"
    source: ClassVar[str] = "Nadeau & Bengio (2000), NIPS 12, section 4 and figure 1; (2003), Machine Learning 52"
    replications: ClassVar[int] = 500
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 8.0

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> NadeauBengioResult:
        """Run both problems and the variance study."""
        there, counts = self._checked(replications)
        reporter.expect(sum(counts) + (replications if there else 0), self.id)
        return self._judged(_Tasks(n_jobs, reporter), replications, seed, there, counts)

    def run_stored(
        self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None, store: Any
    ) -> NadeauBengioResult:
        """Run what a store does not hold yet; the numbers are those of `run`."""
        from unseen.reproduction._nadeau_bengio_tasks import StoredTasks

        there, counts = self._checked(replications)
        tasks = StoredTasks(store=store, experiment=self, replications=replications, n_jobs=n_jobs, reporter=reporter)
        return self._judged(tasks, replications, seed, there, counts)

    @staticmethod
    def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> list[Any]:
        """Run tasks of the stored experiment."""
        from unseen.reproduction._nadeau_bengio_tasks import run_group

        return run_group(spec, cells, rows)

    def _checked(self, replications: int) -> tuple[bool, tuple[int, int]]:
        """Return whether the letters are there, and how many synthetic data sets each part takes."""
        if min(self.synthetic_sets, self.variance_sets) < 0:
            raise InputError("synthetic_sets and variance_sets cannot be negative.")
        if self.loss not in ("zero-one", "squared"):
            raise InputError(f"loss is {self.loss!r}; it is zero-one or squared.")
        there = bool(self.letter) and Path(self.letter).is_file()
        return there, (self.synthetic_sets or 4 * replications, self.variance_sets or 40 * replications)

    def _judged(
        self, tasks: Any, replications: int, seed: int, there: bool, counts: tuple[int, int]
    ) -> NadeauBengioResult:
        synthetic = Regressions(loss=self.loss)
        raw = tasks.raw(synthetic, counts[0], MOST_J, MOST_M, seed)
        studies = [Study.estimated("synthetic", synthetic.n, raw, equal=True)]
        runs = tasks.variance(Regressions(), counts[1], seed)
        remarks = REMARKS
        if there:
            problem = Letter(self.letter).tuned(seed)
            studies.append(Study.estimated("letter", problem.n, tasks.raw(problem, replications, J, M, seed)))
        else:
            remarks = (*REMARKS[:2], "Letter Recognition was left out: its file is not there (option letter).")
        sizes = tuple(row for study in studies for row in study.sizes())
        variance = tuple({"setting": name, **row} for name, run in runs.items() for row in ratios(run))
        settings = tuple(settings_of(studies[0]))
        checks = (*size_checks(sizes), *variance_checks(variance, runs), *setting_checks(settings, raw))
        return NadeauBengioResult(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=tuple(cells(sizes, variance)),
            checks=checks,
            replications=replications,
            seed=seed,
            seconds=0.0,
            remarks=remarks,
            sizes=sizes,
            power={study.name: study.power() for study in studies},
            variance=variance,
            settings=settings,
        )


def raw_sets(problem: Any, sets: Iterable[int], n_splits: int, n_halvings: int, seed: int) -> list[Raw]:
    """Run every fit on some data sets; each has a random stream of its own."""
    out = []
    for k in sets:
        rng = stream(seed, "nadeau-bengio", problem.name, k)
        losses = problem.losses(rng)
        out.append(raw_of(losses, draw_layout(problem.n, n_splits, n_halvings, INNER, rng)))
    return out


@dataclass(frozen=True)
class _Tasks:
    """Data sets in chunks over worker processes; the numbers do not depend on how many."""

    n_jobs: int | None
    reporter: Reporter

    def _over(self, call: Any, problem: Any, count: int, *rest: Any) -> list[Any]:
        from joblib import Parallel, delayed

        chunks = [range(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]
        pool = Parallel(n_jobs=worker_count(-1 if self.n_jobs is None else self.n_jobs), return_as="generator")
        out = []
        for chunk, part in zip(chunks, pool(delayed(_one_thread)(call, problem, chunk, *rest) for chunk in chunks)):
            out.append(part)
            self.reporter.advance(len(chunk))
        return out

    def raw(self, problem: Any, count: int, n_splits: int, n_halvings: int, seed: int) -> Raw:
        parts = self._over(raw_sets, problem, count, n_splits, n_halvings, seed)
        return Raw.stacked([one for part in parts for one in part])

    def variance(self, problem: Regressions, count: int, seed: int) -> dict[str, VarianceRun]:
        parts = self._over(variance_run, problem, count, J, seed)
        return {name: _concatenated([part[name] for part in parts]) for name in parts[0]}


def _one_thread(call: Any, *rest: Any) -> Any:
    with limited_threads(1):
        return call(*rest)


def _concatenated(parts: Sequence[VarianceRun]) -> VarianceRun:
    joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ("products", "means", "one_split")}
    return VarianceRun(n_train=parts[0].n_train, n_test=parts[0].n_test, expected=parts[0].expected, **joined)
