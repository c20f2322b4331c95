"""`unseen.assess`: the whole picture of a model's error in one call."""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import comb
from typing import Any

import numpy as np

from unseen.assessment.assessment import Assessment
from unseen.assessment.estimate import with_order
from unseen.assessment.headline import Lead, choose_lead, choose_lead_of_splits, situation_of
from unseen.assessment.held_out import assess_held_out, guessed_class
from unseen.assessment.wording import brief_answer
from unseen.checks.preprocessing_outside import outside_notes
from unseen.checks.registry import data_notes, run_notes
from unseen.core.call import Call
from unseen.core.data import Data
from unseen.core.errors import InputError, Stopped
from unseen.core.estimate import Estimate, Interval
from unseen.core.losses import LossTable, Predictions, PredictionTable
from unseen.core.model import Fitted, Model
from unseen.core.notes import Note, merge_notes, note
from unseen.core.plan import Plan
from unseen.core.registry import build, classes_in, options_of
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.core.training import codes_of, fit_rows, model_errors
from unseen.core.versions import package_versions
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.drawing import distinct_possible, left_out_size
from unseen.designs.learning_curve import LearningCurve
from unseen.designs.leave_out import LeaveOut
from unseen.designs.monte_carlo import MonteCarlo
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.engine.events import LONG_RUN
from unseen.engine.threads import worker_count
from unseen.engine.where import current_client
from unseen.estimators.combined.evidence import attach_expected_rms
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.measure import measure as measure_predictions
from unseen.evaluation.scored_cases import one_round
from unseen.evaluation.slice_columns import RowsOfSlice, columns_of_data, slice_rows
from unseen.evaluation.slices import Slices, table_slices
from unseen.measures.scoring import Scoring, resolve_measure
from unseen.models.naming import full_name
from unseen.models.sklearn import as_model
from unseen.request.budget import SLACK, TimeBudget, affordable_folds, affordable_units, draw_units
from unseen.request.effort import DEFAULT_SPLITS, Effort, check_budget, check_rounds, effort_of, within_budget
from unseen.request.prepare import data_of, measure_kind, needs_scores, plan_of
from unseen.request.request import Request, open_request

__all__ = ["assess"]

LOG = logging.getLogger("unseen")
USUAL_OF_NUMBERS = ("absolute", "r2")  # what people ask of a regression besides its RMSE
TRAINING_SHOWN = ("repeated-kfold", "learning-curve")  # designs whose training errors the report shows
KERNEL_POINTS = 300_000  # predictions that the kernel methods of an assessment ask for, at most
TRIAL_UNITS = 200  # of a fit that only shows whether the model gives scores
CROSS_VALIDATED = ("repeated-kfold", "kfold")  # these test every row


