"""One replication: a sample, the models fitted on it, their true errors, and every estimate made from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unseen.assessment.estimate import estimate as estimate_verb
from unseen.assessment.run import run as run_verb
from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import PredictionTable
from unseen.core.model import Fitted, Model
from unseen.core.registry import build, find
from unseen.core.rng import stream, task_seed
from unseen.request.prepare import model_of
from unseen.significance.paired import from_estimate
from unseen.study.cells import canonical

__all__ = ["Answer", "DeclaredTarget", "SampleModel", "TrialSample", "trial_seed"]


def trial_seed(seed: int, *parts: object) -> int:
    """Return a 63-bit seed that belongs to named parts; 31 bits would repeat within a hundred thousand samples."""
    return int(stream(seed, *parts).integers(2**63))


@dataclass(frozen=True)
class DeclaredTarget:
    """What a method says it estimates, and the truth of it on one sample.

    Parameters
    ----------
    kind : {"model", "algorithm"}
        The error of the one trained model, or that of the algorithm at a training size.
    n1 : int
        Training size.
    value : float or None
        True error of that very model, or of one model trained on n1 rows, whose mean over replications is the risk at n1;
        None for the model trained on all rows, whose true error is known anyhow.
    """

    kind: str
    n1: int
    value: float | None


@dataclass(frozen=True)
class _DesignRun:
    """Predictions of a design, and which of them a method may ask for."""

    table: PredictionTable
    needs: frozenset[str]


@dataclass(frozen=True)
class _TimedEstimate:
    """An estimate, the seconds it took with its fits, and the predictions behind it if it resampled."""

    estimate: Estimate
    seconds: float
    table: PredictionTable | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a method answered on one sample, and its target there."""

    value: float
    lower: float | None
    upper: float | None
    spread: float | None
    p_value: float | None
    seconds: float
    target: DeclaredTarget


