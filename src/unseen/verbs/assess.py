"""`unseen.assess`: the whole picture of a model's error in one call."""

from __future__ import annotations

import logging
import platform
import time as clock
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from math import comb
from typing import Any

import numpy as np

from unseen._version import __version__
from unseen.adapt.sklearn import as_model
from unseen.core.data import Data
from unseen.core.errors import InputError, Stopped
from unseen.core.estimate import Estimate, check_level
from unseen.core.losses import LossTable
from unseen.core.model import Fitted, Model
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import build, find, known, options_of
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.core.table import Predictions
from unseen.core.trained import codes_of
from unseen.designs._draw import distinct_possible, left_out_size
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.learning_curve import LearningCurve
from unseen.designs.leave_out import LeaveOut
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.run import execute
from unseen.engine.where import using
from unseen.verbs.assessment import Assessment
from unseen.verbs.effort import Effort, effort_of, within_budget
from unseen.verbs.look import data_notes, run_notes
from unseen.verbs.prepare import data_of, model_of, plan_of

__all__ = ["assess"]

LOG = logging.getLogger("unseen")
LONG_RUN = 120.0


@dataclass
class _Job:
    """What all runs of one assessment share."""

    model: Model
    data: Data
    seed: int
    loss: str
    level: float
    n_jobs: int | None
    reporter: Reporter
    tables: dict[str, LossTable] = field(default_factory=dict)
    full: Predictions | None = None

    def run(self, design: Any, model: Model | None = None) -> LossTable:
        """Return the losses of a model on a design's splits."""
        plan = plan_of(design, self.data, self.seed)
        self.reporter.expect(len(plan.fits), plan.design)
        scores = self.needs_score
        table = execute(
            model or self.model, self.data, plan, seed=self.seed, scores=scores, n_jobs=self.n_jobs, reporter=self.reporter
        )  # fmt: skip
        return table.losses(self.loss)

    def with_full(self, table: LossTable) -> LossTable:
        """Return the table with the one fit on all rows, for methods that need it."""
        return replace(table.source[0], full=self.full).losses(self.loss)

    @property
    def needs_score(self) -> bool:
        """Whether the loss is one of probabilities."""
        return self.loss != "auto" and bool(find(self.loss, "measures").needs_score)

    @property
    def by_split(self) -> bool:
        """Whether the measure is one of whole test parts, of which methods without splits cannot speak."""
        return self.loss != "auto" and not hasattr(find(self.loss, "measures"), "per_example")

    def fit_all(self) -> tuple[Fitted, float]:
        """Fit on all rows, keep what that model says of them, and return it with the seconds it took."""
        begin = clock.perf_counter()
        trained = self.model.fit(self.data, task_seed(self.seed, "fit", "full"))
        seconds = clock.perf_counter() - begin
        rows = np.arange(self.data.n)
        score = trained.scores(self.data.X) if self.needs_score else None
        values = codes_of(trained.predict(self.data.X), self.data)
        self.full = Predictions(np.zeros_like(rows), rows, values, None if score is None else score[0])
        return trained, seconds


