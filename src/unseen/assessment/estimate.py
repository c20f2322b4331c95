"""`unseen.estimate`: one method, one estimate."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.assessment.headline import Lead, choose_lead, choose_lead_of_splits, situation_of
from unseen.core.call import Call
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, check_level
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.model import Fitted, Model, is_fitted
from unseen.core.notes import note
from unseen.core.registry import build, declare, find, options_of
from unseen.core.rng import RandomState, stream, task_seed
from unseen.core.training import fit_rows
from unseen.designs.splits import as_design
from unseen.estimators.combined.evidence import attach_expected_rms
from unseen.request.prepare import data_of, needs_scores, one_measure_of, plan_of, task_of
from unseen.request.request import Request, open_request

__all__ = ["check_no_retraining", "estimate", "estimate_on_all_rows", "with_order"]


def estimate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: str | Any = "auto",
    loss: Any = "auto",
    measure: Any = None,
    scoring: Any = None,
    level: float = 0.95,
    design: Any = None,
    cv: Any = None,
    random_state: RandomState = None,
    fitted: bool = False,
    shortcuts: bool = True,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
    **options: Any,
) -> Estimate:
    """Estimate the error of a model by one method.

    Parameters
    ----------
    model : object with fit and predict, name of a model, PredictionTable or LossTable
        A table is used as it is: nothing is refitted. A table of losses has its loss already.
    X, y : array-like
        Sample; not needed with a table.
    method : str
        Id of a method; `unseen methods` lists them. "auto" gives what `unseen.assess` leads with.
    loss : str or measure
        Id of a loss, or an object such as `unseen.measures.Cost(costs)`; "auto" is zero-one for classes and squared error for numbers.
    measure, scoring : str, measure, scorer or function, optional
        As in `unseen.assess`, instead of a loss.
    level : float
        Confidence level.
    design : optional
        Overrides the method's default design.
    cv : int, scikit-learn splitter or index pairs, optional
        As in `unseen.assess`, instead of a design.
    random_state : int, Generator or None
        Same seed, same numbers.
    fitted : bool
        The model is trained already and must not be refitted (methods without retraining only).
    shortcuts, n_jobs, engine, progress
        As in `unseen.run`.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Rows with equal features stay on one side of every split: "together" all of them, "apart" none, "auto" those that chance
        does not make, if neither groups nor time are given.
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
    call = Call.of(estimate, locals())
    if "measure" in options_of(
        find(method, "estimators", "resubstitution") if isinstance(method, str) else type(method)
    ):
        options |= {} if measure is None else {"measure": measure}
        measure = None  # an option of the method itself
    chosen = build(method, "estimators", "resubstitution", options=options) if isinstance(method, str) else method
    declare(type(chosen))
    loss = one_measure_of(loss, measure, scoring)
    if cv is not None and design is not None:
        raise InputError("cv and design both say what is fitted on what; give one of them.")
    if isinstance(model, PredictionTable | LossTable):
        return replace(_from_table(chosen, model, loss, check_level(level)), command=call.text())
    task = task_of(model, X, task) if fitted else task
    data = data_of(
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        ids=ids,
        positive=positive,
        task=task,
        duplicates=duplicates,
        model=model,
    )
    if fitted:
        check_no_retraining(chosen)
    with open_request(
        model,
        data,
        loss=loss,
        level=level,
        random_state=random_state,
        n_jobs=n_jobs,
        engine=engine,
        progress=progress,
        fitted=fitted,
        shortcuts=shortcuts,
    ) as request:
        made = _estimate(chosen, request, design, cv)
        return replace(made, command=call.text(random_state=request.seed))


def _estimate(chosen: Any, request: Request, design: Any, cv: Any) -> Estimate:
    if cv is not None:
        design = request.design_of(cv)
        if chosen.id == "auto":
            return _by_given_splits(request, design)
    if chosen.id == "auto" and design is None:
        return _by_lead(request)
    if chosen.kind == "table":
        return _by_splits(chosen, request, design)
    made, native = estimate_on_all_rows(chosen, request, design)
    return attach_expected_rms({chosen.id: made}, native, request.data, {chosen.id: chosen})[chosen.id]


def _by_lead(request: Request) -> Estimate:
    """Return what `assess` would lead with; repeated folds if the parts of `combined` cannot be made for such a model."""
    lead = choose_lead(request.model, request.data, request.loss)
    method = build(lead.method, "estimators")
    if method.kind == "recipe":
        try:
            made, native = estimate_on_all_rows(method, request)
            made = attach_expected_rms({method.id: made}, native, request.data)[method.id]
        except InputError as error:
            lead = Lead(method="range-t", reason=f"combined cannot be made here: {error}")
            made = _by_splits(build(lead.method, "estimators"), request, None)
    else:
        made = _by_splits(method, request, None)
    return replace(made, notes=(*made.notes, note("U026", f"{lead.method}: {lead.reason}")))


def _by_given_splits(request: Request, design: Any) -> Estimate:
    """Return the estimate that suits splits the user gave; a note says which method that is, and why."""
    lead = choose_lead_of_splits(plan_of(design, request.data, request.seed))
    made = _by_splits(build(lead.method, "estimators"), with_order(request, design), design)
    return replace(made, notes=(*made.notes, note("U026", f"{lead.method}: {lead.reason}")))


