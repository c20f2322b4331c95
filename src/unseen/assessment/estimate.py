"""`unseen.estimate`: one method, one estimate."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, check_level
from unseen.core.registry import build, declare, options_of
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.core.table import PredictionTable
from unseen.designs.splits import as_design
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.run import execute
from unseen.engine.where import using
from unseen.request.prepare import data_of, fitted_of, model_of, needs_scores, plan_of, task_of

__all__ = ["estimate"]


def estimate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: str | Any = "corrected-t",
    loss: Any = "auto",
    level: float = 0.95,
    design: Any = None,
    random_state: RandomState = None,
    fitted: bool = False,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    positive: Any = None,
    task: Any = None,
    **options: Any,
) -> Estimate:
    """Estimate the error of a model by one method.

    Parameters
    ----------
    model : object with fit and predict, name of a model, or PredictionTable
        A table is used as it is: nothing is refitted.
    X, y : array-like
        Sample; not needed with a table.
    method : str
        Id of a method; `unseen methods` lists them.
    loss : str or measure
        Id of a loss, or an object such as `unseen.measures.Cost(costs)`; "auto" is zero-one for classes and squared error for numbers.
    level : float
        Confidence level.
    design : optional
        Overrides the method's default design.
    random_state : int, Generator or None
        Same seed, same numbers.
    fitted : bool
        The model is trained already and must not be refitted (methods without retraining only).
    n_jobs, engine, progress
        As in `unseen.run`.
    groups, sample_weight, time, positive, task
        As in `unseen.datasets.as_data`.
    **options
        Options of the method.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="corrected-t", random_state=0)
    >>> 0 <= e.interval.low <= e.value <= e.interval.high <= 1
    True
    """
    check_level(level)
    chosen = build(method, "estimators", "resubstitution", options=options) if isinstance(method, str) else method
    declare(type(chosen))
    if isinstance(model, PredictionTable):
        return _from_table(chosen, model, loss, level)
    columns = {
        "groups": groups,
        "sample_weight": sample_weight,
        "time": time,
        "positive": positive,
        "task": task_of(model, X, task) if fitted else task,
    }
    data = data_of(X, y, columns)
    seed = root_seed(random_state)
    if fitted and _retrains(chosen):
        raise InputError(
            f"{chosen.id} retrains the model; with fitted=True choose a method without retraining, such as bolster."
        )
    reporter = reporter_for(progress)
    try:
        with using(engine):
            return _estimate(
                chosen,
                _Job(
                    model=model,
                    data=data,
                    seed=seed,
                    loss=loss,
                    level=level,
                    fitted=fitted,
                    n_jobs=n_jobs,
                    reporter=reporter,
                ),
                design,
            )
    finally:
        reporter.close()


def _from_table(method: Any, table: PredictionTable, loss: Any, level: float) -> Estimate:
    if method.kind != "table":
        raise InputError(f"{method.id} works from a model and its data, not from a table of predictions.")
    return method(table.losses(loss), level=level)


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What all parts of one estimate share."""

    model: Any
    data: Any
    seed: int
    loss: Any
    level: float
    fitted: bool
    n_jobs: int | None
    reporter: Reporter


def _estimate(method: Any, job: _Job, design: Any) -> Estimate:
    if method.kind == "recipe":
        return _combined(method, job, design)
    if method.kind == "direct":
        _check_weighted(method, job.data)
        if not isinstance(job.loss, str):
            raise InputError(
                f"{method.id} takes a loss by its id; give an id, or choose a method that splits the data."
            )
        if "loss" in options_of(type(method)) and method.loss == "auto":
            method = replace(method, loss=job.loss)
        subject = fitted_of(job.model, job.data) if job.fitted else model_of(job.model, job.data)
        made = method(subject, job.data, rng=stream(job.seed, "direct", method.id), level=job.level)
        if job.loss not in ("auto", made.loss):
            raise InputError(f"{method.id} speaks of {made.loss} and cannot give {job.loss}; leave the loss out.")
        return made
    chosen = method.default_design(job.data) if design is None else as_design(design)
    return method(_table(job, chosen, _needs(method)).losses(job.loss), level=job.level)


def _combined(recipe: Any, job: _Job, design: Any) -> Estimate:
    """Make the parts of a recipe: one run per design, and one trained model for all parts that need no split."""
    if design is not None:
        raise InputError(
            f"{recipe.id} is made of {', '.join(recipe.parts)}, each with its own design; leave `design` out."
        )
    start = clock.perf_counter()
    if job.fitted:
        trained = fitted_of(job.model, job.data)
    else:
        trained = model_of(job.model, job.data).fit(job.data, task_seed(job.seed, "fit", "full"))
    seconds = clock.perf_counter() - start
    recipe = recipe.suited(trained.native)
    made = {name: build(name, "estimators", "resubstitution") for name in recipe.needed}
    split = {name: part.default_design(job.data) for name, part in made.items() if part.kind == "table"}
    needs: dict[Any, frozenset[str]] = {}
    for name, chosen in split.items():
        needs[chosen] = needs.get(chosen, frozenset()) | _needs(made[name])
    tables = {chosen: _table(job, chosen, wanted) for chosen, wanted in needs.items()}
    parts = {}
    for name, part in made.items():
        if name in split:
            parts[name] = part(tables[split[name]].losses(job.loss), level=job.level)
        else:
            _check_weighted(part, job.data)
            parts[name] = part(trained, job.data, rng=stream(job.seed, "direct", name), level=job.level)
    result = recipe(parts, level=job.level)
    if hasattr(result, "situated"):
        result = result.situated(trained.native, job.data)
    fits = sum(t.n_fits for t in tables.values()) + (not job.fitted)
    return replace(result, n_fits=fits, seconds=seconds + float(sum(t.seconds.sum() for t in tables.values())))


def _table(job: _Job, design: Any, needs: frozenset[str]) -> PredictionTable:
    plan = plan_of(design, job.data, job.seed)
    job.reporter.expect(len(plan.fits) + ("full" in needs), plan.design)
    return execute(
        model_of(job.model, job.data),
        job.data,
        plan,
        seed=job.seed,
        train="train" in needs,
        full="full" in needs,
        scores=needs_scores(job.loss) or "scores" in needs,
        n_jobs=job.n_jobs,
        reporter=job.reporter,
    )


def _needs(method: Any) -> frozenset[str]:
    measured = "measure" in options_of(type(method)) and needs_scores(method.measure)
    return method.needs | {"scores"} if measured else method.needs


def _check_weighted(method: Any, data: Any) -> None:
    if data.weights is not None and not method.weighted:
        raise InputError(f"{method.id} has no weighted form; leave the weights out or choose another method.")


def _retrains(method: Any) -> bool:
    parts = [build(name, "estimators", "resubstitution") for name in method.parts]
    return any(one.kind == "table" for one in (method, *parts))
