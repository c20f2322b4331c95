"""`unseen.assess`: the whole picture of a model's error in one call."""

from __future__ import annotations

import platform
import time as clock
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from unseen._version import __version__
from unseen.assessment.assess_support import Job, add_support
from unseen.assessment.assessment import Assessment
from unseen.checks.preprocessing_outside import outside_notes
from unseen.checks.registry import data_notes, run_notes
from unseen.core.combination import CombinedEstimate
from unseen.core.data import Data
from unseen.core.errors import Stopped
from unseen.core.estimate import Estimate, ResubEstimate, check_level
from unseen.core.evidence import in_situation, level_of
from unseen.core.losses import LossTable
from unseen.core.model import Model
from unseen.core.notes import Note, merge_notes, note
from unseen.core.registry import build
from unseen.core.rng import RandomState, root_seed
from unseen.designs.drawing import distinct_possible, left_out_size
from unseen.engine.events import reporter_for
from unseen.engine.run import execute
from unseen.engine.threads import worker_count
from unseen.engine.where import using
from unseen.models.sklearn import as_model
from unseen.request.effort import Effort, checked_budget, effort_of, within_budget
from unseen.request.prepare import data_of, model_of

__all__ = ["assess"]

LONG_RUN = 120.0


def assess(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    loss: str = "auto",
    measure: Any = None,
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
    measure : str or measure, optional
        Id of any measure, such as "auc", "f1" or "r2", or an object with options, such as `unseen.measures.Cost(costs)` or
        `unseen.measures.Quantile(0.9)`, instead of a loss; a score s is worked with as 1 - s, its value on
        all test parts together (measures of scores, such as auc: the mean over parts), and shown as it is.
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
    wanted, seconds = effort_of(effort), checked_budget(budget)
    data = data_of(X, y, columns, assess)
    reporter = reporter_for(progress)
    job = Job(
        model=model_of(model, data),
        data=data,
        seed=root_seed(random_state),
        loss=loss if measure is None else measure,
        level=level,
        n_jobs=n_jobs,
        reporter=reporter,
    )
    try:
        with using(engine):
            return _assess(job, wanted, seconds, command, start)
    finally:
        reporter.close()


def _assess(job: Job, effort: Effort, budget: float | None, command: str | None, start: float) -> Assessment:
    _check_possible(job.data, effort)
    notes: list[Note] = list(data_notes(job.data))
    trained = None
    if budget is not None or effort.fits > effort.splits:
        trained, seconds = job.fit_all()
        workers = worker_count(job.n_jobs)
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
        add_support(job, effort, estimates, trained)
    except Stopped as stop:
        notes.append(note("U018", f"{stop}; finished before that: {', '.join(job.tables)}"))
    notes += run_notes(headline_table)
    notes += _outside(job, headline_table, method)
    settings = _settings(job, effort, headline_table.plan.design, command)
    seconds = clock.perf_counter() - start
    all_notes = merge_notes(tuple(notes), headline.notes)
    rms = {} if trained is None else _expected_rms(estimates, trained, job.data)
    if trained is not None:
        estimates = _expecting(estimates, trained, job.data)
    return Assessment(
        headline=headline,
        estimates=estimates,
        baseline=baseline,
        tables=job.tables,
        data=job.data,
        model=job.model.name,
        settings=settings,
        notes=all_notes,
        seconds=seconds,
        expected_rms=rms,
    )


def _expected_rms(estimates: dict[str, Estimate], trained: Any, data: Data) -> dict[str, float]:
    """Return what each method's RMS was in situations like this one, for those that were studied."""
    level = level_of(estimates)
    found = {m: in_situation(m, e.loss, level, trained.native, data) for m, e in estimates.items()}
    return {method: evidence.rms for method, evidence in found.items() if evidence is not None}


def _expecting(estimates: dict[str, Estimate], trained: Any, data: Data) -> dict[str, Estimate]:
    """Return the estimates, each that carries an RMS to expect with the one that the table shows for it."""
    level, out = level_of(estimates), dict(estimates)
    for m, e in estimates.items():
        if isinstance(e, ResubEstimate):
            out[m] = e.expecting(build(m, "resubstitution"), trained.native, data, level)
        elif isinstance(e, CombinedEstimate) and (found := in_situation(m, e.loss, level, trained.native, data)):
            out[m] = replace(e, expected_rms=found.rms, situation=found.situation)
    return out


def _outside(job: Job, table: LossTable, method: Any) -> tuple[Note, ...]:
    """Look for preprocessing fitted on all rows; where it can be moved inside, see on the same splits what that changes."""
    estimator = getattr(job.model, "estimator", None)
    if estimator is None:
        return ()

    def rerun(moved: Any) -> LossTable:
        model = as_model(moved)
        plan = table.plan
        job.reporter.expect(len(plan), plan.design)
        run = execute(
            model,
            job.data,
            plan,
            seed=job.seed,
            train=False,
            scores=job.needs_score,
            n_jobs=job.n_jobs,
            reporter=job.reporter,
        )
        return run.losses(job.loss)

    return outside_notes(estimator, job.data, table, rerun, method, job.level)


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


def _settings(job: Job, effort: Effort, headline_design: str, command: str | None) -> dict[str, Any]:
    designs = {name: dict(table.plan.options) for name, table in job.tables.items()}
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    measure = "" if isinstance(job.loss, str) and job.loss == "auto" else f"measure={job.loss!r}, "
    call = f"unseen.assess(model, X, y, {measure}random_state={job.seed}, effort={str(effort)!r}, level={job.level:g})"
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
