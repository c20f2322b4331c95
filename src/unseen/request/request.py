"""What a call asks for, made once: model, data, seed, loss, level, workers and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from unseen.core.data import Data
from unseen.core.estimate import check_level
from unseen.core.losses import PredictionTable
from unseen.core.model import Model
from unseen.core.plan import Plan
from unseen.core.rng import RandomState, root_seed, stream
from unseen.designs.splits import design_of_cv
from unseen.engine.chunk import Probe
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.run import execute
from unseen.engine.threads import limited_threads
from unseen.engine.where import using
from unseen.request.prepare import fitted_of, measure_kind, model_of, needs_scores, plan_of

__all__ = ["Request", "open_request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What all runs of one call share.

    Parameters
    ----------
    model : Model or Fitted
        What is fitted, or the trained model that the call is about.
    data : Data
        The sample.
    seed : int
        Seed of all splits and fits.
    loss : str or measure
        Id of a loss or measure, or the measure itself; "auto" is the usual loss of the task.
    level : float
        Confidence level.
    n_jobs : int or None
        Worker processes, as in joblib.
    reporter : Reporter
        Shows progress.
    shortcuts : bool
        Answer by algebra where it equals refitting.

    Examples
    --------
    >>> import unseen
    >>> with open_request("naive-bayes", unseen.datasets.load("iris"), random_state=0) as request:
    ...     table = request.run(unseen.designs.KFold(5))
    >>> table.losses(request.loss).split_means().shape
    (5,)
    """

    model: Any
    data: Data
    seed: int
    loss: Any
    level: float
    n_jobs: int | None
    reporter: Reporter
    shortcuts: bool = True

    @property
    def needs_score(self) -> bool:
        """Whether the loss needs probabilities or decision values."""
        return needs_scores(self.loss)

    @property
    def by_split(self) -> bool:
        """Whether the measure exists for whole test parts only; methods without splits cannot give it."""
        result: bool = self.loss != "auto" and measure_kind(self.loss).kind == "set"
        return result

    def design_of(self, cv: Any) -> Any:
        """Return the design for a number of folds, a splitter or index pairs."""
        return design_of_cv(cv, self.data, stream(self.seed, "plan", "splits"))

    def run(
        self,
        design: Any,
        *,
        model: Model | None = None,
        data: Data | None = None,
        train: bool = False,
        full: bool = False,
        scores: bool | None = None,
        probes: Mapping[str, Probe] | None = None,
    ) -> PredictionTable:
        """Fit a model, by default the one asked for, on every split of a design.

        Parameters
        ----------
        design : design
            What is fitted on what.
        model, data : Model, Data, optional
            Another model or other data than those asked for.
        train, full, scores : bool
            As in `unseen.run`; scores are kept by default if the loss needs them.
        probes : mapping of str to callable, optional
            As in `unseen.run`.
        """
        data = self.data if data is None else data
        plan = plan_of(design, data, self.seed)
        self.reporter.expect(plan.n_fits + full, plan.design)
        return self.run_plan(plan, model=model, data=data, train=train, full=full, scores=scores, probes=probes)

    def run_plan(
        self,
        plan: Plan,
        *,
        model: Model | None = None,
        data: Data | None = None,
        train: bool = False,
        full: bool = False,
        scores: bool | None = None,
        probes: Mapping[str, Probe] | None = None,
        stops: Sequence[int] = (),
        on_stop: Callable[[PredictionTable], bool] | None = None,
        until: float | None = None,
    ) -> PredictionTable:
        """Do what `run` does for splits that exist already; the caller says to the reporter how many fits to expect."""
        return execute(
            model or self.model,
            self.data if data is None else data,
            plan,
            seed=self.seed,
            train=train,
            full=full,
            scores=self.needs_score if scores is None else scores,
            probes=probes,
            shortcuts=self.shortcuts,
            n_jobs=self.n_jobs,
            reporter=self.reporter,
            stops=stops,
            on_stop=on_stop,
            until=until,
        )


@contextmanager
def open_request(
    model: Any,
    data: Data,
    *,
    loss: Any = "auto",
    level: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    fitted: bool = False,
    shortcuts: bool = True,
    name: str = "",
) -> Iterator[Request]:
    """Check and prepare what a call asks for; inside the `with` block fits run on the engine, and the progress bar closes after it.

    Parameters
    ----------
    model : object with fit and predict, name of a model, or Model
        What is fitted.
    data : Data
        The sample.
    loss, level, random_state, n_jobs, engine, progress
        As in `unseen.assess`.
    fitted : bool
        The model is trained already and must not be refitted.
    shortcuts : bool
        As in `unseen.run`.
    name : str
        What the model is called in results; its short name by default.

    Examples
    --------
    >>> import unseen
    >>> with open_request("lda", unseen.datasets.load("iris"), random_state=3) as request:
    ...     request.seed, request.model.name
    (3, 'lda')
    """
    check_level(level)
    ready, seed = fitted_of(model, data) if fitted else model_of(model, data, name), root_seed(random_state)
    reporter = reporter_for(progress)
    try:
        # fits outside a plan too: the one on all rows, and those that a budget times
        with using(engine), limited_threads(1):
            yield Request(
                model=ready,
                data=data,
                seed=seed,
                loss=loss,
                level=level,
                n_jobs=n_jobs,
                reporter=reporter,
                shortcuts=shortcuts,
            )
    finally:
        reporter.close()
