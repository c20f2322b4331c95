"""Where chunks of tasks run: in this process, in worker processes, or on a dask cluster; all with the same few calls."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from unseen.core.errors import InputError, PartialRun
from unseen.engine.threads import limited_threads, worker_count
from unseen.engine.where import client_of, count_workers, current_client, using
from unseen.store import TaskResult, TaskRow

__all__ = [
    "DaskPool",
    "FinishedChunk",
    "FuturePool",
    "InlinePool",
    "Pool",
    "ProcessPool",
    "StudyContext",
    "error_line",
    "pool_for",
    "run_rows",
]

LONGEST_WITHOUT_WORKERS = 60.0  # seconds; a scheduler of a cluster needs about this long to replace workers

Runner = Callable[[dict[str, Any], list[dict[str, Any]], list[TaskRow]], list[TaskResult]]


@dataclass(frozen=True)
class StudyContext:
    """What every chunk needs and what travels once: the runner, the spec and the cells."""

    runner: Runner
    spec: dict[str, Any]
    cells: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class FinishedChunk:
    """A chunk that came back: with results, with an error, or lost with its worker.

    A lost chunk is to blame if its own worker died; otherwise it was lost with something it needed.
    """

    rows: list[TaskRow]
    results: list[TaskResult]
    seconds: float = 0.0
    error: str = ""
    lost: bool = False
    to_blame: bool = True


class Pool(Protocol):
    """Runs chunks."""

    @property
    def workers(self) -> int:
        """How many chunks run at a time."""
        ...

    def submit(self, rows: list[TaskRow]) -> None:
        """Take a chunk."""
        ...

    def under_way(self) -> int:
        """Return how many chunks were taken and have not come back."""
        ...

    def wait(self, seconds: float) -> list[FinishedChunk]:
        """Return the chunks that are ready, after at most about `seconds`."""
        ...

    def close(self) -> None:
        """Stop at once, whatever runs."""
        ...


_one_at_a_time = threading.Lock()


def run_rows(context: StudyContext, rows: list[TaskRow]) -> tuple[list[TaskResult], float]:
    """Run a chunk with one BLAS thread and all its fits here.

    Threads of one worker take turns, because models may use numpy's global random state.
    """
    with _one_at_a_time, limited_threads(1), using("joblib"):
        start = time.perf_counter()
        return context.runner(context.spec, context.cells, rows), time.perf_counter() - start


def error_line(error: BaseException) -> str:
    """Return an error as one line."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0][:500]


class InlinePool:
    """Runs each chunk in this process, when it is waited for."""

    workers = 1

    def __init__(self, context: StudyContext) -> None:
        self.context, self.waiting = context, list[list[TaskRow]]()
        self.running = False

    def submit(self, rows: list[TaskRow]) -> None:
        """Take a chunk."""
        self.waiting.append(rows)

    def under_way(self) -> int:
        """Return how many chunks wait."""
        return len(self.waiting)

    def wait(self, seconds: float) -> list[FinishedChunk]:
        """Run the first chunk."""
        if not self.waiting:
            return []
        rows = self.waiting[0]
        self.running = True
        try:
            results, spent = run_rows(self.context, rows)
            done = FinishedChunk(rows=rows, results=results, seconds=spent)
        except Exception as error:  # a runner may raise anything; the reason is kept
            done = FinishedChunk(rows=rows, results=[], error=error_line(error))
        finally:
            self.running = False
        self.waiting.pop(0)
        return [done]

    def close(self) -> None:
        """Forget what waits."""
        self.waiting.clear()


class FuturePool:
    """Chunks as futures, whoever runs them; `_send` makes one, `_outcome` reads it when it is done."""

    workers = 1

    def __init__(self) -> None:
        self.ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.chunks: dict[Any, list[TaskRow]] = {}

    def submit(self, rows: list[TaskRow]) -> None:
        """Send a chunk off."""
        future = self._send(rows)
        self.chunks[future] = rows
        future.add_done_callback(self.ready.put)

    def under_way(self) -> int:
        """Return how many chunks are out."""
        return len(self.chunks)

    def wait(self, seconds: float) -> list[FinishedChunk]:
        """Return the chunks that are ready."""
        found: list[FinishedChunk] = []
        try:
            future = self.ready.get(timeout=seconds)
            while True:
                rows = self.chunks.pop(future, None)
                if rows is not None:
                    found.append(self._outcome(future, rows))
                future = self.ready.get_nowait()
        except queue.Empty:
            return found

    def _send(self, rows: list[TaskRow]) -> Any:
        raise NotImplementedError

    def _outcome(self, future: Any, rows: list[TaskRow]) -> FinishedChunk:
        raise NotImplementedError


class Unloadable(Exception):
    """A worker cannot load what it is to run."""


_context: Any = None


def _start_worker(packed: bytes, driver: int) -> None:
    global _context
    _context = packed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches workers too; the driver decides
    threading.Thread(target=_end_with_driver, args=(driver,), daemon=True).start()


def _end_with_driver(driver: int) -> None:
    """End this worker soon after its driver was killed; otherwise it would wait for work for ever."""
    while os.getppid() == driver:
        time.sleep(1.0)
    os._exit(1)


