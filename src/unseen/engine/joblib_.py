"""Outcomes of many tasks, streamed: in this process while that is quicker, else by joblib."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from unseen.core.data import Data
from unseen.core.model import Model
from unseen.core.plan import Split
from unseen.engine.chunk import Outcome, Wants, run_chunk

__all__ = ["kill_workers", "stream_outcomes"]

CHUNK_SECONDS = 0.7
WORTH_STARTING_WORKERS = 2.0
SERIAL_CHUNK_SECONDS = 0.2

Task = tuple[int, Split, int]


def stream_outcomes(
    tasks: Sequence[Task], model: Model, data: Data, wants: Wants, n_jobs: int | None
) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes in any order; the numbers do not depend on `n_jobs`."""
    from joblib import effective_n_jobs

    workers = min(effective_n_jobs(n_jobs), len(tasks))
    position, size, spent, timed = 0, 1, 0.0, 0
    while position < len(tasks):
        remaining = len(tasks) - position
        if workers > 1 and timed and spent / timed * remaining > WORTH_STARTING_WORKERS:
            yield from _parallel(tasks[position:], model, data, wants, workers, n_jobs, spent / timed)
            return
        start = time.perf_counter()
        chunk = tasks[position : position + size]
        yield run_chunk(chunk, model, data, wants)
        spent, timed, position = (
            spent + time.perf_counter() - start,
            timed + len(chunk),
            position + len(chunk),
        )
        size = max(1, int(SERIAL_CHUNK_SECONDS / max(spent / timed, 1e-5)))


def _parallel(
    tasks: Sequence[Task],
    model: Model,
    data: Data,
    wants: Wants,
    workers: int,
    n_jobs: int | None,
    per_task: float,
) -> Iterator[list[Outcome]]:
    from joblib import Parallel, delayed

    size = max(1, min(int(CHUNK_SECONDS / per_task), -(-len(tasks) // (2 * workers))))
    chunks = [tasks[k : k + size] for k in range(0, len(tasks), size)]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="3*n_jobs")
    yield from pool(delayed(run_chunk)(chunk, model, data, wants) for chunk in chunks)


def kill_workers() -> None:
    """End loky's workers at once, if any were started."""
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)
