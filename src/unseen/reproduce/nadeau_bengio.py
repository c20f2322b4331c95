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
from unseen.core.threads import limited_threads
from unseen.engine.events import Reporter
from unseen.reproduce._nadeau_bengio_problems import Letter, Regressions
from unseen.reproduce._nadeau_bengio_stats import Raw, Statistic, draw_layout, raw_of, statistics
from unseen.reproduce._nadeau_bengio_variance import TARGETS, VarianceRun, ordering, ratios, variance_run
from unseen.reproduce._record import Cell, Check, Reproduction

__all__ = ["NadeauBengio", "NadeauBengioResult"]

NOMINAL = 0.1
J, M, INNER = 15, 10, 15
MOST_J, MOST_M = 25, 20
CHUNK = 25
GRID = np.linspace(-4.0, 4.0, 41)
REMARKS = (
    "The publication gives its sizes and powers as a figure and in words; the checks are those words.",
    "Synthetic: the sign of a target by least squares on ten inputs against least squares on ten others, equal by symmetry, "
    "n = 300. The variance ratios use the squared error of the same regressions, whose expectation is known exactly.",
    "Letter Recognition: 300 letters drawn without replacement from 20,000; a tree against one nearest neighbour whose "
    "metric is distorted until both have the same error. The expected errors are means over all data sets.",
)


@dataclass(frozen=True, eq=False)
class NadeauBengioResult(Reproduction):
    """The reproduction with sizes, power curves, the variance ratios of lemma 1 and the study of J and M."""

    sizes: tuple[dict[str, Any], ...] = ()
    power: dict[str, dict[str, Floats]] = field(default_factory=dict)
    variance: tuple[dict[str, Any], ...] = ()
    settings: tuple[dict[str, Any], ...] = ()

    @staticmethod
    def _register_pages() -> None:
        import unseen.reproduce._nadeau_bengio_pages
        import unseen.reproduce._pages  # noqa: F401


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
        from unseen.reproduce._nadeau_bengio_tasks import StoredTasks

        there, counts = self._checked(replications)
        tasks = StoredTasks(store, self, replications, n_jobs, reporter)
        return self._judged(tasks, replications, seed, there, counts)

    @staticmethod
    def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> list[Any]:
        """Run tasks of the stored experiment."""
        from unseen.reproduce._nadeau_bengio_tasks import run_group

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
        studies = [_Study.estimated("synthetic", synthetic.n, raw, equal=True)]
        runs = tasks.variance(Regressions(), counts[1], seed)
        remarks = REMARKS
        if there:
            problem = Letter(self.letter).tuned(seed)
            studies.append(_Study.estimated("letter", problem.n, tasks.raw(problem, replications, J, M, seed)))
        else:
            remarks = (*REMARKS[:2], "Letter Recognition was left out: its file is not there (option letter).")
        sizes = tuple(row for study in studies for row in study.sizes())
        variance = tuple({"setting": name, **row} for name, run in runs.items() for row in ratios(run))
        settings = tuple(_settings(studies[0]))
        checks = (*_size_checks(sizes), *_variance_checks(variance, runs), *_setting_checks(settings, raw))
        return NadeauBengioResult(
            self.id, self.title, self.source, tuple(_cells(sizes, variance)), checks, replications, seed, 0.0, remarks,
            sizes, {study.name: study.power() for study in studies}, variance, settings,
        )  # fmt: skip


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
        pool = Parallel(n_jobs=-1 if self.n_jobs is None else self.n_jobs, return_as="generator")
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
    return VarianceRun(parts[0].n_train, parts[0].n_test, parts[0].expected, **joined)


