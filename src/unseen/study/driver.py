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
from unseen.study.lease import Share
from unseen.study.pools import Context, Done, Pool, pool_for

__all__ = ["drive"]

LOG = logging.getLogger("unseen")

CHUNK_SECONDS = 1.0
LARGEST_CHUNK = 1000
LARGEST_CLAIM = 5000
AHEAD = 2  # chunks per worker that are out at a time
PATIENCE = 120.0
GRACE = 3.0
FRUITLESS = 20

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
        Its state is "done"; or "partial" where tasks failed or `stop_after` came first; or "cancelled".

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
    if lease_seconds <= 0:
        raise InputError(f"lease_seconds is {lease_seconds}; a lease lasts longer than 0 seconds.")
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
        pool = pool_for(Context(runner, store.spec(name), store.cells(name)), n_jobs, scheduler)
    except KeyboardInterrupt as error:  # a cluster may take long to start
        raise Paused(f"stopped before anything ran; {before.done} of {before.total} tasks are kept") from error
    deadline = math.inf if stop_after is None else time.monotonic() + stop_after
    after = _Drive(Share(store, name, reporter, lease_seconds, patience), pool, chunk, deadline).run()
    reporter.advance(after.failed - before.failed, after.failed - before.failed)
    return after


class _Drive:
    """One driver at work: a share of the study, a pool to run it, and what the two have told so far."""

    def __init__(self, share: Share, pool: Pool, chunk: int | None, deadline: float) -> None:
        self.share, self.pool, self.chunk, self.deadline = share, pool, chunk, deadline
        self.suspects: list[list[TaskRow]] = []
        self.on_trial: list[TaskRow] | None = None
        self.per_task = 0.0
        self.fruitless = 0
        self.waited_for = 0
        self.signalled = share.hurry

    def run(self) -> Progress:
        """Work until the end, and leave the study resumable whatever happens."""
        with self._signals():
            self.share.open()
            try:
                self._work()
                if self.signalled.is_set():
                    raise KeyboardInterrupt
                self.pool.close()
                self.share.close()
                return self.share.progress()
            except KeyboardInterrupt as error:
                self.pool.close()
                raise Paused(self.share.leave("stopped")) from error
            except UnseenError as error:
                self.pool.close()
                raise PartialRun(f"{error} {self.share.leave('The study stopped')}.") from error
            except BaseException:  # a fault of this package: workers end, the lease is given back, the error goes on
                self.pool.close()
                with suppress(UnseenError):
                    self.share.close()
                raise

    def _work(self) -> None:
        while not self._told_to_stop():
            self._fill()
            if self.pool.under_way():
                self._collect(0.5)
            elif not self._waits_for_others():
                return
        self._wind_down()

    def _told_to_stop(self) -> bool:
        return self.signalled.is_set() or self.share.cancelled.is_set() or time.monotonic() > self.deadline

    def _wind_down(self) -> None:
        """Give chunks under way a moment to end; no new ones start."""
        end = time.monotonic() + (GRACE if self.share.cancelled.is_set() else math.inf)
        while self.pool.under_way() and not self.signalled.is_set() and time.monotonic() < end:
            self._collect(0.2)
        if self.pool.workers > 1:
            self._collect(0.0)

    def _fill(self) -> None:
        """Keep every worker busy; suspects run alone, so that a death tells who caused it."""
        if self.suspects:
            if not self.pool.under_way():
                self.on_trial = self.suspects.pop()
                self.pool.submit(self.on_trial)
            return
        room = 1 if self.pool.workers == 1 else AHEAD * self.pool.workers
        while self.pool.under_way() < room and not self._told_to_stop():
            claimed = self.share.buffer or self.share.claim(self._claim_size())
            if not claimed:
                return
            rows = self._next_chunk()
            self.share.out |= {row.id: row for row in rows}
            self.pool.submit(rows)

    def _size(self) -> int:
        if self.chunk is not None:
            return self.chunk
        return max(1, min(LARGEST_CHUNK, int(CHUNK_SECONDS / self.per_task))) if self.per_task else 1

    def _claim_size(self) -> int:
        return min(LARGEST_CLAIM, AHEAD * self.pool.workers * self._size())

    def _next_chunk(self) -> list[TaskRow]:
        """Take whole groups from the buffer until the chunk has its size."""
        buffer = self.share.buffer
        size, rows = self._size(), [buffer.popleft()]
        while buffer and (len(rows) < size or (self.chunk is None and buffer[0].group == rows[-1].group)):
            rows.append(buffer.popleft())
        return rows

    def _waits_for_others(self) -> bool:
        """Tell whether tasks are in other hands; then wait a little, in case those hands drop them."""
        now = self.share.progress()
        if now.state == "cancelled" or now.missing == 0:
            return False
        if now.claimed and now.claimed != self.waited_for:
            self.waited_for = now.claimed
            self.share.reporter.say(f"waiting for {now.claimed} tasks of other drivers")
        self.signalled.wait(min(1.0, self.share.lease / 4))
        return True

    def _collect(self, seconds: float) -> None:
        for done in self.pool.wait(seconds):
            if done.lost:
                self._retry(done)
                continue
            self._finish(_complete(done))
            self.fruitless = 0
            if done.results:
                spent = max(done.seconds / len(done.rows), 1e-6)
                self.per_task = spent if not self.per_task else 0.5 * (self.per_task + spent)

    def _finish(self, results: list[TaskResult]) -> None:
        self.share.reporter.advance(self.share.finish(results))
        why = [r.reason for r in results if r.reason]
        if why:
            LOG.info("%d of %d tasks of a chunk failed; the first says: %s", len(why), len(results), why[0])

    def _retry(self, done: Done) -> None:
        """Run a chunk whose worker died alone; if it dies again run its halves; one task alone has failed by itself."""
        self.fruitless += 1
        if self.fruitless > FRUITLESS + AHEAD * self.pool.workers:
            raise PartialRun(f"workers died {self.fruitless} times in a row; the last time: {done.error}.")
        LOG.warning("a worker died: %s", done.error)
        if done.rows is not self.on_trial or not done.to_blame:
            self.suspects.append(done.rows)
        elif len(done.rows) == 1:
            self._finish([TaskResult(done.rows[0].id, reason=DIED)])
        else:
            self.suspects += _halves(done.rows)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn Ctrl-C and SIGTERM into an orderly stop; a second one stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_signal(number: int, frame: Any) -> None:
            again = self.signalled.is_set()
            self.signalled.set()
            if again or getattr(self.pool, "running", False):
                raise KeyboardInterrupt

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _complete(done: Done) -> list[TaskResult]:
    """Return a result for every task of the chunk; one the runner left out has failed."""
    found = {r.task: r for r in done.results}
    why = done.error or "the runner returned no result for this task"
    return [found.get(row.id) or TaskResult(row.id, reason=why) for row in done.rows]


def _halves(rows: list[TaskRow]) -> list[list[TaskRow]]:
    """Cut a chunk in two, between groups where it has several."""
    groups = [list(tasks) for _, tasks in groupby(rows, key=lambda row: row.group)]
    parts: list[list[TaskRow]] = groups if len(groups) > 1 else [[row] for row in rows]
    middle = (len(parts) + 1) // 2
    halves = (parts[:middle], parts[middle:])
    return [[row for part in half for row in part] for half in halves if half]
