"""`unseen.diagnose`: what resampling tells of a model beyond one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import comb
from typing import Any

import numpy as np

from unseen._version import __version__
from unseen.checks.look import data_notes
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import check_level
from unseen.core.losses import LossTable
from unseen.core.model import Model
from unseen.core.notes import Note, merge_notes, note
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.kfold import KFold
from unseen.designs.learning_curve import LearningCurve
from unseen.designs.leave_out import LeaveOut
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.diagnosis.learning_curve import learning_curve
from unseen.diagnosis.model import (
    Coefficients,
    Corrupted,
    Dependence,
    NoiseTolerance,
    coefficient_names,
    jackknife_coefficients,
    quantile_coefficients,
    read_coefficients,
)
from unseen.diagnosis.units import optimism_link, ranking_stability, unit_report
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.run import execute
from unseen.engine.where import using
from unseen.request.prepare import data_of, model_of, plan_of

__all__ = ["DiagnosisEffort", "diagnose"]

COEFFICIENTS = ("jackknife", "bootstrap")


@dataclass(frozen=True, kw_only=True)
class DiagnosisEffort:
    """How many fits each part may take: splits, curve sizes and repeats, noise samples, permutations, bootstrap samples."""

    splits: int = 100
    sizes: int = 6
    repeats: int = 10
    noise: int = 20
    permutations: int = 99
    bootstrap: int = 200


EFFORTS = {
    "full": DiagnosisEffort(),
    "quick": DiagnosisEffort(splits=30, sizes=5, repeats=4, noise=6, permutations=39, bootstrap=100),
}


@dataclass(kw_only=True)
class _Job:
    model: Model
    data: Data
    seed: int
    loss: str
    level: float
    n_jobs: int | None
    reporter: Reporter

    def run(self, design: Any, model: Model | None = None, data: Data | None = None, probes: Any = None) -> LossTable:
        """Return the losses of a model on a design's splits."""
        data = self.data if data is None else data
        plan = plan_of(design, data, self.seed)
        self.reporter.expect(len(plan.fits), plan.design)
        table = execute(
            model or self.model, data, plan, seed=self.seed, probes=probes, n_jobs=self.n_jobs, reporter=self.reporter
        )
        return table.losses(self.loss)


def diagnose(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    others: Mapping[str, Any] | None = None,
    loss: str = "auto",
    coefficients: str = "jackknife",
    noise: str = "labels",
    rates: Sequence[float] = (0.0, 0.1, 0.2, 0.3),
    effort: str | DiagnosisEffort = "full",
    level: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
) -> Diagnosis:
    """Mine the refits of a model for more than its error.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit.
    X, y : array-like
        Sample.
    others : mapping of name to model, optional
        Models whose ranking with this one is followed over the splits.
    loss : str
        Id of a loss of single examples; "auto" is zero-one for classes and squared error for numbers.
    coefficients : {"jackknife", "bootstrap"}
        Intervals of coefficients: delete-d jackknife over the leave-out splits, or bootstrap quantiles (more fits).
    noise : {"labels", "features"}
        What is corrupted in the test of noise tolerance.
    rates : sequence of float
        Shares of labels changed, or multiples of a column's standard deviation added.
    effort : "full", "quick" or DiagnosisEffort
        How many fits the parts take.
    level : float
        Confidence level.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    n_jobs, engine, progress
        As in `unseen.run`.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.

    Returns
    -------
    Diagnosis

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu. Shao, J. and Wu,
    C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17, 1176-1197. Ojala, M. and
    Garriga, G. C. (2010). Permutation tests for studying classifier performance. JMLR 11, 1833-1863.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> d = unseen.diagnose("lda", X, y, random_state=0, effort="quick")
    >>> d.dependence.p, d.coefficients.method
    (0.025, 'delete-d jackknife')
    """
    check_level(level)
    if isinstance(effort, str) and effort not in EFFORTS:
        raise UnknownName("effort", effort, EFFORTS)
    if coefficients not in COEFFICIENTS:
        raise InputError(f"coefficients is {coefficients!r}; it is one of {', '.join(COEFFICIENTS)}.")
    if noise not in ("labels", "features") or not len(rates) or min(rates) < 0:
        raise InputError("noise is 'labels' or 'features', and rates are numbers of at least 0.")
    wanted = EFFORTS[effort] if isinstance(effort, str) else effort
    data = data_of(X, y, groups=groups, sample_weight=sample_weight, time=time, ids=ids, positive=positive, task=task)
    reporter = reporter_for(progress)
    job = _Job(
        model=model_of(model, data),
        data=data,
        seed=root_seed(random_state),
        loss=loss,
        level=level,
        n_jobs=n_jobs,
        reporter=reporter,
    )
    try:
        with using(engine):
            return _diagnose(job, wanted, others or {}, coefficients, noise, tuple(map(float, rates)))
    finally:
        reporter.close()


