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
from unseen.study._cells import canonical

__all__ = ["Answer", "Sample", "Subject", "trial_seed"]


def trial_seed(seed: int, *parts: object) -> int:
    """Return a 63-bit seed that belongs to named parts; 31 bits would repeat within a hundred thousand samples."""
    return int(stream(seed, *parts).integers(2**63))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a method said about one sample, and what its target was there.

    `kind` and `n1` describe the target it declares (this model, or the algorithm at a training size); `target` is the
    true error of that very model, or of one model trained on n1 rows, whose mean over replications is the risk at n1.
    """

    value: float
    lower: float | None
    upper: float | None
    spread: float | None
    p_value: float | None
    seconds: float
    kind: str
    n1: int
    target: float | None


@dataclass(kw_only=True)
class Sample:
    """The sample of a replication, shared by all models and methods."""

    source: Any
    n: int
    seed: int
    replication: int
    settings: Mapping[str, Any]
    _subjects: dict[str, Subject] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = canonical(dict(self.source.key))
        self.data, self.held = self.source.draw(
            self.n, stream(self.seed, "sample", self.place, self.n, self.replication)
        )
        self.run_seed = trial_seed(self.seed, "run", self.place, self.n, self.replication)

    def subject(self, text: str) -> Subject:
        """Return a model on this sample, made once."""
        if text not in self._subjects:
            self._subjects[text] = Subject(text=text, sample=self)
        return self._subjects[text]

    def error(self, fitted: Fitted) -> float:
        """Return the true error of a model trained on this sample, the same test points for all."""
        rng = stream(self.seed, "truth", self.place, self.n, self.replication)
        return self.source.error(fitted, self.held, rng, self.settings["loss"], self.settings["n_test"])


@dataclass(eq=False, kw_only=True)
class Subject:
    """One model on one sample: fitted once, run once per design."""

    text: str
    sample: Sample
    _tables: dict[Any, tuple[PredictionTable, frozenset[str]]] = field(default_factory=dict)
    _risks: dict[int, float] = field(default_factory=dict)
    _held: dict[tuple[str, int], float] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The model as the engine takes it."""
        return model_of(self.text, self.sample.data)

    @cached_property
    def fitted(self) -> Fitted:
        """The model trained on all rows, with the seed every verb gives to that fit."""
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
            data, held = s.source.draw(n1, stream(s.seed, "risk sample", s.place, n1, s.replication), least=1)
            fitted = _fit(model_of(self.text, data), data, trial_seed(s.seed, "risk fit", n1, s.replication) >> 32)
            rng = stream(s.seed, "risk truth", s.place, n1, s.replication)
            self._risks[n1] = s.source.error(fitted, held, rng, s.settings["loss"], s.settings["n_test"])
        return self._risks[n1]

    def table(self, design: Any, needs: frozenset[str], seed: int) -> PredictionTable:
        """Return the predictions of a design, made once and made again only where a method needs more of them."""
        loss = self.sample.settings["loss"]
        if loss != "auto" and find(loss, "measures").needs_score:
            needs = needs | {"scores"}
        made = self._tables.get((design, seed))
        if made is None or not needs <= made[1]:
            wanted = needs if made is None else needs | made[1]
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
            made = self._tables[design, seed] = (table, wanted)
        return made[0]

    def held_out(self, table: PredictionTable) -> float:
        """Return the true error of the one model of a single split, trained again as it was."""
        key = (table.plan.fingerprint, table.seed)
        if key not in self._held:
            part = self.sample.data.take(table.plan.splits[0].train)
            self._held[key] = self.sample.error(_fit(self.model, part, task_seed(table.seed, "fit", 0)))
        return self._held[key]

    def estimated(self, how: Mapping[str, Any]) -> Answer:
        """Return what a method says of this model."""
        method = build(how["id"], "estimators", "resubstitution", options=how["options"])
        made, seconds, table = self._once(method, how, self.sample.run_seed)
        spread = getattr(made, "mc_error", None)
        if self.sample.settings["internal"]:
            spread = self._internal(lambda seed: self._once(method, how, seed)[0].value)
        kind, n1, target = declared(made.target, self.sample.n, table, self.risk, self.held_out)
        return _answer(made, seconds, spread, None, kind, n1, target)

    def _once(self, method: Any, how: Mapping[str, Any], seed: int) -> tuple[Estimate, float, PredictionTable | None]:
        settings, data = self.sample.settings, self.sample.data
        shared = {"method": method, "loss": settings["loss"], "level": settings["level"]}
        if hasattr(method, "parts"):
            start = time.perf_counter()
            made = estimate_verb(self.text, data, random_state=seed, n_jobs=1, progress=False, **shared)
            return made, time.perf_counter() - start, None
        if not hasattr(method, "designs"):
            fitted, start = self.fitted, time.perf_counter()
            made = estimate_verb(fitted, data, random_state=seed, fitted=True, progress=False, **shared)
            return made, time.perf_counter() - start, None
        table = self.table(design_of(method, how, data), needs_of(method), seed)
        start = time.perf_counter()
        made = estimate_verb(table, **shared)
        return made, time.perf_counter() - start + float(table.seconds.sum()), table

    def _internal(self, value: Callable[[int], float]) -> float:
        """Return the standard deviation over runs on the same sample with other random numbers."""
        s = self.sample
        seeds = [trial_seed(s.run_seed, "internal", k) for k in range(s.settings["internal"])]
        values = [value(seed) for seed in seeds]
        for key in [key for key in self._tables if key[1] in seeds]:
            del self._tables[key]
        return float(np.std(values, ddof=1))

    def compared(self, other: Subject, how: Mapping[str, Any]) -> Answer:
        """Return what a test says of the difference to another model."""
        test = build(how["id"], "significance", "estimators", options=how["options"])
        data, settings, seed = self.sample.data, self.sample.settings, self.sample.run_seed
        design, needs = design_of(test, how, data, difference=True), needs_of(test)
        a, b = (one.table(design, needs, seed) for one in (self, other))
        start = time.perf_counter()
        first, second = a.losses(settings["loss"]), b.losses(settings["loss"])
        level = settings["level"]
        linear = hasattr(test, "linear")
        made = from_estimate(test, first.minus(second), level) if linear else test(first, second, level=level)
        seconds = time.perf_counter() - start + float(a.seconds.sum() + b.seconds.sum())
        kind, n1, target = declared(
            made.estimate.target,
            self.sample.n,
            a,
            lambda n1: self.risk(n1) - other.risk(n1),
            lambda table: self.held_out(a) - other.held_out(b),
        )
        p = None if made.p is None or np.isnan(made.p) else float(made.p)
        return _answer(made.estimate, seconds, None, p, kind, n1, target)


