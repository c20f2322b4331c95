"""`unseen.estimate`: one method, one estimate."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, check_level
from unseen.core.registry import build
from unseen.core.rng import RandomState, root_seed, stream
from unseen.core.table import PredictionTable
from unseen.designs.splits import as_design
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.run import execute
from unseen.verbs.prepare import data_of, fitted_of, model_of, plan_of

__all__ = ["estimate"]


def estimate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: str | Any = "corrected-t",
    loss: str = "auto",
    level: float = 0.95,
    design: Any = None,
    random_state: RandomState = None,
    fitted: bool = False,
    n_jobs: int | None = None,
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
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    level : float
        Confidence level.
    design : optional
        Overrides the method's default design.
    random_state : int, Generator or None
        Same seed, same numbers.
    fitted : bool
        The model is trained already and must not be refitted (methods without retraining only).
    n_jobs, progress
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
    if isinstance(model, PredictionTable):
        return _from_table(chosen, model, loss, level)
    columns = {
        "groups": groups,
        "sample_weight": sample_weight,
        "time": time,
        "positive": positive,
        "task": task,
    }
    data = data_of(X, y, columns)
    seed = root_seed(random_state)
    if fitted and (hasattr(chosen, "designs") or hasattr(chosen, "parts")):
        raise InputError(
            f"{chosen.id} retrains the model; with fitted=True choose a method without retraining, such as bolster."
        )
    reporter = reporter_for(progress)
    try:
        return _estimate(chosen, model, data, seed, loss, level, design, fitted, n_jobs, reporter)
    finally:
        reporter.close()


def _from_table(method: Any, table: PredictionTable, loss: str, level: float) -> Estimate:
    if not hasattr(method, "designs"):
        raise InputError(f"{method.id} works from a model and its data, not from a table of predictions.")
    return method(table.losses(loss), level=level)


def _estimate(
    method: Any,
    model: Any,
    data: Any,
    seed: int,
    loss: str,
    level: float,
    design: Any,
    fitted: bool,
    n_jobs: int | None,
    reporter: Reporter,
) -> Estimate:
    if hasattr(method, "parts"):
        parts = {
            part: _estimate(
                build(part, "estimators", "resubstitution"),
                model,
                data,
                seed,
                loss,
                level,
                None,
                fitted,
                n_jobs,
                reporter,
            )
            for part in method.parts
        }
        return method(parts, level=level)
    if not hasattr(method, "designs"):
        if data.weights is not None and not getattr(method, "weighted", False):
            raise InputError(f"{method.id} has no weighted form; leave the weights out or choose another method.")
        subject = fitted_of(model, data) if fitted else model_of(model, data)
        return method(subject, data, rng=stream(seed, "direct", method.id), level=level)
    chosen = method.default_design(data) if design is None else as_design(design)
    plan = plan_of(chosen, data, seed)
    needs = getattr(method, "needs", frozenset({"test"}))
    reporter.expect(len(plan) + ("full" in needs), plan.design)
    table = execute(
        model_of(model, data), data, plan, seed=seed, train="train" in needs, full="full" in needs,
        scores=_needs_score(loss), n_jobs=n_jobs, reporter=reporter,
    )  # fmt: skip
    return method(table.losses(loss), level=level)


def _needs_score(loss: str) -> bool:
    if loss == "auto":
        return False
    from unseen.core.registry import find

    return bool(find(loss, "measures").needs_score)