def assess(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    loss: str = "auto",
    measure: Any = None,
    measures: Sequence[Any] | None = None,
    scoring: Any = None,
    cv: Any = None,
    level: float = 0.95,
    random_state: RandomState = None,
    effort: str | Mapping[str, int] | Effort = "full",
    quick: bool = False,
    target: str = "model",
    by: Any = None,
    prefit: bool = False,
    name: str = "",
    budget: float | None = None,
    rounds: int | None = None,
    shortcuts: bool = True,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    command: str | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
    missing_target: str = "drop",
) -> Assessment:
    """Assess a model: its error on new cases with an interval, and everything that supports it.

    The headline is `combined` where that came nearest to the true error on data sets that were left out (error rates of up to
    some 280 independent rows), else repeated 10-fold cross-validation with an interval that keeps the range; rows in order of time
    are predicted from earlier ones. Data, measure and model decide which, never the clock or the errors seen.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit, never changed.
    X, y : array-like
        Sample; pandas and polars frames and sparse matrices are welcome. y may be the name of a column of a frame X, and so may
        groups, sample_weight, time and ids.
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    measure : str, measure, scorer or function, optional
        Id of any measure, such as "auc", "f1" or "r2", a name of scikit-learn's such as "roc_auc" or "neg_mean_absolute_error", a
        scorer, or an object with options, such as `unseen.measures.Cost(costs)` or `unseen.measures.Quantile(0.9)`, instead of a
        loss; a score s is worked with as 1 - s, its value on all test parts together (measures of scores, such as auc: the mean
        over parts), and shown as it is. A function of (y_true, y_pred) works too: `unseen.measures.Scoring` declares its range
        and direction; without a range the interval is a bootstrap over units.
    measures : sequence of str or measure, optional
        Several of them, such as ["accuracy", "auc", "f1"], from one run: the first is the headline, the others are in `also`,
        each with the interval it would have as the headline. Nothing is fitted twice.
    scoring : str, scorer, function, list or dict of them, optional
        The same in scikit-learn's words: one is `measure`, several are `measures`.
    cv : int, scikit-learn splitter or index pairs, optional
        These splits alone, instead of the usual designs. The target follows from them: this model if they train on nearly all
        rows (ten folds), else the algorithm at their training size.
    level : float
        Confidence level of intervals.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    effort : "full", "quick", mapping or text
        Numbers of splits; see `Effort`.
    quick : bool
        The same as `effort="quick"`.
    target : {"model", "algorithm"}
        What the headline is the error of: this model, trained on all rows, or the algorithm at the training size of random splits.
    by : str, sequence of str, series, frame or mapping, optional
        Columns to slice the rows by, named or given: `slices` then has the error in each slice, from predictions of models that had
        not seen the row, with intervals that hold together. "site,sex" takes two columns, "site*sex" crosses them, "age:5" takes fifths
        of a number.
    prefit : bool
        The model is trained already, and X and y are rows it has not seen: nothing is fitted, and the target is this model.
    name : str
        What the model is called in the answer; a short name by default.
    budget : float, optional
        Seconds the call may take. Fits are timed as they come, and what there is no time for is left out or made from a part of the
        rows; the result says so, and which effort repeats it exactly.
    rounds : int, optional
        Rounds of cross-validation instead of those of the effort. A result that a budget or Ctrl-C shortened has its number of
        rounds in `rounds`.
    shortcuts : bool
        As in `unseen.run`: False refits every part, where algebra would give the same numbers.
    n_jobs : int, optional
        Worker processes, as in joblib.
    engine : None, "joblib", "dask", "local:N", address or distributed.Client
        Where the fits run; by default on the active dask client if there is one, else here. Same numbers everywhere.
    progress : bool or callable, optional
        Progress bar on stderr with the answer so far; by default if that is a terminal. A function hears every step as a
        `ProgressEvent`, the answer after each round among them.
    command : str, optional
        Command line to show in the report.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Rows with equal features stay on one side of every split: "together" all of them, "apart" none, "auto" those that chance
        does not make, if neither groups nor time are given.
    missing_target : {"drop", "error"}
        Leave rows without a target out, with a note (U043), or refuse them.

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

    >>> a = unseen.assess(GaussianNB(), X, y, measures=["accuracy", "log-loss"], random_state=0, effort="quick")
    >>> a.scale, list(a.also), a.also["log-loss"].interval is not None
    ('accuracy', ['log-loss'], True)

    >>> a = unseen.assess("logistic", X, y, scoring="f1_macro", cv=5, random_state=0)
    >>> a.scale, str(a.target)
    ('f1_macro', 'the algorithm trained on 120 rows')
    """
    call = Call.of(assess, locals())
    allowed = TimeBudget(check_budget(budget))
    if scoring is not None:
        loss, measure, measures = _in_our_words(scoring, loss, measure, measures)
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
        missing_target=missing_target,
        model=_NAMES_MATTER if prefit else model,
    )
    wanted = check_rounds(rounds, effort_of(_choose_effort(effort, quick), data.n_units))
    asked, *more = _choose_measures(loss, measure, measures, data)
    parts = () if by is None else slice_rows(columns_of_data(by, data))  # refused before anything is fitted
    question = _Question(
        measure=asked, target=target, also=tuple(more), usual=measures is None, command=command, call=call, cv=cv
    )
    if prefit:
        _refuse_refitting(cv=cv, budget=budget, rounds=rounds)
        seed = root_seed(random_state)
        made = assess_held_out(
            model,
            data,
            [asked, *more],
            usual=measures is None,
            level=level,
            seed=seed,
            name=name,
            command=command or call.text(random_state=seed),
            positive=positive,
        )
        return replace(made, slices=_slices(made, parts)) if parts else made
    with open_request(
        model,
        data,
        loss=_worked_with(asked),
        level=level,
        random_state=random_state,
        n_jobs=n_jobs,
        engine=engine,
        progress=progress,
        shortcuts=shortcuts,
        name=name,
    ) as request:
        made = _assess(request, question, wanted, allowed)
        if parts:
            made = replace(made, slices=_slices(made, parts))
        return replace(
            _by_accuracy(made) if asked == "accuracy" else made, seconds=clock.perf_counter() - allowed.start
        )


