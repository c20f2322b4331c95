"""Chunks of tasks on a dask cluster."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from unseen.core.errors import PartialRun
from unseen.store import TaskRow
from unseen.study._pools import Context, Done, Futures, complaint, run_rows

__all__ = ["DaskPool"]

WORKERS_AWAY = 60.0


def as_it_is(context: Context) -> Context:
    """Keep spec and cells on the cluster; workers that need them fetch them once from each other."""
    return context


class DaskPool(Futures):
    """Runs chunks on a dask cluster; spec and cells are sent to its workers once."""

    def __init__(self, context: Context, client: Any, opened: ExitStack) -> None:
        super().__init__()
        self.context, self.client, self.opened = context, client, opened
        self.sent: Any = None

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Return how many workers the cluster has now; they may come and go."""
        return max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    def _send(self, rows: list[TaskRow]) -> Any:
        give_up = time.monotonic() + WORKERS_AWAY
        while True:
            try:
                if self.sent is None:
                    self.client.wait_for_workers(1, timeout=WORKERS_AWAY)
                    # as a result, not as scattered data: what a dead worker held is then made again by the scheduler
                    self.sent = self.client.submit(as_it_is, self.context, pure=False)
                return self.client.submit(run_rows, self.sent, rows, pure=False, retries=0)
            except (TimeoutError, OSError) as error:
                if time.monotonic() > give_up:
                    raise PartialRun(f"the dask cluster has had no worker for {WORKERS_AWAY:.0f} s.") from error
                time.sleep(0.2)

    def _judge(self, future: Any, rows: list[TaskRow]) -> Done:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            results, seconds = future.result()
            return Done(rows=rows, results=results, seconds=seconds)
        except (KilledWorker, CancelledError, TimeoutError, OSError) as error:
            self.sent = None  # it may be lost with the worker that held it
            return Done(
                rows=rows, results=[], error=complaint(error), lost=True, to_blame=isinstance(error, KilledWorker)
            )
        except Exception as error:  # a runner, or the way back, may raise anything; the reason is kept
            return Done(rows=rows, results=[], error=complaint(error))

    def close(self) -> None:
        """Call back what is out, and end a cluster of our own."""
        if self.chunks:
            self.client.cancel(list(self.chunks), force=True)
            self.chunks.clear()
        self.sent = None
        self.opened.close()
