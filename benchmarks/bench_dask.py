"""Dask futures in our chunks: against joblib's loky with fits of 5 ms, and two workers against one with fits of 50 ms."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

import unseen
from benchmarks.bench_engine import FiveMilliseconds
from benchmarks.timing import alternating, row, same_numbers

FITS = 1000
REPEATS = 4
LONG_FITS = 120
PAIRS = 3


def _errors(X, y, design) -> np.ndarray:
    """Return the errors of splits of what always names the first class."""
    plan = unseen.run("dummy", X[:, :1], y, design=design, random_state=0).plan
    return np.array([np.mean(y[s.test] != 0) for s in plan])


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    from unseen.engine.where import client_of

    X, y = make_classification(200, 10, random_state=0)
    design = unseen.designs.MonteCarlo(0.1, FITS)

    def on(engine):
        options = {"n_jobs": 2} if engine == "joblib" else {}
        table = unseen.run(FiveMilliseconds(), X, y, design=design, random_state=0, engine=engine, **options)
        return table.losses().split_means()

    with client_of("local:2") as client:
        on(client), on("joblib")  # the first calls start the workers
        own, peer = alternating(lambda: on(client), lambda: on("joblib"), REPEATS, workers=True)
    same = same_numbers(own.result, peer.result, "errors of splits")
    return [
        row(
            f"dask, {FITS} fits of 5 ms on 2 workers",
            own,
            peer,
            against="loky, 2 workers",
            same=same.also(same_numbers(own.result, _errors(X, y, design), "errors and counts")),
            target="at most 15% over on the clock",
            met=own.wall <= 1.15 * peer.wall,
            remark=f"{own.wall / peer.wall - 1:+.1%} on the clock",
        ),
        _two_workers(),
    ]


class FiftyMilliseconds(FiveMilliseconds):
    """Keeps the processor busy for 50 ms and learns nothing."""

    def fit(self, X, y):
        for _ in range(10):
            super().fit(X, y)
        return self


def _two_workers() -> dict:
    """Return the time of fits of 50 ms on two workers, next to that on one."""
    from unseen.engine.where import client_of

    X, y = make_classification(20_000, 20, random_state=0)  # 3 MB: workers of one machine share a file of it
    design = unseen.designs.MonteCarlo(0.1, LONG_FITS)

    def on(client):
        table = unseen.run(FiftyMilliseconds(), X, y, design=design, random_state=0, engine=client, progress=False)
        return table.losses().split_means()

    with client_of("local:2") as two, client_of("local:1") as one:
        on(two), on(one)
        own, peer = alternating(lambda: on(two), lambda: on(one), PAIRS, workers=True)
    same = same_numbers(own.result, peer.result, "errors of splits")
    return row(
        f"dask, {LONG_FITS} fits of 50 ms on 2 workers",
        own,
        peer,
        against="dask, 1 worker",
        same=same.also(same_numbers(own.result, _errors(X, y, design), "errors and counts")),
        target="at least 1.8 times on the clock",
        met=peer.wall >= 1.8 * own.wall,
    )
