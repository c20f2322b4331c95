"""Plan and model in, table of predictions out."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import FitError, Stopped
from unseen.core.losses import Failure, PredictionTable
from unseen.core.model import Model
from unseen.core.plan import Plan, Split
from unseen.core.rng import task_seed
from unseen.core.training import advice_on
from unseen.engine.chunk import Outcome, Probe, Wants, outcome_of, wanted_rows
from unseen.engine.events import Bar, Reporter, Silent
from unseen.engine.joblib_ import Task, stream_outcomes
from unseen.engine.outcomes import Outcomes, join_outcomes, keep_predictions
from unseen.engine.together import Together, answer_together
from unseen.engine.where import current_client

__all__ = ["execute"]


def execute(
    model: Model,
    data: Data,
    plan: Plan,
    *,
    seed: int,
    train: bool = False,
    full: bool = False,
    scores: bool = False,
    probes: Mapping[str, Probe] | None = None,
    shortcuts: bool = True,
    n_jobs: int | None = None,
    threads: int | None = 1,
    reporter: Reporter | None = None,
    stops: Sequence[int] = (),
    on_stop: Callable[[PredictionTable], bool] | None = None,
    until: float | None = None,
) -> PredictionTable:
    """Fit `model` on every split of `plan` and keep what it predicts; splits with the same training rows share a fit.

    Parameters
    ----------
    model, data, plan : Model, Data, Plan
        What is fitted on what.
    seed : int
        Seed of the run; the seed of a fit derives from it and the number of the (first) split.
    train, full, scores : bool
        Keep predictions for training rows; add the fit on all rows; keep probabilities or decision values.
    probes : mapping of str to callable, optional
        Functions of (fitted, train, test) whose results are kept by name.
    shortcuts : bool
        Answer by algebra if it equals refitting; a probe needs the fitted models and so refits.
    n_jobs, threads : int or None
        Worker processes (as in joblib) and BLAS threads of a fit (None: leave as they are).
    reporter : Reporter, optional
        Hears about progress.
    stops : sequence of int
        Numbers of splits, such as the ends of rounds, after which what is finished is a table of its own; without `full`.
    on_stop : callable, optional
        Gets that table at each stop but the last; if it returns False, the run ends there, and that table is returned.
    until : float, optional
        Time of `time.perf_counter` at which the run ends with the splits that are finished by then, at least two.

    Raises
    ------
    Stopped
        If interrupted. Its `table` has the splits up to the last stop, before the first one those that were finished.
    """
    reporter = reporter or Silent()
    wants = Wants(train, scores, dict(probes or {}), threads, shortcuts)
    shared = {fit[0]: fit for fit in plan.fits if len(fit) > 1} if plan.shares_fits and not wants.probes else {}
    outcomes = Outcomes()
    done = begin = 0

    def table_of_first(k: int) -> PredictionTable:
        first = plan if k == len(plan) else _first_splits(plan, k)
        return _table_of(model, data, first, [outcomes[j] for j in range(k + (full and k == len(plan)))], wants, seed)

    def finished() -> int:
        return begin or next((j for j in range(len(plan)) if j not in outcomes), len(plan))

    try:
        together = None if wants.probes or not shortcuts else answer_together(model, data, plan, wants, full)
        tasks = _tasks(data, plan, seed, full, shared, None if together is None else together.refit)
        done = 0 if together is None else plan.n_fits + full - len(together.refit)
        reporter.advance(done)
        for stop in (*(stops if together is None else ()), None):  # algebra gives the whole answer at once
            piece = [t for t in tasks if begin <= t[0] and (stop is None or t[0] < stop)]
            for batch in _batches(piece, model, data, wants, n_jobs, isinstance(reporter, Bar)) if piece else ():
                for whole in batch:
                    for part in _parts(whole, plan, shared.get(whole.index, ())):
                        outcomes.add(part)
                done += len(batch)
                reporter.advance(len(batch), sum(bool(o.reason) for o in batch))
                if (
                    until is not None
                    and together is None
                    and _is_out_of_time(until, outcomes)
                    and 2 <= finished() < len(plan)
                ):
                    return table_of_first(finished())
            if stop is not None and stop < len(plan):
                begin = stop
                if on_stop is not None and not on_stop(table_of_first(stop)):
                    return table_of_first(stop)
    except KeyboardInterrupt as error:
        kept = finished()
        made = table_of_first(kept) if kept >= 2 else None
        raise Stopped(f"stopped after {done} of {plan.n_fits + full} fits of {plan.design}", made) from error
    if together is not None:
        return _table_together(model, data, plan, together, outcomes, seed)
    return table_of_first(len(plan))


def _is_out_of_time(until: float, outcomes: Mapping[int, Outcome]) -> bool:
    """Say whether a further fit, as long as those before, would end after the time that is allowed."""
    return time.perf_counter() + float(np.mean([o.seconds for o in outcomes.values()])) > until


def _first_splits(plan: Plan, k: int) -> Plan:
    """Return the plan of the first k splits; if these are whole rounds, its options say how many."""
    splits, options = plan.splits[:k], dict(plan.options)
    if "n_repeats" in options:
        options["n_repeats"] = splits[-1].repeat + 1
    return replace(plan, splits=splits, options=MappingProxyType(options))


def _tasks(
    data: Data, plan: Plan, seed: int, full: bool, shared: Mapping[int, Sequence[int]], only: frozenset[int] | None
) -> list[Task]:
    """Return one task per fit, its test rows those of all its splits in turn, numbered by the first of them; `only` these, if given.

    If nothing is shared (a probe looks at one test part), splits of one fit still get one seed, and so one model.
    """
    tasks: list[Task] = []
    for fit in plan.fits if only is None or only else ():
        if only is not None and fit[0] not in only:
            continue
        made = task_seed(seed, "fit", fit[0])
        if fit[0] in shared:
            tests = np.concatenate([plan.splits[j].test for j in fit])
            tasks.append((fit[0], replace(plan.splits[fit[0]], test=tests), made))
        else:
            tasks += [(j, plan.splits[j], made) for j in fit]
    if full and (only is None or len(plan) in only):
        tasks.append((len(plan), Split(np.arange(data.n), np.zeros(0, np.int64)), task_seed(seed, "fit", "full")))
    return tasks


def _parts(whole: Outcome, plan: Plan, splits: Sequence[int]) -> Iterator[Outcome]:
    """Yield the outcome of each split of a shared fit; its time is counted once."""
    if not splits:
        yield whole
        return
    start = 0
    for j in splits:
        stop = start + len(plan.splits[j].test)
        test = None if whole.test is None else whole.test[start:stop]
        score = None if whole.test_score is None else whole.test_score[start:stop]
        seconds = 0.0 if start else whole.seconds
        yield replace(whole, index=j, seconds=seconds, test=test, test_score=score)
        start = stop


def _batches(
    tasks: list[Task], model: Model, data: Data, wants: Wants, n_jobs: int | None, shown: bool
) -> Iterator[list[Outcome]]:
    if not tasks:
        return
    together = None if wants.probes else _fit_many(tasks, model, data, wants, shown)
    if together is not None:
        yield together
    elif (client := current_client()) is not None:
        from unseen.engine.dask_ import stream_outcomes_on

        yield from stream_outcomes_on(client, tasks, model, data, wants)
    else:
        yield from stream_outcomes(tasks, model, data, wants, n_jobs)


def _fit_many(tasks: list[Task], model: Model, data: Data, wants: Wants, shown: bool) -> list[Outcome] | None:
    """Ask the model itself to answer for all fits at once; it shows the progress of its own long training if a bar is shown."""
    own = getattr(model, "fit_many", None)
    if not callable(own):
        return None
    if shown and "progress" in inspect.signature(own).parameters:
        own = partial(own, progress=True)
    answer = own(data, [t[1] for t in tasks], [t[2] for t in tasks])
    if answer is None or (wants.scores and any(score is None for _, score in answer)):
        return None
    return [_from_all_rows(task, data, wants, *parts) for task, parts in zip(tasks, answer)]


def _from_all_rows(task: Task, data: Data, wants: Wants, values: Any, score: Any) -> Outcome:
    index, split, _ = task
    rows = wanted_rows(split, wants)
    picked = None if score is None else (score[0][rows], score[1])
    return outcome_of(index, split, data, 0.0, values[rows], rows, picked)


def _table_together(
    model: Model, data: Data, plan: Plan, together: Together, outcomes: Mapping[int, Outcome], seed: int
) -> PredictionTable:
    """Return the table of a shortcut's answer, with what had to be refitted put in its place."""
    seconds = np.zeros(len(plan) + (together.full is not None))
    for index, outcome in sorted(outcomes.items()):
        together.put(outcome, len(plan))
        seconds[index] = outcome.seconds
    lost = {f.split for f in together.failures}
    _check_some_fitted(data, together.failures, len(plan), lost & {len(plan)} != set())
    return PredictionTable(
        plan=plan,
        data=data.without_features(),
        test=keep_predictions(together.test.without(lost)),
        train=None if together.train is None else keep_predictions(together.train.without(lost)),
        full=None if together.full is None else keep_predictions(together.full.without(())),
        score_kind=together.score_kind,
        failures=together.failures,
        seconds=seconds,
        model=model.name,
        seed=seed,
    )


