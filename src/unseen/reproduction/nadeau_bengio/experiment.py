"""Size and power of five tests about generalization errors: the simulation study of Nadeau & Bengio (2000, 2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.engine.events import Reporter
from unseen.reproduction.nadeau_bengio.checks import (
    MOST_J,
    MOST_M,
    J,
    M,
    SimulatedProblem,
    cells,
    setting_checks,
    settings_of,
    size_checks,
    variance_checks,
)
from unseen.reproduction.nadeau_bengio.problems import Letter, Regressions
from unseen.reproduction.nadeau_bengio.tasks import StoredTasks, WorkerTasks, run_group
from unseen.reproduction.nadeau_bengio.variance import ratios
from unseen.reproduction.record import Reproduction

__all__ = ["NadeauBengio", "NadeauBengioResult"]

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

    shown_by: ClassVar[str] = "unseen.reproduction.nadeau_bengio"

    sizes: tuple[dict[str, Any], ...] = ()
    power: dict[str, dict[str, Floats]] = field(default_factory=dict)
    variance: tuple[dict[str, Any], ...] = ()
    settings: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class _SetCounts:
    """Data sets of each part."""

    synthetic: int
    variance: int
    letter: int


@register
@dataclass(frozen=True)
class NadeauBengio:
    """Rejections of true and false hypotheses by the t, resampled t, 5x2cv, conservative Z and corrected t tests.

    Parameters
    ----------
    letter : str
        Path of the Letter Recognition table; that part is left out if there is no such file.
    synthetic_sets : int
        Synthetic data sets; 0 stands for four per replication.
    variance_sets : int
        Synthetic data sets for the variance ratios; 0 stands for forty per replication.
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
        counts = self._counts(replications)
        reporter.expect(counts.synthetic + counts.variance + counts.letter, self.id)
        return self._result(WorkerTasks(n_jobs, reporter), replications, seed, counts)

    def run_stored(
        self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None, store: Any
    ) -> NadeauBengioResult:
        """Run what a store does not hold yet; the numbers are those of `run`."""
        counts = self._counts(replications)
        tasks = StoredTasks(store=store, experiment=self, replications=replications, n_jobs=n_jobs, reporter=reporter)
        return self._result(tasks, replications, seed, counts)

    @staticmethod
    def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> list[Any]:
        """Run tasks of the stored experiment."""
        return run_group(spec, cells, rows)

    def _counts(self, replications: int) -> _SetCounts:
        """Return how many data sets each part takes: no letters if there is no such file."""
        if min(self.synthetic_sets, self.variance_sets) < 0:
            raise InputError("synthetic_sets and variance_sets cannot be negative.")
        if self.loss not in ("zero-one", "squared"):
            raise InputError(f"loss is {self.loss!r}; it is zero-one or squared.")
        there = bool(self.letter) and Path(self.letter).is_file()
        return _SetCounts(
            synthetic=self.synthetic_sets or 4 * replications,
            variance=self.variance_sets or 40 * replications,
            letter=replications if there else 0,
        )

    def _result(self, tasks: Any, replications: int, seed: int, counts: _SetCounts) -> NadeauBengioResult:
        synthetic = Regressions(loss=self.loss)
        raw = tasks.raw(synthetic, counts.synthetic, MOST_J, MOST_M, seed)
        problems = [SimulatedProblem.from_raw("synthetic", synthetic.n, raw, equal=True)]
        runs = tasks.variance(Regressions(), counts.variance, seed)
        remarks = REMARKS
        if counts.letter:
            letter = Letter(self.letter).tune(seed)
            letters = tasks.raw(letter, counts.letter, J, M, seed)
            problems.append(SimulatedProblem.from_raw("letter", letter.n, letters))
        else:
            remarks = (*REMARKS[:2], "Letter Recognition was left out: its file is not there (option letter).")
        sizes = tuple(row for problem in problems for row in problem.sizes())
        variance = tuple({"setting": name, **row} for name, run in runs.items() for row in ratios(run))
        settings = tuple(settings_of(problems[0]))
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
            power={problem.name: problem.power() for problem in problems},
            variance=variance,
            settings=settings,
        )