def assess(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    loss: str = "auto",
    measure: str | None = None,
    level: float = 0.95,
    random_state: RandomState = None,
    effort: str | Mapping[str, int] | Effort = "full",
    budget: float | None = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    command: str | None = None,
    **columns: Any,
) -> Assessment:
    """Assess a model: an error estimate with an interval, and everything that supports it.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit, never changed.
    X, y : array-like
        Sample; pandas and polars frames and sparse matrices are welcome.
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    measure : str, optional
        Id of any measure, such as "auc", "f1" or "r2", instead of a loss; a score s is worked with as 1 - s, its value on
        each test part, and shown as it is.
    level : float
        Confidence level of intervals.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    effort : "full", "quick", mapping or text
        Numbers of splits; see `Effort`.
    budget : float, optional
        Seconds; one timed fit then decides the effort, which is reported so that the run can be repeated exactly.
    n_jobs : int, optional
        Worker processes, as in joblib.
    engine : None, "joblib", "dask", "local:N", address or distributed.Client
        Where the fits run; by default on the active dask client if there is one, else here. Same numbers everywhere.
    progress : bool, optional
        Progress bar on stderr; by default where that is a terminal.
    command : str, optional
        Command line to show in the report.
    **columns
        groups, sample_weight, time, ids, positive, task: see `unseen.datasets.as_data`.

    Returns
    -------
    Assessment

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    >>> a.error < a.baseline.value
    True
    """
    start = clock.perf_counter()
    check_level(level)
    wanted = effort_of(effort)
    data = data_of(X, y, columns)
    reporter = reporter_for(progress)
    job = _Job(model_of(model, data), data, root_seed(random_state), measure or loss, level, n_jobs, reporter)
    try:
        with using(engine):
            return _assess(job, wanted, budget, command, start)
    finally:
        reporter.close()


def _assess(job: _Job, effort: Effort, budget: float | None, command: str | None, start: float) -> Assessment:
    _check_possible(job.data, effort)
    notes: list[Note] = list(data_notes(job.data))
    trained = None
    if budget is not None or effort.fits > effort.splits:
        trained, seconds = job.fit_all()
        workers = _workers(job.n_jobs)
        if budget is not None:
            effort = within_budget(seconds, budget, workers)
            notes.append(note("U019", f"{budget:g} s allow effort {effort}; repeat the run with that effort"))
        elif (expected := seconds * effort.fits / workers) > LONG_RUN:
            job.reporter.say(
                f"about {expected / 60:.0f} min expected ({effort.fits} fits of {seconds:.2g} s); --quick or a budget shortens it"
            )
    method = _headline_method(job.data, effort)
    headline_table = job.run(_headline_design(method, job.data, effort))
    job.tables[headline_table.plan.design] = headline_table
    headline = method(headline_table, level=job.level)
    baseline = method(job.run(_headline_design(method, job.data, effort), _baseline_model(job.data)), level=job.level)
    estimates = {headline.method: headline}
    try:
        _support(job, effort, estimates, trained)
    except Stopped as stop:
        notes.append(note("U018", f"{stop}; finished before that: {', '.join(job.tables)}"))
    notes += run_notes(headline_table)
    settings = _settings(job, effort, headline_table.plan.design, command)
    seconds = clock.perf_counter() - start
    all_notes = merge_notes(tuple(notes), headline.notes)
    return Assessment(headline, estimates, baseline, job.tables, job.data, job.model.name, settings, all_notes, seconds)


def _workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _headline_method(data: Data, effort: Effort) -> Any:
    return build("corrected-t" if data.order is None else "time-ordered", "estimators")


def _headline_design(method: Any, data: Data, effort: Effort) -> Any:
    if data.order is not None:
        return method.default_design(data)
    return build("monte-carlo", "designs", options={"fraction": 0.1, "n_splits": effort.splits})


def _baseline_model(data: Data) -> Model:
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if data.task == "regression":
        return as_model(DummyRegressor())
    # chosen on all rows: with balanced classes the majority of each training part is the minority of its test part
    most_frequent = np.asarray(data.classes)[np.argmax(np.bincount(data.codes, data.weights))]
    return as_model(DummyClassifier(strategy="constant", constant=most_frequent))


def _check_possible(data: Data, effort: Effort) -> None:
    """Refuse more distinct splits than there are; the usual number is cut to what a small sample has."""
    if data.order is None and effort.leave_out > Effort().leave_out:
        distinct_possible(data.n_units, left_out_size("leave-out", 0.25, data.n_units), effort.leave_out)


def _support_designs(data: Data, effort: Effort) -> list[Any]:
    """Return the designs beside the headline."""
    n = data.n_units
    designs: list[Any] = []
    if data.order is not None:
        return designs
    if effort.repeats:
        designs.append(RepeatedKFold(min(10, n), effort.repeats))
    if effort.bootstrap:
        designs.append(Bootstrap(effort.bootstrap))
    if effort.leave_out:
        designs.append(LeaveOut(0.25, min(effort.leave_out, comb(n, left_out_size("leave-out", 0.25, n)))))
    if effort.curve:
        designs.append(LearningCurve(5, effort.curve))
    return designs