@dataclass(frozen=True)
class _Study:
    """Many data sets of one problem and the expected values of both targets at a training size."""

    name: str
    n: int
    raw: Raw
    expected: Any

    @staticmethod
    def estimated(name: str, n: int, raw: Raw, equal: bool = False) -> _Study:
        """Take the expectations from the means over all data sets; a difference known to be 0 is 0."""
        known = {n // 2: raw.wide.mean(axis=(0, 2)), n - n // 10: raw.natural.mean(axis=(0, 2))}
        if equal:
            known = {size: mean * np.array([1.0, 0.0]) for size, mean in known.items()}
        return _Study(name, n, raw, known.__getitem__)

    def statistics(self, n_splits: int = J, n_halvings: int = M) -> dict[str, Statistic]:
        return statistics(self.raw, self.n, n_splits, n_halvings)

    def sizes(self) -> list[dict[str, Any]]:
        """Return the share of true hypotheses rejected at 10%, per statistic and target."""
        rows = []
        for name, one in self.statistics().items():
            rejected = _rejected(one, self.expected(one.n_train)).mean(axis=0)
            error = np.sqrt(NOMINAL * (1 - NOMINAL) / len(one.value))
            rows += [
                {
                    "problem": self.name,
                    "target": target,
                    "statistic": name,
                    "size": float(share),
                    "mc_error": float(error),
                }
                for target, share in zip(TARGETS, rejected)
            ]
        return rows

    def power(self) -> dict[str, Floats]:
        """Return shares of rejections of hypotheses away from the truth, (2, grid), by statistic."""
        every = self.statistics()
        unit = every["corrected-t n2=n/10"].value.std(axis=0, ddof=1)
        out: dict[str, Floats] = {"offsets": unit[:, None] * GRID}
        for name, one in every.items():
            truth = self.expected(one.n_train)
            out[name] = np.stack([_rejected(one, truth + unit * step).mean(axis=0) for step in GRID], axis=1)
        return out


def _rejected(one: Statistic, hypothesis: Floats) -> Any:
    from scipy.special import ndtri, stdtrit

    critical = ndtri(1 - NOMINAL / 2) if np.isinf(one.df) else stdtrit(one.df, 1 - NOMINAL / 2)
    return np.abs(one.value - hypothesis) > critical * one.std_error


def _settings(study: _Study) -> list[dict[str, Any]]:
    """Return size and power (2.5 spreads away) of the two good tests for several J and M."""
    rows = []
    unit = study.statistics()["corrected-t n2=n/10"].value.std(axis=0, ddof=1)
    for splits in (5, J, MOST_J):
        for halvings in (5, M, MOST_M):
            every = study.statistics(splits, halvings)
            for name in ("corrected-t n2=n/10", "conservative-z n2=n/10"):
                truth = study.expected(every[name].n_train)
                size, power = (_rejected(every[name], truth + unit * step).mean(axis=0)[1] for step in (0.0, 2.5))
                rows.append({"J": splits, "M": halvings, "statistic": name, "size": float(size), "power": float(power)})
    return rows


def _cells(sizes: Sequence[dict[str, Any]], variance: Sequence[dict[str, Any]]) -> list[Cell]:
    cells = [
        Cell("size at 10%", f"{r['problem']} {r['target']}, {r['statistic']}", None, r["size"], r["mc_error"])
        for r in sizes
    ]
    for r in variance:
        name = f"{r['target']}, {r['statistic']} {r['setting']}"
        cells.append(
            Cell("variance ratio, lemma 1 | measured", name, r["predicted"], r["measured"], None, "see checks")
        )
    return cells


def _size_checks(sizes: Sequence[dict[str, Any]]) -> list[Check]:
    checks = []
    for r in sizes:
        kind, name = r["statistic"].split()[0], f"size, {r['problem']} {r['target']}, {r['statistic']}"
        if kind in ("corrected-t", "conservative-z"):
            checks.append(Check(name, r["size"], high=NOMINAL + 3 * r["mc_error"]))
        elif r["statistic"] == "resampled-t n2=n/2":
            checks.append(Check(name, r["size"], low=2 * NOMINAL))
        elif kind == "t-test" and r["problem"] == "letter":
            checks.append(Check(name, r["size"], low=NOMINAL))
    return checks


def _variance_checks(variance: Sequence[dict[str, Any]], runs: dict[str, VarianceRun]) -> list[Check]:
    gap = max(abs(r["measured"] / r["predicted"] - 1) for r in variance)
    by_splits = [
        np.mean(np.square(runs["n2=n/10"].means[:, :, :j].mean(axis=2) - runs["n2=n/10"].expected)) for j in (1, 5, J)
    ]
    wide, narrow = (np.mean(np.square(runs[s].means.mean(axis=2) - runs[s].expected)) for s in ("n2=n/2", "n2=n/10"))
    return [
        Check("lemma 1, largest relative gap of variance ratios", float(gap), high=0.1),
        Check(
            "proposition 1: most violated inequality, in Monte-Carlo errors",
            min(map(ordering, runs.values())),
            low=-3.0,
        ),
        Check("proposition 2: variance with 15 splits over that with 5", float(by_splits[2] / by_splits[1]), high=1.0),
        Check("proposition 2: variance with 5 splits over that with 1", float(by_splits[1] / by_splits[0]), high=1.0),
        Check("proposition 2: variance with n2 = n/2 over that with n/10", float(wide / narrow), high=1.0),
    ]


def _setting_checks(settings: Sequence[dict[str, Any]], raw: Raw) -> list[Check]:
    def at(name: str, splits: int, halvings: int, what: str) -> float:
        return next(r[what] for r in settings if (r["J"], r["M"], r["statistic"]) == (splits, halvings, name))

    z, t = "conservative-z n2=n/10", "corrected-t n2=n/10"
    squares = np.square(raw.halves[:, 1])
    together = np.corrcoef(squares, rowvar=False)
    r = float(together[~np.eye(len(together), dtype=bool)].mean())
    early, late = (at(t, more, M, "power") - at(t, less, M, "power") for less, more in ((5, J), (J, MOST_J)))
    ratio = late / early if early > 0 else float("nan")
    return [
        Check("power gained by corrected-t from J = 15 to 25 over that from 5 to 15", ratio, high=0.5),
        Check(
            "size of conservative-z, M = 5 minus M = 10",
            at(z, J, 5, "size") - at(z, J, M, "size"),
            low=-0.01,
            high=0.05,
        ),
        Check(
            "size of conservative-z, M = 20 minus M = 10",
            at(z, J, MOST_M, "size") - at(z, J, M, "size"),
            low=-0.03,
            high=0.03,
        ),
        Check("mean correlation of squared half differences", r, low=-0.05, high=0.15),
    ]
