"""Dask futures in our chunks against joblib's loky, two workers each, fits of 5 ms."""

from __future__ import annotations

import time

from sklearn.datasets import make_classification

import unseen
from benchmarks.bench_engine import FiveMilliseconds
from benchmarks.timing import row

FITS = 1000
REPEATS = 6


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
    return [row(name, own, peer, "loky, 2 workers", wish, own <= 1.15 * peer, f"{own / peer - 1:+.1%}")]