def _slices(a: Assessment, parts: Sequence[RowsOfSlice]) -> Slices:
    """Return the headline's measure in each slice, from the run that tests every row."""
    table = next((a.tables[name] for name in CROSS_VALIDATED if name in a.tables), a.tables[a.headline_design])
    level, seed = float(a.settings["level"]), int(a.settings["seed"])
    if not table.by_split:
        return table_slices(table, parts, level=level, seed=seed)
    columns = {p.column: np.full(a.data.n, None, dtype=object) for p in parts}
    for p in parts:
        columns[p.column][p.rows] = p.name
    made = measure_predictions(
        one_round(table.source[0]), measures=[table.measure], by=columns, level=level, random_state=seed
    )
    return next(iter(made.slices.values()))


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What is asked: the headline's measure and target, the other measures, whether these are the usual ones, the command and the call."""

    measure: Any
    target: str
    also: tuple[Any, ...]
    usual: bool
    command: str | None
    call: Call
    cv: Any = None


class _NamesMatter:
    """Stands for a trained model, which wants the columns it was trained on."""


_NAMES_MATTER = _NamesMatter()


def _refuse_refitting(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is about fitting, and prefit=True fits nothing; leave one of them out.")


def _choose_effort(effort: str | Mapping[str, int] | Effort, quick: bool) -> str | Mapping[str, int] | Effort:
    if quick and effort not in ("full", "quick"):
        raise InputError("quick and effort exclude each other; give one of them.")
    return "quick" if quick else effort


def _in_our_words(scoring: Any, loss: Any, measure: Any, measures: Any) -> tuple[Any, Any, Any]:
    """Return loss, measure and measures for what scikit-learn calls scoring; a dict or a list of them is several measures."""
    if measure is not None or measures is not None or loss != "auto":
        raise InputError("scoring says what is measured; leave loss, measure and measures out.")
    if isinstance(scoring, Mapping):
        return loss, None, [_rename(resolve_measure(one), str(name)) for name, one in scoring.items()]
    if isinstance(scoring, (list, tuple, set)):
        return loss, None, list(scoring)
    return loss, scoring, None


def _rename(measure: Any, name: str) -> Any:
    """Return a measure made from a function under the name that the user gave it."""
    return (
        replace(measure, name=name, range=measure.range if measure.bounded else None)
        if isinstance(measure, Scoring)
        else measure
    )


def _choose_measures(loss: str, measure: Any, measures: Sequence[Any] | None, data: Data) -> list[Any]:
    """Return the measures of a call, the headline's first; with squared errors of numbers come MAE and R2."""
    if measures is None:
        asked = resolve_measure(loss if measure is None else measure)
        usual = data.task == "regression" and asked in ("auto", "squared")
        return [asked, *(USUAL_OF_NUMBERS if usual else ())]
    if measure is not None or loss != "auto":
        raise InputError("measures name all that is asked for; leave loss and measure out.")
    if isinstance(measures, str) or not measures:
        raise InputError(f"measures is {measures!r}; give a list such as ['accuracy', 'auc'], or one as measure=.")
    # refused before anything is fitted
    found = [resolve_measure(one) for one in measures]
    names = [_name_of(one) for one in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"measures name {', '.join(twice)} more than once.")
    return found


def _name_of(measure: Any) -> str:
    return measure if isinstance(measure, str) else str(getattr(measure, "id", measure))


def _worked_with(measure: Any) -> Any:
    """Return the loss that a measure is worked with: accuracy is 1 less the error rate, whose best estimate it shares."""
    return "zero-one" if measure == "accuracy" else measure


def _as_accuracy(e: Estimate) -> Estimate:
    """Return an estimate of the error rate as what it is of accuracy."""
    return replace(e, loss="1 - accuracy")


def _by_accuracy(a: Assessment) -> Assessment:
    """Return an assessment by the error rate as one by accuracy."""
    made = {name: _as_accuracy(e) for name, e in a.estimates.items()}
    slices = None if a.slices is None else a.slices.complement("accuracy")
    return replace(
        a, headline=_as_accuracy(a.headline), estimates=made, baseline=_as_accuracy(a.baseline), slices=slices
    )


@dataclass
class _Runs:
    """The tables of one assessment by design id, with and without the fit on all rows; estimates of either are made from them."""

    request: Request
    scores: bool = False
    full: Predictions | None = None
    train: bool = False
    tables: dict[str, LossTable] = field(default_factory=dict)
    with_full: dict[str, LossTable] = field(default_factory=dict)

    def add(self, design: Any) -> LossTable:
        """Run a design and derive its losses, those of the fit on all rows among them."""
        # curves of scores come from the folds, which test every row; a learning curve shows training errors too
        scores = self.request.needs_score or (self.scores and design.id == RepeatedKFold.id)
        table = self.request.run(design, scores=scores, train=self.train and design.id in TRAINING_SHOWN)
        return self.derive(replace(table, full=self.full))

    def add_first(
        self, plan: Plan, budget: TimeBudget, on_round: Callable[[LossTable], bool]
    ) -> tuple[LossTable, Stopped | None]:
        """Run the first plan round by round; an interrupt leaves what was finished, if that is enough for an estimate."""
        request = self.request
        request.reporter.expect(plan.n_fits, plan.design)
        folds = plan.design == RepeatedKFold.id
        stops = [j for j in range(1, len(plan)) if folds and plan.splits[j].repeat > plan.splits[j - 1].repeat]
        if worker_count(request.n_jobs) > 1 or current_client() is not None:
            stops = stops[:1]  # the rounds after the first fill the workers better together
        stop = None
        try:
            table = request.run_plan(
                plan,
                scores=request.needs_score or self.scores,
                train=self.train,
                stops=stops,
                on_stop=lambda made: on_round(made.losses(request.loss)),
                until=budget.until,
            )
        except Stopped as error:
            if error.table is None:
                raise
            table, stop = error.table, error
        return self.derive(replace(table, full=self.full)), stop

    def derive(self, table: PredictionTable) -> LossTable:
        """Add the losses of a run."""
        losses = table.losses(self.request.loss)
        name = table.plan.design
        self.with_full[name], self.tables[name] = losses, losses.without_full()
        return self.tables[name]

    def by(self, loss: Any, *, first: bool = False) -> _Runs:
        """Return the same runs by another loss, or only the first of them, without the fit on all rows."""
        other = _Runs(request=replace(self.request, loss=loss), full=self.full)
        for table in list(self.tables.values())[:1] if first else self.with_full.values():
            other.derive(table.source[0])
        return other


def _assess(request: Request, question: _Question, effort: Effort, budget: TimeBudget) -> Assessment:
    given = None if question.cv is None else request.design_of(question.cv)
    notes: list[Note] = []
    seconds = 0.0
    if given is None:
        request, effort, notes, seconds = _within_rows(request, effort, budget)
        lead = choose_lead(request.model, request.data, request.loss, question.target)
    else:
        lead = choose_lead_of_splits(plan_of(given, request.data, request.seed), question.target)
        request, effort = with_order(request, given), Effort(repeats=0, bootstrap=0, leave_out=0, curve=0, direct=0)
    data, asked = request.data, effort
    _check_possible(data, effort)
    notes += data_notes(data)
    runs, trained = _Runs(request, scores=any(needs_scores(m) for m in question.also)), None
    workers = worker_count(request.n_jobs)
    fits = 1 + effort.folds / workers
    if budget.allows(fits * seconds) and (lead.method == "combined" or effort.fits > effort.first_fits):
        trained, seconds = _fit_on_all_rows(request)
        runs.scores = runs.scores or _has_scores(trained, data)
        if effort.direct and not budget.allows(fits * seconds + _direct_seconds(trained, data, budget)):
            effort = replace(effort, direct=0)
        if effort.direct:
            runs.full, runs.train = _predict_all_rows(request, trained), True
        if budget.seconds is None and (expected := seconds * effort.fits / workers) > LONG_RUN:
            request.reporter.say(
                f"about {expected / 60:.0f} min expected ({effort.fits} fits of {seconds:.2g} s); --quick or a budget shortens it"
            )
    elif budget.seconds is None and data.classes is not None and len(data.classes) == 2 and not runs.scores:
        some = draw_units(data, min(data.n_units, TRIAL_UNITS), request.seed)
        runs.scores = _has_scores(fit_rows(request.model, some, task_seed(request.seed, "fit", "trial")), some)
    if budget.seconds is not None and given is None:
        effort = replace(effort, folds=min(effort.folds, affordable_folds(seconds, budget, workers, data.n_units)))
        effort = effort if trained is not None else replace(effort, direct=0)
    method = _first_method(lead, effort) if given is None else build(lead.method, "estimators")
    design = _first_design(method, data, effort) if given is None else given

    def on_round(made: LossTable) -> bool:
        nonlocal effort
        done = made.plan.splits[-1].repeat + 1
        if done == 1 and budget.seconds is not None:
            effort = _what_is_left(effort, made, budget, workers, data.n_units)
        _tell_answer(request, _by(method, made, request.level), f"{done} of {effort.repeats} rounds")
        return done < effort.repeats

    plan = plan_of(design, data, request.seed)
    table, stop = runs.add_first(plan, budget, on_round)
    if not question.usual:  # refused before the long part of the run
        for one in question.also:
            _by(method, runs.by(_worked_with(one), first=True).tables[table.plan.design], request.level)
    headline = _by(method, table, request.level)
    effort = _tell_first(request, headline, table, effort)
    baseline = _baseline(request, table.plan, method)
    estimates = {headline.method: headline}
    _add_table_methods(runs, estimates)
    try:
        if stop is None:
            effort = _add_support(runs, effort, estimates, trained, budget, lead)
    except KeyboardInterrupt as interrupt:
        stop = interrupt if isinstance(interrupt, Stopped) else Stopped("stopped")
    if stop is not None:
        effort = _done_of(effort, runs)
        rounds = f" ({_rounds_in_words(table)})" if table.plan.design == RepeatedKFold.id else ""
        notes.append(note("U018", f"{stop}; finished before that: {', '.join(runs.tables)}{rounds}"))
    elif budget.seconds is not None:
        notes.append(_budget_note(budget, asked, effort, table))
    notes += run_notes(table, data)
    if stop is None and budget.allows(table.seconds):
        notes += _preprocessing_notes(request, table, method)
    settings = _settings(runs, effort, lead, table.plan.design, question)
    if trained is not None:
        estimates = attach_expected_rms(estimates, trained.native, data)
    # interrupted before, or the parts of the recipe cannot be made for such a model: the first run's estimate leads
    headline = _leading(estimates, lead.method) or estimates[headline.method]
    also: dict[str, Estimate] = {}
    for one in question.also:
        try:
            also[_name_of(one)] = _headline_by(runs, one, question.target, method, trained)
        except InputError as error:
            if not question.usual:
                raise
            LOG.info("%s is left out: %s", one, error)
    return Assessment(
        headline=headline,
        estimates=estimates,
        baseline=baseline,
        tables=runs.tables,
        data=data,
        model=request.model.name,
        settings=settings,
        notes=merge_notes(tuple(notes), headline.notes),
        also=also,
    )


def _within_rows(request: Request, effort: Effort, budget: TimeBudget) -> tuple[Request, Effort, list[Note], float]:
    """Return the request on the rows that the effort names or the budget allows, a note if these are not all, and the seconds of a fit.

    Without a budget nothing is timed.
    """
    n, seconds = request.data.n_units, 0.0
    notes: list[Note] = []
    if budget.seconds is not None and not effort.rows:
        allowed = affordable_units(request, budget)
        seconds = allowed.seconds
        if allowed.units < n:
            effort = replace(Effort.full(allowed.units), rows=allowed.units)
            why = (
                f"one fit on all {n:,} should take {allowed.of_all:.2g} s, too much of a budget of {budget.seconds:g} s"
            )
            text = f"made from {allowed.units:,} of {n:,} {request.data.unit}s drawn at random: {why}; trained on all, the model may be better"
            notes.append(note("U053", text))
    if effort.rows >= n:
        effort = replace(effort, rows=0)
    if effort.rows:
        request = replace(request, data=draw_units(request.data, effort.rows, request.seed))
    return request, effort, notes, seconds


def _what_is_left(effort: Effort, made: LossTable, budget: TimeBudget, workers: int, n_units: int) -> Effort:
    """Return the effort that the rest of the budget allows, after the first round of folds was timed."""
    each = made.seconds / len(made.plan)
    total = budget.left() / SLACK + each * len(made.plan) / workers
    allowed = asdict(within_budget(each, total, workers, n_units, effort.folds))
    parts = ("repeats", "bootstrap", "leave_out", "curve")
    return replace(effort, **{name: min(allowed[name], getattr(effort, name)) for name in parts})


def _tell_answer(request: Request, found: Estimate, after: str) -> None:
    """Tell the answer so far, if whoever shows progress can hear it."""
    tell = getattr(request.reporter, "answer", None)
    if tell is not None:
        tell(f"{brief_answer(found)} after {after}", found)


def _tell_first(request: Request, headline: Estimate, table: LossTable, effort: Effort) -> Effort:
    """Tell the answer of the first run, and return the effort with the rounds that it really had."""
    if table.plan.design != RepeatedKFold.id:
        _tell_answer(request, headline, "the first run")
        return effort
    _tell_answer(request, headline, _rounds_in_words(table))
    return replace(effort, repeats=table.plan.splits[-1].repeat + 1)


def _rounds_in_words(table: LossTable) -> str:
    last = table.plan.splits[-1]
    folds = int(table.plan.options.get("n_folds", last.fold + 1))
    rounds = last.repeat + 1
    return f"{rounds} round{'s'[: rounds > 1]}" if last.fold + 1 == folds else f"{last.fold + 1} of {folds} folds"


def _done_of(effort: Effort, runs: _Runs) -> Effort:
    """Return the effort without the parts that an interrupt prevented."""
    parts = {"bootstrap": "bootstrap", "leave_out": "leave-out", "curve": "learning-curve"}
    missing = [name for name, design in parts.items() if design not in runs.tables]
    return replace(effort, **dict.fromkeys(missing, 0))


def _budget_note(budget: TimeBudget, asked: Effort, effort: Effort, table: LossTable) -> Note:
    """Return the note on a budget: what was done, what was left out, and how to repeat it."""
    full = asdict(replace(asked, splits=0))
    less = [name for name, count in asdict(effort).items() if name not in ("rows", "splits") and count < full[name]]
    left = f"left out or cut: {', '.join(less)}" if less else "nothing was left out"
    last = table.plan.splits[-1]
    if table.plan.design == RepeatedKFold.id and last.fold + 1 < effort.folds:
        left = f"time ended after {_rounds_in_words(table)}; {left}"
    return note("U019", f"{budget.seconds:g} s allow effort {effort}; {left}; that effort repeats the run exactly")


def _baseline(request: Request, plan: Plan, method: Any) -> Estimate:
    """Return the error of guessing on the same splits; guessing looks at no feature."""
    data = request.data
    blank = replace(data, X=np.zeros((data.n, 1)), names=("none",), sample_shape=())
    request.reporter.expect(plan.n_fits, "guessing")
    made = request.run_plan(plan, model=_baseline_model(data, request.loss), data=blank)
    return _with_honest_interval(_by(method, made.losses(request.loss), request.level), data)


def _by(method: Any, table: LossTable, level: float) -> Estimate:
    """Return the method's estimate; a measure of unknown range gets an interval by resampled units instead."""
    if method.id == "range-t" and not getattr(table.measure, "bounded", True):
        method = build("unit-bootstrap", "estimators")
    made: Estimate = method(table, level=level)
    return made


def _leading(estimates: Mapping[str, Estimate], method: str) -> Estimate | None:
    """Return the estimate of a method if it is there with an interval."""
    found = estimates.get(method)
    return found if found is not None and found.interval is not None else None


def _headline_by(runs: _Runs, measure: Any, target: str, method: Any, trained: Fitted | None) -> Estimate:
    """Return what would be the headline if another measure led, from the fits that there are."""
    loss = _worked_with(measure)
    lead = choose_lead(runs.request.model, runs.request.data, loss, target)
    recipe = lead.method == "combined" and trained is not None
    other = runs.by(loss, first=not recipe)
    request = other.request
    made = _by(method, next(iter(other.tables.values())), request.level)
    if recipe and trained is not None:
        estimates = {made.method: made}
        _add_table_methods(other, estimates)
        _add_direct_methods(request, estimates, trained)
        _add_recipes(request, estimates, trained)
        made = _leading(estimates, lead.method) or made
    return _as_accuracy(made) if measure == "accuracy" else made


def _with_honest_interval(guess: Estimate, data: Data) -> Estimate:
    """Return the baseline with an interval that counts units: that over stratified folds sees almost no spread.

    Wilson's for the share of a class among independent rows; other measures of classes get none.
    """
    if data.classes is None:
        return guess
    if guess.loss != "zero-one" or data.groups is not None or data.weights is not None or guess.interval is None:
        return replace(guess, interval=None, std_error=None)
    level = guess.interval.level
    low, high = wilson_interval(guess.value, data.n, level)
    return replace(guess, interval=Interval(low, high, level), std_error=None, df=None)


def _has_scores(trained: Fitted, data: Data) -> bool:
    """Say whether a classifier of two classes gives scores; one whose scores cannot be had is assessed without them."""
    if data.classes is None or len(data.classes) != 2:
        return False
    try:
        return trained.scores(data.take(np.arange(min(data.n, 2))).X) is not None
    except Exception:  # a model's own scoring code may raise anything; without scores the curves are left out
        return False


def _fit_on_all_rows(request: Request) -> tuple[Fitted, float]:
    """Return the model fitted on all rows, and the seconds that took."""
    begin = clock.perf_counter()
    trained = fit_rows(request.model, request.data, task_seed(request.seed, "fit", "full"))
    return trained, clock.perf_counter() - begin


def _predict_all_rows(request: Request, trained: Fitted) -> Predictions:
    """Return what the model fitted on all rows predicts for them."""
    data = request.data
    rows = np.arange(data.n)
    with model_errors(f"the model fitted on all {data.n:,} rows could not predict them"):
        score = trained.scores(data.X) if request.needs_score else None
        values = codes_of(trained.predict(data.X), data)
    return Predictions(split=np.zeros_like(rows), row=rows, value=values, score=None if score is None else score[0])


def _preprocessing_notes(request: Request, table: LossTable, method: Any) -> tuple[Note, ...]:
    """Look for preprocessing fitted on all rows; if it can be moved inside, see on the same splits what that changes."""
    estimator = getattr(request.model, "estimator", None)
    if estimator is None:
        return ()

    def rerun(moved: Any) -> LossTable:
        request.reporter.expect(len(table.plan), table.plan.design)
        return request.run_plan(table.plan, model=as_model(moved)).losses(request.loss)

    on_differences = method if method.linear else build("corrected-t", "estimators")
    return outside_notes(estimator, request.data, table, rerun, on_differences, request.level)


def _first_method(lead: Lead, effort: Effort) -> Any:
    """Return the method of the first run: the headline's, or what stands in for a recipe until its parts are there."""
    if lead.method in ("time-ordered", "corrected-t"):
        return build(lead.method, "estimators")
    return build("range-t" if effort.repeats else "corrected-t", "estimators")


def _first_design(method: Any, data: Data, effort: Effort) -> Any:
    if method.id == "time-ordered":
        return method.default_design(data)
    if method.id == "corrected-t":
        return MonteCarlo(0.1, effort.splits or DEFAULT_SPLITS)
    return RepeatedKFold(min(effort.folds, data.n_units), effort.repeats)


def _baseline_model(data: Data, loss: Any) -> Model:
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if data.task == "regression":
        return as_model(DummyRegressor())
    if (
        needs_scores(loss) and measure_kind(loss).kind == "loss"
    ):  # of probabilities: each class its frequency, not one all
        return as_model(DummyClassifier(strategy="prior"))
    guessed = guessed_class(data, loss)
    return as_model(DummyClassifier(strategy="constant", constant=[guessed]))  # a list: a lone bool is refused


def _check_possible(data: Data, effort: Effort) -> None:
    """Refuse more distinct splits than there are; the usual number is cut to what a small sample has."""
    if data.order is None and effort.leave_out > Effort().leave_out:
        distinct_possible(data.n_units, left_out_size("leave-out", 0.25, data.n_units), effort.leave_out)


def _settings(runs: _Runs, effort: Effort, lead: Lead, headline_design: str, question: _Question) -> dict[str, Any]:
    request = runs.request
    # the effort that was made, whatever the clock or an interrupt left of the one asked for
    made = {"effort": str(effort) if question.cv is None else None, "quick": None, "rounds": None, "budget": None}
    return {
        "seed": request.seed,
        "level": request.level,
        "effort": asdict(effort),
        "headline_design": headline_design,
        "lead": {"method": lead.method, "reason": lead.reason},
        "estimator": full_name(getattr(request.model, "estimator", request.model)),
        "designs": {name: dict(table.plan.options) for name, table in runs.tables.items()},
        "data_fingerprint": request.data.fingerprint,
        "versions": package_versions(),
        "repeat": question.command or question.call.text(random_state=request.seed, **made),
    }


def _designs_beside(data: Data, effort: Effort, first: str) -> dict[str, Any]:
    """Return the designs beside the first one by their part of the effort; the bootstrap, which the best estimate needs, comes soon."""
    n = data.n_units
    designs: dict[str, Any] = {}
    if data.order is not None:
        return designs
    if effort.repeats and first != "repeated-kfold":
        designs["repeats"] = RepeatedKFold(min(effort.folds, n), effort.repeats)
    if effort.splits and first != "monte-carlo":
        designs["splits"] = MonteCarlo(0.1, effort.splits)
    if effort.bootstrap:
        designs["bootstrap"] = Bootstrap(effort.bootstrap)
    if effort.leave_out:
        designs["leave_out"] = LeaveOut(0.25, min(effort.leave_out, comb(n, left_out_size("leave-out", 0.25, n))))
    if effort.curve:
        designs["curve"] = LearningCurve(5, effort.curve)
    return designs


def _add_support(
    runs: _Runs, effort: Effort, estimates: dict[str, Estimate], trained: Fitted | None, budget: TimeBudget, lead: Lead
) -> Effort:
    """Run what supports the headline, each part added as soon as it is done; return the effort that was made.

    Only a budget leaves out a part that the effort names.
    """
    request, first = runs.request, next(iter(runs.tables.values()))
    each = first.seconds / len(first.plan) / worker_count(request.n_jobs)
    direct = trained if effort.direct and not request.by_split else None
    if direct is not None:
        _add_direct_methods(request, estimates, direct)
    for name, design in _designs_beside(request.data, effort, first.plan.design).items():
        fits = 5 * effort.curve if name == "curve" else getattr(effort, name)
        if not budget.allows(each * fits):
            effort = replace(effort, **{name: 0})
            continue
        runs.add(design)
        _add_table_methods(runs, estimates)
        if direct is not None:
            _add_recipes(request, estimates, direct)
            if name == "bootstrap" and lead.method in estimates:
                _tell_answer(request, estimates[lead.method], "folds and bootstrap")
    return effort


def _direct_seconds(trained: Fitted, data: Data, budget: TimeBudget) -> float:
    """Return how long methods without retraining may take: most of it goes into predictions at points drawn from kernels."""
    if budget.seconds is None:
        return 0.0
    begin = clock.perf_counter()
    trained.predict(data.X)
    return (clock.perf_counter() - begin) / data.n * KERNEL_POINTS


def _add_table_methods(runs: _Runs, estimates: dict[str, Estimate]) -> None:
    for name, cls in classes_in("estimators").items():
        if name in estimates or cls.kind != "table" or cls.liberal or not cls.in_assess:
            continue
        tables = runs.with_full if "full" in cls.needs else runs.tables
        table = next((t for t in tables.values() if t.plan.design in cls.designs), None)
        if table is not None:
            _add(estimates, name, partial(cls(), table, level=runs.request.level))


def _add_direct_methods(request: Request, estimates: dict[str, Estimate], trained: Fitted) -> None:
    data = request.data
    for kind in ("resubstitution", "estimators"):
        for name, cls in classes_in(kind).items():
            if cls.kind != "direct" or not cls.in_assess:
                continue
            if data.weights is not None and not cls.weighted:
                continue
            if "loss" in options_of(cls) and not isinstance(request.loss, str):
                continue  # these take a loss by its id, which leaves out the options of a measure
            method = cls(**({"loss": request.loss} if "loss" in options_of(cls) else {}))
            rng = stream(request.seed, "direct", name)
            _add(estimates, name, partial(method, trained, data, rng=rng, level=request.level))


def _add_recipes(request: Request, estimates: dict[str, Estimate], trained: Fitted) -> None:
    """Add the recipes whose parts are all there."""
    for kind in ("estimators", "resubstitution"):
        for name, cls in classes_in(kind).items():
            if name in estimates or cls.kind != "recipe" or (request.data.weights is not None and not cls.weighted):
                continue
            recipe = cls().for_model(trained.native)
            if all(part in estimates for part in recipe.needed):
                situation = situation_of(request.model, request.data)
                _add(estimates, name, partial(recipe, estimates, level=request.level, situation=situation))


def _add(estimates: dict[str, Estimate], name: str, make: Callable[[], Estimate]) -> None:
    """Add an estimate, unless its method does not apply to this model, table or loss."""
    try:
        made = make()
    except InputError as error:
        LOG.info("%s is left out: %s", name, error)
        return
    headline = next(iter(estimates.values()))
    if made.loss == headline.loss:
        estimates[name] = made