def declared(
    target: Target,
    n: int,
    table: PredictionTable | None,
    risk: Callable[[int], float],
    held_out: Callable[[Any], float],
) -> tuple[str, int, float | None]:
    """Return the kind and size of a target, and its value where that is not the model trained on all rows."""
    size = target.n_train
    if size is None and table is not None:
        size = table.plan.mean_sizes()[1]  # a test that names no size speaks of the models of its splits
    n1 = n if size is None else int(np.clip(round(size), 2, n))
    if target.kind == "model" and n1 == n:
        return "model", n, None
    if target.kind == "model" and table is not None and len(table.plan) == 1:
        return "model", n1, held_out(table)
    return "algorithm", n1, None if n1 == n else risk(n1)


def design_of(method: Any, how: Mapping[str, Any], data: Data, difference: bool = False) -> Any:
    """Return the design a cell asks for, or the method's own."""
    if "design" in how:
        return build(how["design"]["id"], "designs", options=how["design"]["options"])
    own = getattr(method, "difference_design", method.default_design) if difference else method.default_design
    return own(data)


def needs_of(method: Any) -> frozenset[str]:
    """Return which predictions a method needs."""
    return frozenset(getattr(method, "needs", frozenset({"test"})))


def _answer(
    made: Estimate, seconds: float, spread: float | None, p: float | None, kind: str, n1: int, target: float | None
) -> Answer:
    lower, upper = (None, None) if made.interval is None else (float(made.interval.low), float(made.interval.high))
    return Answer(
        value=float(made.value),
        lower=lower,
        upper=upper,
        spread=None if spread is None else float(spread),
        p_value=p,
        seconds=seconds,
        kind=kind,
        n1=n1,
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