def _support(job: _Job, effort: Effort, estimates: dict[str, Estimate], trained: Fitted | None) -> None:
    """Run what stands beside the headline, keeping each part as soon as it is done."""
    _apply_table_methods(job, estimates)
    if trained is not None and not job.by_split:
        _apply_direct_methods(job, estimates, trained)
    for design in _support_designs(job.data, effort):
        table = job.run(design)
        job.tables[table.plan.design] = table
        _apply_table_methods(job, estimates)
    if trained is not None and not job.by_split:
        _apply_recipes(job, estimates, trained)


def _apply_table_methods(job: _Job, estimates: dict[str, Estimate]) -> None:
    for name, cls in known("estimators").items():
        left_out = getattr(cls, "liberal", False) or not getattr(cls, "in_assess", True)
        if name in estimates or not hasattr(cls, "designs") or left_out:
            continue
        table = next((t for t in job.tables.values() if t.plan.design in cls.designs), None)
        if table is not None:
            used = job.with_full(table) if "full" in cls.needs else table
            _try(estimates, name, lambda cls=cls, used=used: cls()(used, level=job.level))


def _apply_direct_methods(job: _Job, estimates: dict[str, Estimate], trained: Fitted) -> None:
    for kind in ("resubstitution", "estimators"):
        for name, cls in known(kind).items():
            if hasattr(cls, "designs") or hasattr(cls, "parts") or not getattr(cls, "in_assess", False):
                continue
            if job.data.weights is not None and not getattr(cls, "weighted", False):
                continue
            rng = stream(job.seed, "direct", name)
            options = {"loss": job.loss} if "loss" in options_of(cls) else {}
            _try(
                estimates,
                name,
                lambda cls=cls, rng=rng, options=options: cls(**options)(trained, job.data, rng=rng, level=job.level),
            )


def _apply_recipes(job: _Job, estimates: dict[str, Estimate], trained: Fitted) -> None:
    """Add the weighted means whose parts are all there, with the RMS to expect of them for such a model and such data."""
    for kind in ("estimators", "resubstitution"):
        for name, cls in known(kind).items():
            if not hasattr(cls, "parts") or (job.data.weights is not None and not getattr(cls, "weighted", False)):
                continue
            recipe = cls().suited(trained.native) if hasattr(cls, "suited") else cls()
            if all(part in estimates for part in getattr(recipe, "needed", recipe.parts)):
                _try(estimates, name, lambda recipe=recipe: _situated(recipe(estimates, level=job.level), job, trained))


def _situated(made: Any, job: _Job, trained: Fitted) -> Estimate:
    return made.situated(trained.native, job.data) if hasattr(made, "situated") else made


def _try(estimates: dict[str, Estimate], name: str, make: Any) -> None:
    """Add an estimate; a method that cannot speak of this model, table or loss is left out."""
    try:
        made = make()
    except InputError as error:
        LOG.info("%s is left out: %s", name, error)
        return
    headline = next(iter(estimates.values()))
    if made.loss == headline.loss:
        estimates[name] = made


def _settings(job: _Job, effort: Effort, headline_design: str, command: str | None) -> dict[str, Any]:
    designs = {name: dict(table.plan.options) for name, table in job.tables.items()}
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    call = f"unseen.assess(model, X, y, random_state={job.seed}, effort={str(effort)!r}, level={job.level:g})"
    return {
        "seed": job.seed,
        "level": job.level,
        "effort": asdict(effort),
        "headline_design": headline_design,
        "designs": designs,
        "data_fingerprint": job.data.fingerprint,
        "versions": {"unseen": __version__, "python": platform.python_version(), **packages},
        "repeat": command or call,
    }
