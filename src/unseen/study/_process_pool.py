"""Chunks of tasks in worker processes of this machine."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unseen.core.errors import InputError, PartialRun
from unseen.store import TaskResult, TaskRow
from unseen.study._pools import Context, Done, Futures, complaint, run_rows

__all__ = ["ProcessPool"]


class Unloadable(Exception):
    """A worker cannot load what it is to run."""


_context: Any = None


def _start_worker(packed: bytes, driver: int) -> None:
    global _context
    _context = packed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches workers too; the driver decides
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def _end_with(driver: int) -> None:
    """End this worker soon after its driver was killed; it would wait for work for ever."""
    while os.getppid() == driver:
        time.sleep(1.0)
    os._exit(1)


def _run_in_worker(rows: list[TaskRow]) -> tuple[list[TaskResult], float]:
    """Run a chunk; the context is opened at the first one, where an error can still be told."""
    global _context
    if isinstance(_context, bytes):
        try:
            _context = pickle.loads(_context)
        except Exception as error:  # opening runs imports of the user's modules
            raise Unloadable(complaint(error)) from None
    return run_rows(_context, rows)


class ProcessPool(Futures):
    """Runs chunks in worker processes, which are started again after one of them died."""

    def __init__(self, context: Context, workers: int) -> None:
        super().__init__()
        from joblib.externals.loky.cloudpickle_wrapper import dumps

        self.workers = workers
        self.packed = dumps(context)  # spec and cells travel once, when a worker starts
        self.executor: Any = None

    def _send(self, rows: list[TaskRow]) -> Any:
        from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

        with _signals_kept_from_workers():
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

    def _judge(self, future: Any, rows: list[TaskRow]) -> Done:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            results, seconds = future.result()
            return Done(rows=rows, results=results, seconds=seconds)
        except BrokenProcessPool as error:
            self._drop()
            return Done(rows=rows, results=[], error=complaint(error), lost=True)
        except Unloadable as error:
            raise PartialRun(f"the workers cannot load what they are to run: {error}.") from error
        except Exception as error:  # a runner, or the way back, may raise anything; the reason is kept
            return Done(rows=rows, results=[], error=complaint(error))

    def _drop(self) -> None:
        executor, self.executor = self.executor, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """Kill the workers."""
        self.chunks.clear()
        self._drop()


@contextmanager
def _signals_kept_from_workers() -> Iterator[None]:
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