def _run_in_worker(rows: list[TaskRow]) -> tuple[list[TaskResult], float]:
    """Run a chunk; the first one unpickles the context, since an error here still reaches the driver."""
    global _context
    if isinstance(_context, bytes):
        try:
            _context = pickle.loads(_context)
        except Exception as error:  # opening runs imports of the user's modules
            raise Unloadable(error_line(error)) from None
    return run_rows(_context, rows)


class ProcessPool(FuturePool):
    """Runs chunks in worker processes, which are started again after one of them died."""

    def __init__(self, context: StudyContext, workers: int) -> None:
        super().__init__()
        from joblib.externals.loky.cloudpickle_wrapper import dumps

        self.workers = workers
        self.packed = dumps(context)  # spec and cells travel once, when a worker starts
        self.executor: Any = None

    def _send(self, rows: list[TaskRow]) -> Any:
        from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

        with _workers_ignore_interrupts():
            for _ in range(2):
                if self.executor is None:
                    self.executor = ProcessPoolExecutor(
                        self.workers, initializer=_start_worker, initargs=(self.packed, os.getpid())
                    )
                try:
                    return self.executor.submit(_run_in_worker, rows)
                except BrokenProcessPool:
                    self._drop()
            raise InputError("worker processes cannot be started; run with one worker (--workers 1).")

    def _outcome(self, future: Any, rows: list[TaskRow]) -> FinishedChunk:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            results, seconds = future.result()
            return FinishedChunk(rows=rows, results=results, seconds=seconds)
        except BrokenProcessPool as error:
            self._drop()
            return FinishedChunk(rows=rows, results=[], error=error_line(error), lost=True)
        except Unloadable as error:
            raise PartialRun(f"the workers cannot load what they are to run: {error}.") from error
        except Exception as error:  # a runner, or the way back, may raise anything; the reason is kept
            return FinishedChunk(rows=rows, results=[], error=error_line(error))

    def _drop(self) -> None:
        executor, self.executor = self.executor, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """Kill the workers."""
        self.chunks.clear()
        self._drop()


@contextmanager
def _workers_ignore_interrupts() -> Iterator[None]:
    """Let processes that start here inherit a mask that keeps a terminal's Ctrl-C from them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it later would lift the mask
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def share_context(context: StudyContext) -> StudyContext:
    """Return the context as it is: a task whose result stays on the cluster, where workers fetch it from each other."""
    return context


class DaskPool(FuturePool):
    """Runs chunks on a dask cluster; spec and cells are sent to its workers once."""

    def __init__(self, context: StudyContext, client: Any, opened: ExitStack) -> None:
        super().__init__()
        self.context, self.client, self.opened = context, client, opened
        self.sent: Any = None

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Return how many workers the cluster has now; they may come and go."""
        return count_workers(self.client)

    def _send(self, rows: list[TaskRow]) -> Any:
        give_up = time.monotonic() + LONGEST_WITHOUT_WORKERS
        while True:
            try:
                if self.sent is None:
                    self.client.wait_for_workers(1, timeout=LONGEST_WITHOUT_WORKERS)
                    # as a result, not as scattered data: what a dead worker held is then made again by the scheduler
                    self.sent = self.client.submit(share_context, self.context, pure=False)
                return self.client.submit(run_rows, self.sent, rows, pure=False, retries=0)
            except (TimeoutError, OSError, AttributeError) as error:
                if self.client.scheduler is None or self.client.status == "closed":  # the client gave the scheduler up
                    raise PartialRun("the dask scheduler is gone; start it and run the study again.") from error
                if isinstance(error, AttributeError):
                    raise
                if time.monotonic() > give_up:
                    raise PartialRun(
                        f"the dask cluster has had no worker for {LONGEST_WITHOUT_WORKERS:.0f} s."
                    ) from error
                time.sleep(0.2)

    def _outcome(self, future: Any, rows: list[TaskRow]) -> FinishedChunk:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            results, seconds = future.result()
            return FinishedChunk(rows=rows, results=results, seconds=seconds)
        except (KilledWorker, CancelledError, TimeoutError, OSError) as error:
            self.sent = None  # it may be lost with the worker that held it
            return FinishedChunk(
                rows=rows, results=[], error=error_line(error), lost=True, to_blame=isinstance(error, KilledWorker)
            )
        except Exception as error:  # a runner, or the way back, may raise anything; the reason is kept
            return FinishedChunk(rows=rows, results=[], error=error_line(error))

    def close(self) -> None:
        """Call back what is out, and end a cluster of our own."""
        if self.chunks and self.client.status == "running":
            self.client.cancel(list(self.chunks), force=True)
        self.chunks.clear()
        self.sent = None
        self.opened.close()


def pool_for(context: StudyContext, n_jobs: int | None, scheduler: Any) -> Pool:
    """Return the pool that was asked for; by default an active dask client, as elsewhere, or this process."""
    opened = ExitStack()
    client = opened.enter_context(client_of(scheduler, "scheduler"))
    if client is None and scheduler is None and n_jobs is None:
        client = current_client()
    if client is not None:
        return DaskPool(context, client, opened)
    workers = worker_count(n_jobs)
    return InlinePool(context) if workers == 1 else ProcessPool(context, workers)
