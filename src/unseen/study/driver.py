"""Drives a study: claims tasks, runs them, stores what they gave, until nothing is missing or something says stop."""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any

from unseen.core.errors import InputError, PartialRun, Paused, UnseenError
from unseen.engine.events import Reporter, Silent
from unseen.store import Progress, SqlStore, TaskResult, TaskRow
from unseen.store.records import LONGEST_LEASE
from unseen.study.lease import TaskLease
from unseen.study.pools import FinishedChunk, Pool, StudyContext, pool_for

__all__ = ["drive"]

LOG = logging.getLogger("unseen")

CHUNK_SECONDS = 1.0  # sending a chunk costs milliseconds, and a killed worker loses at most this much work
LARGEST_CHUNK = 1000  # one result message of a chunk stays below a megabyte
LARGEST_CLAIM = 5000  # one transaction of the store stays short, so that other drivers do not wait
CHUNKS_AHEAD = 2  # per worker: one runs, one waits, so that no worker idles
PATIENCE = 120.0  # a database server restarts within two minutes
GRACE_SECONDS = 3.0  # chunks take about a second, so most of them end in time after a cancellation
MOST_LOSSES = 20  # workers that die this often in a row, without a result between, will not recover

DIED = "the worker died while it ran this task (killed, or out of memory)"


def drive(
    store: SqlStore,
    name: str,
    *,
    n_jobs: int | None = None,
    scheduler: Any = None,
    reporter: Reporter | None = None,
    chunk: int | None = None,
    lease_seconds: float = 60.0,
    stop_after: float | None = None,
    patience: float = PATIENCE,
    runner: Callable[..., list[TaskResult]] | None = None,
) -> Progress:
    """Run what is missing of a study and return how far it came.

    Any number of drivers, on any number of machines, may drive the same study at once: each claims tasks of its own. Numbers do
    not depend on workers, chunks, order or restarts. Memory does not grow with the number of tasks.

    Parameters
    ----------
    store, name : SqlStore, str
        Where the study is, and what it is called.
    n_jobs : int, optional
        Worker processes, as in joblib; None uses the dask client that is active, if any, and else runs in this process.
    scheduler : str or distributed.Client, optional
        Runs on dask instead: "local:4" starts four local workers, "tcp://host:8786" uses a running cluster.
    reporter : Reporter, optional
        Hears about progress.
    chunk : int, optional
        Tasks per chunk; by default about one second of work.
    lease_seconds : float
        How long after its last heartbeat a driver counts as dead, and its tasks go to others.
    stop_after : float, optional
        Wall-clock seconds after which no more tasks are started; what is missing stays resumable.
    patience : float
        Seconds to wait for a store that is locked or does not answer.
    runner : callable, optional
        Runs a chunk: (spec, cells, rows) to results; by default that of studies.

    Returns
    -------
    Progress
        Its state is "done"; or "partial" if tasks failed or `stop_after` came first; or "cancelled".

    Raises
    ------
    Paused
        On Ctrl-C or SIGTERM, after tasks under way were given back; the message says what is kept.
    PartialRun
        When the store fails for longer than `patience`, has no room, or workers cannot live; the study is resumable.

    Examples
    --------
    >>> from unseen.store import TaskResult, TaskRow, open_store
    >>> store = open_store("sqlite:///example.db")
    >>> store.add_study("mine", "study", {"seed": 1}, [{"n": 20}], [TaskRow(f"t{k}", 0, k, k) for k in range(5)])
    >>> def runner(spec, cells, rows):
    ...     return [TaskResult(row.id, estimate=0.1 * row.replication, seconds=0.01) for row in rows]
    >>> progress = drive(store, "mine", runner=runner)
    >>> progress.state, progress.done
    ('done', 5)
    >>> store.close()
    """
    if not 0 < lease_seconds <= LONGEST_LEASE:
        raise InputError(
            f"lease_seconds is {lease_seconds}; a lease lasts more than 0 and at most {LONGEST_LEASE:.0f} seconds."
        )
    if chunk is not None and chunk < 1:
        raise InputError(f"chunk is {chunk}; a chunk has at least 1 task.")
    if runner is None:
        from unseen.study.task import run_group

        runner = run_group
    before = store.progress(name)
    if before.state == "cancelled":
        raise InputError(f"the study {name!r} was cancelled; `unseen study resume` lifts that.")
    if before.missing == 0:
        return before
    reporter = reporter or Silent()
    reporter.expect(before.missing, name)
    try:
        pool = pool_for(StudyContext(runner, store.spec(name), store.cells(name)), n_jobs, scheduler)
    except KeyboardInterrupt as error:  # a cluster may take long to start
        raise Paused(f"stopped before anything ran; {before.done} of {before.total} tasks are kept") from error
    deadline = math.inf if stop_after is None else time.monotonic() + stop_after
    after = _Drive(TaskLease(store, name, reporter, lease_seconds, patience), pool, chunk, deadline).run()
    reporter.advance(after.failed - before.failed, after.failed - before.failed)
    return after