def _check_some_fitted(data: Data, failures: Sequence[Failure], n_splits: int, full_failed: bool) -> None:
    """Refuse a run in which every fit failed, or the one on all rows."""
    all_failed = sum(f.split < n_splits for f in failures) == n_splits
    if all_failed or full_failed:
        which = f"all {n_splits} fits failed" if all_failed else "the fit on all rows failed"
        reason = failures[0].reason
        raise FitError(f"{which}; the first says: {reason}{advice_on(data, reason)}")


def _table_of(
    model: Model, data: Data, plan: Plan, outcomes: Sequence[Outcome], wants: Wants, seed: int
) -> PredictionTable:
    fits, rest = outcomes[: len(plan)], outcomes[len(plan) :]
    failures = tuple(Failure(o.index, o.reason) for o in fits if o.reason)
    _check_some_fitted(
        data,
        (*failures, *(Failure(o.index, o.reason) for o in rest if o.reason)),
        len(fits),
        any(o.reason for o in rest),
    )
    good = [o for o in fits if not o.reason]
    test = join_outcomes(good, [plan.splits[o.index].test for o in good], "test")
    train = join_outcomes(good, [o.train_rows for o in good], "train") if wants.train else None
    full = join_outcomes(rest, [o.train_rows for o in rest], "train") if rest else None
    kind = next((o.score_kind for o in good), None)
    seconds = np.array([o.seconds for o in outcomes])
    kept = {name: [o.probes.get(name) for o in fits] for name in wants.probes}
    return PredictionTable(
        plan=plan,
        data=data.without_features(),
        test=test,
        train=train,
        full=full,
        score_kind=kind,
        failures=failures,
        seconds=seconds,
        probes=kept,
        model=model.name,
        seed=seed,
    )
