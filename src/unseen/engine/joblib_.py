"""Outcomes of many tasks, streamed: in this process while that is quicker, else by joblib."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import FitError
from unseen.core.model import Model
from unseen.core.plan import Split
from unseen.engine.chunk import Outcome, Wants, run_chunk, run_chunk_in_worker
from unseen.engine.packing import pack_tasks
from unseen.engine.threads import limited_threads, worker_count

__all__ = ["stream_outcomes"]

CHUNK_SECONDS = 0.7  # long enough that sending a chunk costs nothing beside it, short enough to show progress
WORTH_STARTING_WORKERS = 2.0  # seconds of work left; starting processes takes about as long
KILLED = "it ended the process that ran it"  # a crash of compiled code, os._exit, or the system short of memory
MOST_KILLERS = 20  # each costs new workers; so many are no accident of one split
SERIAL_CHUNK_SECONDS = 0.2  # how often a run in this process shows progress and sees an interrupt

Task = tuple[int, Split, int]


def stream_outcomes(
    tasks: Sequence[Task], model: Model, data: Data, wants: Wants, n_jobs: int | None
) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes in any order; the numbers do not depend on `n_jobs`."""
    workers = min(worker_count(n_jobs), len(tasks))
    position, per_task = 0, 0.0
    with limited_threads(wants.threads):
        while position < len(tasks):
            if workers > 1 and per_task * (len(tasks) - position) > WORTH_STARTING_WORKERS:
                break
            size = max(1, int(SERIAL_CHUNK_SECONDS / per_task)) if per_task else 1
            start = time.perf_counter()
            chunk = tasks[position : position + size]
            yield run_chunk(chunk, model, data, wants)
            per_task, position = max((time.perf_counter() - start) / len(chunk), 1e-5), position + len(chunk)
    if position < len(tasks):
        yield from _parallel(tasks[position:], model, data, wants, workers, n_jobs, per_task)


def _parallel(
    tasks: Sequence[Task], model: Model, data: Data, wants: Wants, workers: int, n_jobs: int | None, per_task: float
) -> Iterator[list[Outcome]]:
    """Yield outcomes from worker processes; if one dies, what it may have been running runs again alone, to see which fit kills."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    waiting, killers = list(tasks), 0
    with _quiet_tracker(), killing_workers_on_interrupt() as pressed:
        while waiting:
            size = max(1, min(int(CHUNK_SECONDS / per_task), -(-len(waiting) // (2 * workers))))
            chunks = [waiting[k : k + size] for k in range(0, len(waiting), size)]
            sent: list[Task] = []
            done: set[int] = set()
            try:
                for batch in _stream_chunks(chunks, model, data, wants, n_jobs, sent):
                    done |= {outcome.index for outcome in batch}
                    yield batch
            except BrokenProcessPool:
                if pressed.is_set() or not sent:
                    raise
            suspects = [task for task in sent if task[0] not in done]
            waiting = waiting[len(sent) :]
            for task in suspects:
                batch = _run_alone(task, model, data, wants, pressed)
                killers += any(outcome.reason == KILLED for outcome in batch)
                if killers > MOST_KILLERS:
                    raise FitError(f"{killers} fits ended the process that ran them; try one with n_jobs=1 to see why.")
                yield batch


def _stream_chunks(
    chunks: list[list[Task]], model: Model, data: Data, wants: Wants, n_jobs: int | None, sent: list[Task]
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of chunks from worker processes, and note in `sent` which tasks went out."""
    from joblib import Parallel, delayed

    def calls() -> Iterator[Any]:
        for chunk in chunks:
            sent.extend(chunk)
            yield delayed(run_chunk_in_worker)(pack_tasks(chunk, data.n), model, data, wants)

    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="3*n_jobs")
    outcomes: Any = iter(())
    try:
        with _defer_interrupts():
            outcomes = pool(calls())
        yield from outcomes
    except BaseException:  # Ctrl-C and a closed generator too: workers are let go and the error goes on
        _close_quietly(outcomes)
        raise


def _run_alone(task: Task, model: Model, data: Data, wants: Wants, pressed: threading.Event) -> list[Outcome]:
    """Run one task in a worker of its own; two deaths in a row are the task's, one may be an accident."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    for _ in range(2):
        try:
            return next(iter(_stream_chunks([[task]], model, data, wants, 2, [])))
        except BrokenProcessPool:
            if pressed.is_set():
                raise
    return [Outcome(index=task[0], seconds=0.0, reason=KILLED)]


def _close_quietly(outcomes: Any) -> None:
    """End joblib's generator without its remark on results that nobody will ask for."""
    if hasattr(outcomes, "close"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()


@contextmanager
def _defer_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they inherit the mask, so a terminal's signal leaves them to the driver."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it later would lift the mask
    pressed = threading.Event()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # the mask is this thread's alone: another one may still receive the signal, which must not be lost
    handler = signal.signal(signal.SIGINT, lambda number, frame: pressed.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if pressed.is_set():
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _quiet_tracker() -> Iterator[None]:
    """Keep loky's tracker process from warning about semaphores of workers that were killed on purpose."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def killing_workers_on_interrupt() -> Iterator[threading.Event]:
    """While it lasts, Ctrl-C sets the event it yields and kills loky's workers; the pool notices, cleans up after itself, and the run is interrupted.

    Raising inside joblib instead would leave its manager thread half way through its queue.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def on_interrupt(number: int, frame: Any) -> None:
        pressed.set()
        if not _kill_loky_workers():
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, on_interrupt)
    hook, threading.excepthook = threading.excepthook, _unless_manager(threading.excepthook)
    try:
        yield pressed
    except Exception:  # killed workers surface as one of several kinds; after Ctrl-C all mean the interrupt
        if pressed.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        if pressed.is_set():
            _await_manager()
        threading.excepthook = hook
        signal.signal(signal.SIGINT, previous)


def _unless_manager(hook: Any) -> Any:
    """Return a thread hook that keeps quiet about loky's manager thread, which trips over its own queue when workers die."""

    def report(args: Any) -> None:
        if getattr(args.thread, "name", "") != "ExecutorManagerThread":
            hook(args)

    return report


def _await_manager() -> None:
    for thread in threading.enumerate():
        if thread.name == "ExecutorManagerThread":
            thread.join(5.0)


def _kill_loky_workers() -> bool:
    """End the worker processes at once; say whether there were any."""
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor
    processes = list((getattr(executor, "_processes", None) or {}).values())
    for process in processes:
        process.kill()
    return bool(processes)