class _Drive:
    """One driver at work: a lease on tasks of the study and a pool that runs them."""

    def __init__(self, lease: TaskLease, pool: Pool, chunk: int | None, deadline: float) -> None:
        self.lease, self.pool, self.chunk, self.deadline = lease, pool, chunk, deadline
        self.suspects: list[list[TaskRow]] = []
        self.suspect: list[TaskRow] | None = None
        self.task_seconds = 0.0
        self.losses_in_a_row = 0
        self.reported_claims = 0
        self.stopping = lease.stopping

    def run(self) -> Progress:
        """Work until the end, and leave the study resumable whatever happens."""
        with self._signals():
            self.lease.open()
            try:
                self._work()
                if self.stopping.is_set():
                    raise KeyboardInterrupt
                self.pool.close()
                self.lease.close()
                return self.lease.progress()
            except KeyboardInterrupt as error:
                self.pool.close()
                raise Paused(self.lease.leave("stopped")) from error
            except UnseenError as error:
                self.pool.close()
                raise PartialRun(f"{error} {self.lease.leave('The study stopped')}.") from error
            except BaseException:  # a fault of this package: workers end, the lease is given back, the error goes on
                self.pool.close()
                with suppress(UnseenError):
                    self.lease.close()
                raise

    def _work(self) -> None:
        while not self._must_stop():
            self._fill()
            if self.pool.under_way():
                self._collect(0.5)
            elif not self._wait_for_other_drivers():
                return
        self._finish_chunks_under_way()

    def _must_stop(self) -> bool:
        """Return whether a signal, a cancellation or the time limit says stop."""
        return self.stopping.is_set() or self.lease.cancelled.is_set() or time.monotonic() > self.deadline

    def _finish_chunks_under_way(self) -> None:
        """Give chunks under way a moment to end; no new ones start."""
        end = time.monotonic() + (GRACE_SECONDS if self.lease.cancelled.is_set() else math.inf)
        while self.pool.under_way() and not self.stopping.is_set() and time.monotonic() < end:
            self._collect(0.2)
        if self.pool.workers > 1:
            self._collect(0.0)

    def _fill(self) -> None:
        """Keep every worker busy; suspects run alone, so that a death shows which of them caused it."""
        if self.suspects:
            if not self.pool.under_way():
                self.suspect = self.suspects.pop()
                self.pool.submit(self.suspect)
            return
        room = 1 if self.pool.workers == 1 else CHUNKS_AHEAD * self.pool.workers
        while self.pool.under_way() < room and not self._must_stop():
            claimed = self.lease.buffer or self.lease.claim(self._claim_size())
            if not claimed:
                return
            rows = self._next_chunk()
            self.lease.running |= {row.id: row for row in rows}
            self.pool.submit(rows)

    def _size(self) -> int:
        if self.chunk is not None:
            return self.chunk
        return max(1, min(LARGEST_CHUNK, int(CHUNK_SECONDS / self.task_seconds))) if self.task_seconds else 1

    def _claim_size(self) -> int:
        return min(LARGEST_CLAIM, CHUNKS_AHEAD * self.pool.workers * self._size())

    def _next_chunk(self) -> list[TaskRow]:
        """Take whole groups from the buffer until the chunk has its size."""
        buffer = self.lease.buffer
        size, rows = self._size(), [buffer.popleft()]
        while buffer and (len(rows) < size or (self.chunk is None and buffer[0].group == rows[-1].group)):
            rows.append(buffer.popleft())
        return rows

    def _wait_for_other_drivers(self) -> bool:
        """Return whether other drivers hold tasks; if so wait a little, in case one of them dies and its tasks become free."""
        now = self.lease.progress()
        if now.state == "cancelled" or now.missing == 0:
            return False
        if now.claimed and now.claimed != self.reported_claims:
            self.reported_claims = now.claimed
            self.lease.reporter.say(f"waiting for {now.claimed} tasks of other drivers")
        self.stopping.wait(min(1.0, self.lease.lease_seconds / 4))
        return True

    def _collect(self, seconds: float) -> None:
        for chunk in self.pool.wait(seconds):
            if chunk.lost:
                self._retry(chunk)
                continue
            self._finish(_complete(chunk))
            self.losses_in_a_row = 0
            if chunk.results:
                spent = max(chunk.seconds / len(chunk.rows), 1e-6)
                self.task_seconds = spent if not self.task_seconds else 0.5 * (self.task_seconds + spent)

    def _finish(self, results: list[TaskResult]) -> None:
        self.lease.reporter.advance(self.lease.finish(results))
        why = [r.reason for r in results if r.reason]
        if why:
            LOG.info("%d of %d tasks of a chunk failed; the first says: %s", len(why), len(results), why[0])

    def _retry(self, chunk: FinishedChunk) -> None:
        """Run a chunk whose worker died again, by itself; if the worker dies again run its halves; a single task has failed."""
        self.losses_in_a_row += 1
        if self.losses_in_a_row > MOST_LOSSES + CHUNKS_AHEAD * self.pool.workers:
            raise PartialRun(f"workers died {self.losses_in_a_row} times in a row; the last time: {chunk.error}.")
        LOG.warning("a worker died: %s", chunk.error)
        if chunk.rows is not self.suspect or not chunk.to_blame:
            self.suspects.append(chunk.rows)
        elif len(chunk.rows) == 1:
            self._finish([TaskResult(chunk.rows[0].id, reason=DIED)])
        else:
            self.suspects += _halves(chunk.rows)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn Ctrl-C and SIGTERM into an orderly stop; a second one stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_signal(number: int, frame: Any) -> None:
            again = self.stopping.is_set()
            self.stopping.set()
            if again or getattr(self.pool, "running", False):
                raise KeyboardInterrupt

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _complete(chunk: FinishedChunk) -> list[TaskResult]:
    """Return a result for every task of the chunk; one the runner left out has failed."""
    found = {r.task: r for r in chunk.results}
    why = chunk.error or "the runner returned no result for this task"
    return [found.get(row.id) or TaskResult(row.id, reason=why) for row in chunk.rows]


def _halves(rows: list[TaskRow]) -> list[list[TaskRow]]:
    """Cut a chunk in two, between groups if it has several."""
    groups = [list(tasks) for _, tasks in groupby(rows, key=lambda row: row.group)]
    parts: list[list[TaskRow]] = groups if len(groups) > 1 else [[row] for row in rows]
    middle = (len(parts) + 1) // 2
    halves = (parts[:middle], parts[middle:])
    return [[row for part in half for row in part] for half in halves if half]
