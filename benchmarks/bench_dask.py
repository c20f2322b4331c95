"""Dask futures in our chunks: against joblib's loky with fits of 5 ms, and two workers against one with fits of 50 ms."""

from __future__ import annotations

import statistics
import time

from sklearn.datasets import make_classification

import unseen
from benchmarks.bench_engine import FiveMilliseconds
from benchmarks.timing import row

FITS = 1000
REPEATS = 6
LONG_FITS = 120
PAIRS = 3


def _wall(call) -> float:
    """Seconds on the clock: the work is done in other processes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run() -> list[dict]:
    from unseen.engine.where import client_of

    X, y = make_classification(200, 10, random_state=0)
    design = unseen.designs.MonteCarlo(0.1, FITS)

    def on(engine):
        options = {"n_jobs": 2} if engine == "joblib" else {}
        unseen.run(FiveMilliseconds(), X, y, design=design, random_state=0, engine=engine, **options)

    with client_of("local:2") as client:
        pairs = [(_wall(lambda: on(client)), _wall(lambda: on("joblib"))) for _ in range(REPEATS)]
    own, peer = (min(times) for times in zip(*pairs[1:]))  # the first pair starts the workers
    name, wish = f"dask, {FITS} fits of 5 ms on 2 workers", "at most 15% over"
    return [row(name, own, peer, "loky, 2 workers", wish, own <= 1.15 * peer, f"{own / peer - 1:+.1%}"), _two_workers()]


class FiftyMilliseconds(FiveMilliseconds):
    """Keeps the processor busy for 50 ms and learns nothing."""

    def fit(self, X, y):
        for _ in range(10):
            super().fit(X, y)
        return self


def _two_workers() -> dict:
    """Return the time of fits of 50 ms on two workers, next to that on one: medians of runs in turn, so that both meet the same machine."""
    from unseen.engine.where import client_of

    X, y = make_classification(20_000, 20, random_state=0)  # 3 MB: workers of one machine share a file of it
    design = unseen.designs.MonteCarlo(0.1, LONG_FITS)

    def on(client):
        unseen.run(FiftyMilliseconds(), X, y, design=design, random_state=0, engine=client, progress=False)

    with client_of("local:2") as two, client_of("local:1") as one:
        pairs = [(_wall(lambda: on(two)), _wall(lambda: on(one))) for _ in range(PAIRS + 1)][1:]
    own, peer = (statistics.median(times) for times in zip(*pairs))
    name = f"dask, {LONG_FITS} fits of 50 ms on 2 workers: wall"
    told = f"pairs {', '.join(f'{b / a:.2f}' for a, b in pairs)} times"
    return row(name, own, peer, "dask, 1 worker", "at least 1.8 times", peer >= 1.8 * own, told)
