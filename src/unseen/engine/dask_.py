"""Outcomes of many tasks, streamed from a dask cluster in chunks of our own: the model travels once, and so do data that no file shares."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import FitError, InputError
from unseen.core.model import Model
from unseen.core.plan import Split
from unseen.engine.chunk import Outcome, Wants, run_chunk_in_worker
from unseen.engine.packing import PackedTask, pack_tasks
from unseen.engine.shared_data import DataByPath, DataInPieces, Piece, SharedData, share_data
from unseen.engine.where import count_workers

__all__ = ["stream_outcomes_on"]

CHUNK_SECONDS = 0.7  # dask takes 10 ms for a task: a chunk of this length hides that
COUNT_SECONDS = 1.0  # for so long the number of workers is taken to stay
IN_FLIGHT = 3  # chunks per worker: one that runs and two that wait, so that no worker is idle
LOSSES = 100  # chunks lost with their workers before the cluster is taken to be broken

Task = tuple[int, Split, int]
Broadcast = tuple[Model, Data | SharedData | DataByPath | DataInPieces, Wants]
_one_at_a_time = threading.Lock()


def as_it_is(sent: Any) -> Any:
    """Keep model, data and wishes, or a piece of the data, on the cluster; workers that need them fetch them once from each other."""
    return sent


def run_broadcast_chunk(tasks: Sequence[PackedTask], broadcast: Broadcast, pieces: Sequence[Piece]) -> list[Outcome]:
    """Run a chunk in a dask worker; threads of one worker take turns, because fits share numpy's global random state."""
    with _one_at_a_time:
        model, data, wants = broadcast
        if isinstance(data, DataInPieces):
            data = data.read(pieces)
        return run_chunk_in_worker(tasks, model, data if isinstance(data, Data) else data.read(), wants)


def stream_outcomes_on(
    client: Any, tasks: Sequence[Task], model: Model, data: Data, wants: Wants
) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes in any order; a chunk whose worker died runs again."""
    run = _Run(client, (model, share_data(data, client), wants), data.n)
    try:
        yield from run.outcomes(list(tasks))
    finally:
        run.close()


class _Run:
    """Chunks under way on one cluster."""

    def __init__(self, client: Any, broadcast: Broadcast, n_rows: int) -> None:
        self.client, self.broadcast, self.n_rows = client, broadcast, n_rows
        self.under_way: dict[Any, list[Task]] = {}
        self.suspects: list[Task] = []
        self.losses = 0
        self.per_task = 0.0
        self.sent: Any = None
        self.counted, self.counted_until = 1, 0.0

    def outcomes(self, waiting: list[Task]) -> Iterator[list[Outcome]]:
        """Keep a few chunks per worker under way until nothing waits; then run suspects alone, to see which of them kills."""
        from distributed import as_completed

        waiting.reverse()
        ready = as_completed(loop=self.client.loop)
        while waiting or self.under_way or self.suspects:
            while waiting and len(self.under_way) < IN_FLIGHT * self._workers():
                ready.add(self._submit([waiting.pop() for _ in range(self._size(len(waiting)))]))
            alone = not self.under_way
            if alone:
                ready.add(self._submit([self.suspects.pop()]))
            future = next(ready)
            batch = self._collect(future, self.under_way.pop(future), waiting, alone)
            if batch:
                yield batch

    def close(self) -> None:
        """Call back what nobody will ask for."""
        if self.under_way and self.client.status == "running":
            self.client.cancel(list(self.under_way), force=True)

    def _workers(self) -> int:
        """Return how many workers there are; the scheduler is asked once a second, as each question takes milliseconds of its time."""
        now = time.monotonic()
        if now >= self.counted_until:
            self.counted, self.counted_until = count_workers(self.client), now + COUNT_SECONDS
        return self.counted

    def _size(self, waiting: int) -> int:
        share = -(-waiting // (2 * self._workers()))
        return min(waiting, max(1, min(int(CHUNK_SECONDS / self.per_task), share))) if self.per_task else 1

    def _submit(self, chunk: list[Task]) -> Any:
        packed = pack_tasks(chunk, self.n_rows)
        future = self.client.submit(run_broadcast_chunk, packed, self._send(), self._send_pieces(), pure=False)
        self.under_way[future] = chunk
        return future

    def _send(self) -> Any:
        if self.sent is None:
            self.sent = self._keep(self.broadcast)
        return self.sent

    def _send_pieces(self) -> list[Any]:
        """Return the pieces of the data on the cluster, where they go in pieces; all runs of one call share them."""
        shared = self.broadcast[1]
        if not isinstance(shared, DataInPieces):
            return []
        shared.futures = shared.futures or [self._keep(piece) for piece in shared.pieces]
        return shared.futures

    def _keep(self, sent: Any) -> Any:
        # as a result, not as scattered data: what a dead worker held is then made again by the scheduler
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(as_it_is, sent, pure=False)

    def _forget(self) -> None:
        """Send everything again: what the cluster held may be lost."""
        self.sent = None
        if isinstance(self.broadcast[1], DataInPieces):
            self.broadcast[1].futures = []

    def _collect(self, future: Any, chunk: list[Task], waiting: list[Task], alone: bool) -> list[Outcome]:
        """Return a chunk's outcomes, or put its tasks back if they were lost through no fault of theirs."""
        from distributed import CancelledError, KilledWorker

        try:
            batch: list[Outcome] = future.result()
        except KilledWorker:
            if alone:
                return [Outcome(index=chunk[0][0], seconds=0.0, reason="it killed every worker that ran it")]
            self.suspects += chunk
            return []
        except InputError:  # what a worker was given cannot be had there: its own sentence says what to do
            raise
        except (CancelledError, TimeoutError, OSError) as error:
            self.losses += 1
            if self.losses > LOSSES:
                raise FitError(f"the cluster lost {self.losses} chunks of work; is it shutting down?") from error
            self._forget()
            waiting += reversed(chunk)
            return []
        except Exception as error:  # sending, opening or running it may raise anything; its words are passed on
            raise FitError(f"the cluster could not run a chunk: {type(error).__name__}: {error}") from error
        self.per_task = max(sum(o.seconds for o in batch) / len(batch), 1e-5)
        return batch