@dataclass(kw_only=True)
class TrialSample:
    """The sample of a replication, shared by all models and methods."""

    source: Any
    n: int
    seed: int
    replication: int
    settings: Mapping[str, Any]
    _models: dict[str, SampleModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = canonical(dict(self.source.key))
        self.data, self.rest = self.source.draw(
            self.n, stream(self.seed, "sample", self.place, self.n, self.replication)
        )
        self.run_seed = trial_seed(self.seed, "run", self.place, self.n, self.replication)

    def model(self, text: str) -> SampleModel:
        """Return a model on this sample, made once."""
        if text not in self._models:
            self._models[text] = SampleModel(text=text, sample=self)
        return self._models[text]

    def error(self, fitted: Fitted) -> float:
        """Return the true error of a model trained on this sample, the same test points for all."""
        rng = stream(self.seed, "truth", self.place, self.n, self.replication)
        result: float = self.source.error(fitted, self.rest, rng, self.settings["loss"], self.settings["n_test"])
        return result


@dataclass(eq=False, kw_only=True)
class SampleModel:
    """One model on one sample: fitted once, run once per design."""

    text: str
    sample: TrialSample
    _runs: dict[Any, _DesignRun] = field(default_factory=dict)
    _risks: dict[int, float] = field(default_factory=dict)
    _holdout_errors: dict[tuple[str, int], float] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The model as the engine takes it."""
        return model_of(self.text, self.sample.data)

    @cached_property
    def fitted(self) -> Fitted:
        """The model trained on all rows, with the seed that `assess` and `estimate` give to that fit."""
        return _fit(self.model, self.sample.data, task_seed(self.sample.run_seed, "fit", "full"))

    @cached_property
    def truth(self) -> float:
        """True error of the model trained on all rows."""
        return self.sample.error(self.fitted)

    def risk(self, n1: int) -> float:
        """Return the true error of this model trained on a sample of n1 rows of its own."""
        if n1 == self.sample.n:
            return self.truth
        if n1 not in self._risks:
            s = self.sample
            data, rest = s.source.draw(n1, stream(s.seed, "risk sample", s.place, n1, s.replication), least=1)
            fitted = _fit(model_of(self.text, data), data, trial_seed(s.seed, "risk fit", n1, s.replication) >> 32)
            rng = stream(s.seed, "risk truth", s.place, n1, s.replication)
            self._risks[n1] = s.source.error(fitted, rest, rng, s.settings["loss"], s.settings["n_test"])
        return self._risks[n1]

    def table(self, design: Any, needs: frozenset[str], seed: int) -> PredictionTable:
        """Return the predictions of a design; they are computed again only if a method needs more of them."""
        loss = self.sample.settings["loss"]
        if loss != "auto" and find(loss, "measures").needs_score:
            needs = needs | {"scores"}
        found = self._runs.get((design, seed))
        if found is None or not needs <= found.needs:
            wanted = needs if found is None else needs | found.needs
            table = run_verb(
                self.text,
                self.sample.data,
                design=design,
                random_state=seed,
                train="train" in wanted,
                full="full" in wanted,
                scores=bool({"scores", "predictions"} & wanted),
                n_jobs=1,
                progress=False,
            )
            found = self._runs[design, seed] = _DesignRun(table, wanted)
        return found.table

    def holdout_error(self, table: PredictionTable) -> float:
        """Return the true error of the one model of a single split, trained again as it was."""
        key = (table.plan.fingerprint, table.seed)
        if key not in self._holdout_errors:
            part = self.sample.data.take(table.plan.splits[0].train)
            self._holdout_errors[key] = self.sample.error(_fit(self.model, part, task_seed(table.seed, "fit", 0)))
        return self._holdout_errors[key]

    def estimate(self, how: Mapping[str, Any]) -> Answer:
        """Return the estimate a method gives for this model."""
        method = build(how["id"], "estimators", "resubstitution", options=how["options"])
        run = self._estimate_once(method, how, self.sample.run_seed)
        spread = getattr(run.estimate, "mc_error", None)
        if self.sample.settings["internal"]:
            spread = self._internal_spread(lambda seed: self._estimate_once(method, how, seed).estimate.value)
        target = declared_target(run.estimate.target, self.sample.n, run.table, self.risk, self.holdout_error)
        return _answer(run.estimate, run.seconds, target, spread=spread)

    def _estimate_once(self, method: Any, how: Mapping[str, Any], seed: int) -> _TimedEstimate:
        settings, data = self.sample.settings, self.sample.data
        shared = {"method": method, "loss": settings["loss"], "level": settings["level"]}
        if method.kind == "recipe":
            start = time.perf_counter()
            found = estimate_verb(self.text, data, random_state=seed, n_jobs=1, progress=False, **shared)
            return _TimedEstimate(found, time.perf_counter() - start)
        if method.kind == "direct":
            fitted, start = self.fitted, time.perf_counter()
            found = estimate_verb(fitted, data, random_state=seed, fitted=True, progress=False, **shared)
            return _TimedEstimate(found, time.perf_counter() - start)
        table = self.table(design_of(method, how, data), needs_of(method), seed)
        start = time.perf_counter()
        found = estimate_verb(table, **shared)
        return _TimedEstimate(found, time.perf_counter() - start + float(table.seconds.sum()), table)

    def _internal_spread(self, value: Callable[[int], float]) -> float:
        """Return the standard deviation over runs on the same sample with other random numbers."""
        s = self.sample
        seeds = [trial_seed(s.run_seed, "internal", k) for k in range(s.settings["internal"])]
        values = [value(seed) for seed in seeds]
        for key in [key for key in self._runs if key[1] in seeds]:
            del self._runs[key]
        return float(np.std(values, ddof=1))

    def compare(self, other: SampleModel, how: Mapping[str, Any]) -> Answer:
        """Return what a test finds about the difference to another model."""
        test = build(how["id"], "significance", "estimators", options=how["options"])
        data, settings, seed = self.sample.data, self.sample.settings, self.sample.run_seed
        design, needs = design_of(test, how, data, difference=True), needs_of(test)
        a, b = (one.table(design, needs, seed) for one in (self, other))
        start = time.perf_counter()
        first, second = a.losses(settings["loss"]), b.losses(settings["loss"])
        level = settings["level"]
        linear = test.kind == "table"
        found = from_estimate(test, first.minus(second), level) if linear else test(first, second, level=level)
        seconds = time.perf_counter() - start + float(a.seconds.sum() + b.seconds.sum())
        target = declared_target(
            found.estimate.target,
            self.sample.n,
            a,
            lambda n1: self.risk(n1) - other.risk(n1),
            lambda table: self.holdout_error(a) - other.holdout_error(b),
        )
        p = None if found.p is None or np.isnan(found.p) else float(found.p)
        return _answer(found.estimate, seconds, target, p=p)


def declared_target(
    target: Target,
    n: int,
    table: PredictionTable | None,
    risk: Callable[[int], float],
    holdout_error: Callable[[Any], float],
) -> DeclaredTarget:
    """Return the kind and size of a target, and its value unless it is the model trained on all rows."""
    size = target.n_train
    if size is None and table is not None:
        size = table.plan.mean_sizes()[1]  # a test that names no size is about the models of its splits
    n1 = n if size is None else int(np.clip(round(size), 2, n))
    if target.kind == "model" and n1 == n:
        return DeclaredTarget("model", n, None)
    if target.kind == "model" and table is not None and len(table.plan) == 1:
        return DeclaredTarget("model", n1, holdout_error(table))
    return DeclaredTarget("algorithm", n1, None if n1 == n else risk(n1))


def design_of(method: Any, how: Mapping[str, Any], data: Data, difference: bool = False) -> Any:
    """Return the design a cell asks for, or the method's own."""
    if "design" in how:
        return build(how["design"]["id"], "designs", options=how["design"]["options"])
    return method.difference_design(data) if difference else method.default_design(data)


def needs_of(method: Any) -> frozenset[str]:
    """Return which predictions a method needs."""
    return frozenset(method.needs)


def _answer(
    found: Estimate, seconds: float, target: DeclaredTarget, *, spread: float | None = None, p: float | None = None
) -> Answer:
    interval = found.interval
    lower, upper = (None, None) if interval is None else (float(interval.low), float(interval.high))
    return Answer(
        value=float(found.value),
        lower=lower,
        upper=upper,
        spread=None if spread is None else float(spread),
        p_value=p,
        seconds=seconds,
        target=target,
    )


def _fit(model: Model, data: Data, seed: int) -> Fitted:
    """Fit as the engine does: models that draw from numpy's global state repeat too, and the state is left as it was."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(seed % 2**32)  # noqa: NPY002
        return model.fit(data, seed)
    finally:
        np.random.set_state(state)  # noqa: NPY002