def _diagnose(
    job: _Job, effort: DiagnosisEffort, others: Mapping[str, Any], how: str, noise: str, rates: tuple[float, ...]
) -> Diagnosis:
    data = job.data
    possible = comb(data.n_units, max(1, -(-data.n_units // 4)))
    design = LeaveOut(0.25, min(effort.splits, possible))
    table = job.run(design, probes={"coefficients": read_coefficients})
    if table.by_split:
        raise InputError(f"{table.loss} exists for whole test parts only; diagnose with a loss of single examples.")
    notes: list[Note] = [*data_notes(data), *table.notes]
    curve_table = job.run(LearningCurve(effort.sizes, effort.repeats))
    curve = learning_curve(curve_table, data.n_units, stream(job.seed, "curve"), job.level)
    if curve is not None:
        notes.append(
            note("U022", f"the learning curve is extended beyond the {curve.sizes[-1]:g} units it was run with")
        )
    dependence, remark = _dependence(job, effort.permutations)
    ranking = None
    if others:
        every = {job.model.name: table}
        every |= {name: job.run(design, model_of(one, data)) for name, one in others.items()}
        ranking = ranking_stability(every)
    settings = {
        "seed": job.seed,
        "level": job.level,
        "effort": asdict(effort),
        "noise": noise,
        "rates": list(rates),
        "coefficients": how,
        "data_fingerprint": data.fingerprint,
        "version": __version__,
    }
    return Diagnosis(
        units=unit_report(table),
        optimism=optimism_link(table),
        coefficients=_coefficients(job, table, effort, how),
        curve=curve,
        noise=_noise(job, effort.noise, noise, rates),
        dependence=dependence,
        ranking=ranking,
        table=table,
        data=data,
        model=job.model.name,
        settings=settings,
        notes=merge_notes(tuple(notes), remark),
    )


def _coefficients(job: _Job, table: LossTable, effort: DiagnosisEffort, how: str) -> Coefficients | None:
    """Return coefficients of the fit on all rows with their intervals; None where the model has none of a fixed number."""
    trained = job.model.fit(job.data, task_seed(job.seed, "fit", "full"))
    full = read_coefficients(trained, job.data, job.data)
    if full is None:
        return None
    if how == "bootstrap":
        table = job.run(Bootstrap(effort.bootstrap), probes={"coefficients": read_coefficients})
    found = [b for b in table.source[0].probe("coefficients") if b is not None]
    if len(found) < 2 or any(len(b) != len(full) for b in found):
        return None
    names = coefficient_names(trained, job.data, len(full))
    if how == "bootstrap":
        return quantile_coefficients(np.array(found), full, names, job.level)
    sizes = table.plan.mean_sizes()
    return jackknife_coefficients(np.array(found), full, names, sizes[1], sizes[0], job.level)


def _noise(job: _Job, samples: int, what: str, rates: tuple[float, ...]) -> NoiseTolerance | None:
    """Bootstrap, corrupt, retrain, and test on the clean units out of the bag."""
    if samples < 1 or job.data.order is not None:
        return None
    rows = []
    for rate in rates:
        means = job.run(Bootstrap(samples), Corrupted(job.model, rate, what)).split_means()
        low, high = np.quantile(means, [(1 - job.level) / 2, (1 + job.level) / 2])
        rows.append((rate, float(means.mean()), float(low), float(high)))
    at, error, low_ends, high_ends = zip(*rows)
    return NoiseTolerance(what=what, rates=at, error=error, low=low_ends, high=high_ends, level=job.level)


def _dependence(job: _Job, permutations: int) -> tuple[Dependence | None, tuple[Note, ...]]:
    """Permute the target over independent units and cross-validate again."""
    data = job.data
    if permutations < 1:
        return None, ()
    if data.order is not None:
        text = "rows in time cannot be exchanged freely; no test of dependence by permutation was made"
        return None, (note("U016", text),)
    first = np.zeros(data.n_units, dtype=np.int64)
    first[data.units[::-1]] = np.arange(data.n)[::-1]
    if data.groups is not None and np.any(data.y != data.y[first][data.units]):
        text = "targets differ within groups, so they cannot be permuted over groups; no test of dependence was made"
        return None, (note("U016", text),)
    rng = stream(job.seed, "permute")
    design = KFold(min(5, data.n_units))
    observed = float(job.run(design).split_means().mean())
    errors = []
    for _ in range(permutations):
        y = data.y[first][rng.permutation(data.n_units)][data.units]
        errors.append(float(job.run(design, data=replace(data, y=y)).split_means().mean()))
    return Dependence(observed, np.array(errors)), ()
