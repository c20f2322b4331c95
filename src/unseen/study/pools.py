"""Where chunks of tasks run: in this process, in worker processes, or on a dask cluster; all with the same few calls."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from unseen.engine.threads import limited_threads, worker_count
from unseen.engine.where import client_of, current_client, using
from unseen.store import TaskResult, TaskRow

__all__ = ["Context", "Done", "Futures", "InlinePool", "Pool", "complaint", "pool_for", "run_rows"]

Runner = Callable[[dict[str, Any], list[dict[str, Any]], list[TaskRow]], list[TaskResult]]


@dataclass(frozen=True)
class Context:
    """What every chunk needs and what travels once: the runner, the spec and the cells."""

    runner: Runner
    spec: dict[str, Any]
    cells: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Done:
    """A chunk that came back: with results, with what went wrong, or lost.

    A lost chunk is to blame where its own worker died; else it was lost with something it needed.
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

    def wait(self, seconds: float) -> list[Done]:
        """Return the chunks that are ready, after at most about `seconds`."""
        ...

    def close(self) -> None:
        """Stop at once, whatever runs."""
        ...


_one_at_a_time = threading.Lock()


def run_rows(context: Context, rows: list[TaskRow]) -> tuple[list[TaskResult], float]:
    """Run a chunk with one BLAS thread and all its fits here.

    Threads of one worker take turns, because models may use numpy's global random state.
    """
    with _one_at_a_time, limited_threads(1), using("joblib"):
        start = time.perf_counter()
        return context.runner(context.spec, context.cells, rows), time.perf_counter() - start


def complaint(error: BaseException) -> str:
    """Return an error as one line."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0][:500]


class InlinePool:
    """Runs each chunk in this process, when it is waited for."""

    workers = 1

    def __init__(self, context: Context) -> None:
        self.context, self.waiting = context, list[list[TaskRow]]()
        self.running = False

    def submit(self, rows: list[TaskRow]) -> None:
        """Take a chunk."""
        self.waiting.append(rows)

    def under_way(self) -> int:
        """Return how many chunks wait."""
        return len(self.waiting)

    def wait(self, seconds: float) -> list[Done]:
        """Run the first chunk."""
        if not self.waiting:
            return []
        rows = self.waiting[0]
        self.running = True
        try:
            results, spent = run_rows(self.context, rows)
            done = Done(rows=rows, results=results, seconds=spent)
        except Exception as error:  # a runner may raise anything; the reason is kept
            done = Done(rows=rows, results=[], error=complaint(error))
        finally:
            self.running = False
        self.waiting.pop(0)
        return [done]

    def close(self) -> None:
        """Forget what waits."""
        self.waiting.clear()


class Futures:
    """Chunks as futures, whoever runs them; `_send` makes one, `_judge` tells what became of it."""

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

    def wait(self, seconds: float) -> list[Done]:
        """Return the chunks that are ready."""
        found: list[Done] = []
        try:
            future = self.ready.get(timeout=seconds)
            while True:
                rows = self.chunks.pop(future, None)
                if rows is not None:
                    found.append(self._judge(future, rows))
                future = self.ready.get_nowait()
        except queue.Empty:
            return found

    def _send(self, rows: list[TaskRow]) -> Any:
        raise NotImplementedError

    def _judge(self, future: Any, rows: list[TaskRow]) -> Done:
        raise NotImplementedError


def pool_for(context: Context, n_jobs: int | None, scheduler: Any) -> Pool:
    """Return the pool that was asked for; where nothing was, an active dask client is used as elsewhere."""
    from unseen.study._dask_pool import DaskPool
    from unseen.study._process_pool import ProcessPool

    opened = ExitStack()
    client = opened.enter_context(client_of(scheduler, "scheduler"))
    if client is None and scheduler is None and n_jobs is None:
        client = current_client()
    if client is not None:
        return DaskPool(context, client, opened)
    workers = worker_count(n_jobs)
    return InlinePool(context) if workers == 1 else ProcessPool(context, workers)
