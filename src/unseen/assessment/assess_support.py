"""What stands beside the headline of an assessment: the other designs, and every method that can speak of the model."""

from __future__ import annotations

import logging
import time as clock
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.losses import LossTable
from unseen.core.model import Fitted, Model
from unseen.core.registry import known, options_of
from unseen.core.rng import stream, task_seed
from unseen.core.table import Predictions
from unseen.core.trained import codes_of
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.drawing import left_out_size
from unseen.designs.learning_curve import LearningCurve
from unseen.designs.leave_out import LeaveOut
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.engine.events import Reporter
from unseen.engine.run import execute
from unseen.request.effort import Effort
from unseen.request.prepare import measure_kind, needs_scores, plan_of

__all__ = ["Job", "add_support"]

LOG = logging.getLogger("unseen")


@dataclass(kw_only=True)
class Job:
    """What all runs of one assessment share."""

    model: Model
    data: Data
    seed: int
    loss: Any
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
            model or self.model,
            self.data,
            plan,
            seed=self.seed,
            scores=scores,
            n_jobs=self.n_jobs,
            reporter=self.reporter,
        )
        return table.losses(self.loss)

    def with_full(self, table: LossTable) -> LossTable:
        """Return the table with the one fit on all rows, for methods that need it."""
        return replace(table.source[0], full=self.full).losses(self.loss)

    @property
    def needs_score(self) -> bool:
        """Whether the loss is one of probabilities."""
        return needs_scores(self.loss)

    @property
    def by_split(self) -> bool:
        """Whether the measure is one of whole test parts, of which methods without splits cannot speak."""
        return self.loss != "auto" and measure_kind(self.loss).kind == "set"

    def fit_all(self) -> tuple[Fitted, float]:
        """Fit on all rows, keep what that model says of them, and return it with the seconds it took."""
        begin = clock.perf_counter()
        trained = self.model.fit(self.data, task_seed(self.seed, "fit", "full"))
        seconds = clock.perf_counter() - begin
        rows = np.arange(self.data.n)
        score = trained.scores(self.data.X) if self.needs_score else None
        values = codes_of(trained.predict(self.data.X), self.data)
        self.full = Predictions(
            split=np.zeros_like(rows), row=rows, value=values, score=None if score is None else score[0]
        )
        return trained, seconds


def _designs_beside(data: Data, effort: Effort) -> list[Any]:
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


def add_support(job: Job, effort: Effort, estimates: dict[str, Estimate], trained: Fitted | None) -> None:
    """Run what stands beside the headline, keeping each part as soon as it is done."""
    _apply_table_methods(job, estimates)
    if trained is not None and not job.by_split:
        _apply_direct_methods(job, estimates, trained)
    for design in _designs_beside(job.data, effort):
        table = job.run(design)
        job.tables[table.plan.design] = table
        _apply_table_methods(job, estimates)
    if trained is not None and not job.by_split:
        _apply_recipes(job, estimates, trained)


def _apply_table_methods(job: Job, estimates: dict[str, Estimate]) -> None:
    for name, cls in known("estimators").items():
        if name in estimates or cls.kind != "table" or cls.liberal or not cls.in_assess:
            continue
        table = next((t for t in job.tables.values() if t.plan.design in cls.designs), None)
        if table is not None:
            used = job.with_full(table) if "full" in cls.needs else table
            _try(estimates, name, lambda cls=cls, used=used: cls()(used, level=job.level))


def _apply_direct_methods(job: Job, estimates: dict[str, Estimate], trained: Fitted) -> None:
    for kind in ("resubstitution", "estimators"):
        for name, cls in known(kind).items():
            if cls.kind != "direct" or not cls.in_assess:
                continue
            if job.data.weights is not None and not cls.weighted:
                continue
            if "loss" in options_of(cls) and not isinstance(job.loss, str):
                continue  # these take a loss by its id, which says nothing of its options
            rng = stream(job.seed, "direct", name)
            options = {"loss": job.loss} if "loss" in options_of(cls) else {}
            _try(
                estimates,
                name,
                lambda cls=cls, rng=rng, options=options: cls(**options)(trained, job.data, rng=rng, level=job.level),
            )


def _apply_recipes(job: Job, estimates: dict[str, Estimate], trained: Fitted) -> None:
    """Add the recipes whose parts are all there, with the RMS to expect of them for such a model and such data."""
    for kind in ("estimators", "resubstitution"):
        for name, cls in known(kind).items():
            if cls.kind != "recipe" or (job.data.weights is not None and not cls.weighted):
                continue
            recipe = cls().suited(trained.native)
            if all(part in estimates for part in recipe.needed):
                _try(estimates, name, lambda recipe=recipe: _situated(recipe(estimates, level=job.level), job, trained))


def _situated(made: Any, job: Job, trained: Fitted) -> Estimate:
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
