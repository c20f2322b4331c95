"""Coverage of the paired interval for files whose rows come in clusters, with and without naming the clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unseen


@pytest.mark.slow
@pytest.mark.sample
def test_clustered_intervals_cover_and_plain_ones_do_not():
    rng = np.random.default_rng(0)
    runs, clusters, size, true = 600, 40, 8, 0.3
    hits = {"topic": 0, None: 0}
    for _ in range(runs):
        shared = np.repeat(rng.standard_normal(clusters), size)
        frame = pd.DataFrame({"item": range(clusters * size), "topic": np.repeat(np.arange(clusters), size)})
        base = rng.standard_normal(len(frame))
        a = frame.assign(loss=base + true + shared + rng.standard_normal(len(frame)))
        b = frame.assign(loss=base)
        for cluster in hits:
            r = unseen.predictions({"a": a, "b": b}, loss="loss", id="item", cluster=cluster)
            hits[cluster] += true in r["a", "b"].interval
    spread = np.sqrt(0.95 * 0.05 / runs)
    assert abs(hits["topic"] / runs - 0.95) < 4 * spread
    # the design effect is 1 + 7/2, so an interval that takes rows for independent is about half as wide as it should be
    assert hits[None] / runs < 0.75
