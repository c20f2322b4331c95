"""Areas under ROC curves: DeLong of a million scores, and a thousand bootstrap areas against scikit-learn in a loop."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.timing import cpu_seconds, row
from unseen.evaluation.measure_intervals import BootstrapIntervals
from unseen.evaluation.scored_cases import check_scored_cases
from unseen.measures.area_variance import area, delong
from unseen.measures.areas import Auc


def _million() -> list[dict]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000).astype(bool)
    score = rng.normal(y, 1.0)
    peer = cpu_seconds(lambda: roc_auc_score(y, score), 1)
    alone = cpu_seconds(lambda: area(y, score), 2)
    error = cpu_seconds(lambda: delong(y, score), 2)
    return [
        row("AUC of 1e6 scores", alone, peer, "scikit-learn", "under 2 s", alone < 2),
        row("AUC and DeLong error of 1e6 scores", error, peer, "scikit-learn (no error)", "under 2 s", error < 2),
    ]


def _bootstrap() -> dict:
    rng = np.random.default_rng(0)
    n, draws = 10_000, 1000
    y = rng.integers(0, 2, n)
    score = rng.normal(y, 1.0)
    cases = check_scored_cases(y, score, None, None, None, None, None, None)
    boot = BootstrapIntervals(cases=cases, n_draws=draws, seed=0, level=0.95)
    ours = cpu_seconds(
        lambda: boot.of_weights("auc", lambda w: Auc().of_weights(cases.y, cases.value, cases.score, w, 1), (0.0, 1.0)),
        2,
    )

    def loop() -> None:
        for _ in range(50):
            some = rng.integers(0, n, n)
            roc_auc_score(y[some], score[some])

    peer = cpu_seconds(loop, 2) * draws / 50
    remark = "the peer's time is that of 50 resamples times 20; ours includes the leave-out values and the BCa interval"
    return row(
        "1000 bootstrap AUCs, n = 10,000",
        ours,
        peer,
        "scikit-learn in a loop",
        "20 times faster",
        peer >= 20 * ours,
        remark,
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_million(), _bootstrap()]