def with_order(request: Request, design: Any) -> Request:
    """Return the request with rows in the order they stand in, if the given splits predict rows from earlier ones."""
    if getattr(design, "kind", "") != "time-ordered" or request.data.order is not None:
        return request
    return replace(request, data=replace(request.data, order=np.arange(request.data.n)))


def _from_table(method: Any, table: PredictionTable | LossTable, loss: Any, level: float) -> Estimate:
    if method.kind != "table":
        raise InputError(f"{method.id} works from a model and its data, not from a table of predictions.")
    if isinstance(table, PredictionTable):
        table = table.losses(loss)
    elif loss not in ("auto", table.loss):
        raise InputError(
            f"the table holds {table.loss}, and {loss} was asked for; give the predictions it was made from."
        )
    result: Estimate = method(table, level=level)
    return result


def _by_splits(method: Any, request: Request, design: Any) -> Estimate:
    chosen = method.default_design(request.data) if design is None else as_design(design)
    result: Estimate = method(_table(request, chosen, _needs(method)).losses(request.loss), level=request.level)
    return result


def estimate_on_all_rows(method: Any, request: Request, design: Any = None) -> tuple[Estimate, Any]:
    """Return the estimate of a direct method or a recipe, and the model fitted on all rows that it is about."""
    if method.kind == "recipe":
        return _by_recipe(method, request, design)
    _check_weighted(method, request.data)
    if not isinstance(request.loss, str):
        raise InputError(f"{method.id} takes a loss by its id; give an id, or choose a method that splits the data.")
    if "loss" in options_of(type(method)) and method.loss == "auto":
        method = replace(method, loss=request.loss)
    model = request.model if is_fitted(request.model) else _WithLastFit(request.model, request.data)
    start = clock.perf_counter()
    made = method(model, request.data, rng=stream(request.seed, "direct", method.id), level=request.level)
    made = replace(made, seconds=clock.perf_counter() - start)  # the fit, if there was one, and the integral
    if request.loss not in ("auto", made.loss):
        raise InputError(f"{method.id} estimates {made.loss} and cannot give {request.loss}; leave the loss out.")
    return made, model.native


@dataclass
class _WithLastFit:
    """A model that remembers its fit on all rows; a search, for example, knows its family of rules only after it."""

    model: Model
    data: Data
    last: Fitted | None = None

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def native(self) -> Any:
        return None if self.last is None else self.last.native

    def fit(self, data: Data, seed: int) -> Fitted:
        fitted = self.model.fit(data, seed)
        if data is self.data:
            self.last = fitted
        return fitted


def _by_recipe(recipe: Any, request: Request, design: Any) -> tuple[Estimate, Any]:
    """Make the parts of a recipe: one run per design, and one trained model for all parts that need no split."""
    if design is not None:
        raise InputError(
            f"{recipe.id} is made of {', '.join(recipe.parts)}, each with its own design; leave `design` out."
        )
    data, fitted = request.data, is_fitted(request.model)
    start = clock.perf_counter()
    trained = request.model if fitted else fit_rows(request.model, data, task_seed(request.seed, "fit", "full"))
    seconds = clock.perf_counter() - start
    recipe = recipe.for_model(trained.native)
    methods = {name: build(name, "estimators", "resubstitution") for name in recipe.needed}
    split = {name: part.default_design(data) for name, part in methods.items() if part.kind == "table"}
    needs: dict[Any, frozenset[str]] = {}
    for name, chosen in split.items():
        needs[chosen] = needs.get(chosen, frozenset()) | _needs(methods[name])
    tables = {chosen: _table(request, chosen, wanted) for chosen, wanted in needs.items()}
    losses = {chosen: table.losses(request.loss) for chosen, table in tables.items()}
    parts = {}
    for name, part in methods.items():
        if name in split:
            parts[name] = part(losses[split[name]], level=request.level)
        else:
            _check_weighted(part, data)
            start = clock.perf_counter()
            parts[name] = part(trained, data, rng=stream(request.seed, "direct", name), level=request.level)
            seconds += clock.perf_counter() - start
    fits = sum(t.n_fits for t in tables.values()) + (not fitted)
    seconds += float(sum(t.seconds.sum() for t in tables.values()))
    made = recipe(parts, level=request.level, situation=situation_of(request.model, data))
    return replace(made, n_fits=fits, seconds=seconds), trained.native


def _table(request: Request, design: Any, needs: frozenset[str]) -> PredictionTable:
    scores = request.needs_score or "scores" in needs
    return request.run(design, train="train" in needs, full="full" in needs, scores=scores)


def _needs(method: Any) -> frozenset[str]:
    measured = "measure" in options_of(type(method)) and needs_scores(method.measure)
    result: frozenset[str] = method.needs | {"scores"} if measured else method.needs
    return result


def _check_weighted(method: Any, data: Any) -> None:
    if data.weights is not None and not method.weighted:
        raise InputError(f"{method.id} has no weighted form; leave the weights out or choose another method.")


def check_no_retraining(method: Any) -> None:
    """Refuse a method that retrains the model, or a recipe with such a part."""
    parts = [build(name, "estimators", "resubstitution") for name in method.parts]
    if any(one.kind == "table" for one in (method, *parts)):
        raise InputError(
            f"{method.id} retrains the model; with fitted=True choose a method without retraining, such as bolster."
        )
