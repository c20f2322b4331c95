"""Areas under ROC curves: DeLong of a million scores, and a thousand bootstrap areas against scikit-learn in a loop."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.timing import alternating, largest_difference, row, time_of, within_noise
from unseen.evaluation.measure_intervals import BootstrapIntervals
from unseen.evaluation.scored_cases import check_scored_cases
from unseen.measures.area_variance import area, delong
from unseen.measures.areas import Auc


def _delong_error(y: np.ndarray, score: np.ndarray) -> float:
    """Return DeLong's standard error from the share of cases of the other class on either side of each case."""
    high, low = np.sort(score[y]), np.sort(score[~y])
    below, above = (
        (np.searchsorted(among, of) + np.searchsorted(among, of, side="right")) / (2 * len(among))
        for of, among in ((high, low), (low, high))
    )
    return float(np.sqrt(below.var(ddof=1) / len(high) + above.var(ddof=1) / len(low)))


def _million() -> list[dict]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000).astype(bool)
    score = rng.normal(y, 1.0)
    alone, peer = alternating(lambda: area(y, score), lambda: roc_auc_score(y, score), 2)
    with_error = time_of(lambda: delong(y, score), 2)
    areas, covariance = with_error.result
    same = largest_difference([alone.result], [peer.result], 1e-12, "area")
    both = largest_difference(areas, [peer.result], 1e-12, "area").also(
        largest_difference(np.sqrt(covariance[0]), [_delong_error(y, score)], 1e-12, "error by counting")
    )
    return [
        row(
            "AUC of 1e6 scores",
            alone,
            peer,
            against="scikit-learn",
            same=same,
            target="under 2 s",
            met=alone.cpu < 2,
        ),
        row(
            "AUC and DeLong error of 1e6 scores",
            with_error,
            peer,
            against="scikit-learn (no error)",
            same=both,
            target="under 2 s",
            met=with_error.cpu < 2,
        ),
    ]


def _bootstrap() -> dict:
    rng = np.random.default_rng(0)
    n, draws = 10_000, 1000
    y = rng.integers(0, 2, n)
    score = rng.normal(y, 1.0)
    cases = check_scored_cases(y, score, None, None, None, None, None, None)
    boot = BootstrapIntervals(cases=cases, n_draws=draws, seed=0, level=0.95)

    def ours():
        return boot.of_weights("auc", lambda w: Auc().of_weights(cases.y, cases.value, cases.score, w, 1), (0.0, 1.0))

    def loop() -> np.ndarray:
        rows = (rng.integers(0, n, n) for _ in range(50))
        return np.array([roc_auc_score(y[some], score[some]) for some in rows])

    own, peer = alternating(ours, loop, 2)
    peer = peer.times(draws / 50)
    spread = float(peer.result.std(ddof=1))
    error = spread * np.sqrt(1 / (2 * 49) + 1 / (2 * (draws - 1)))
    return row(
        "1000 bootstrap AUCs, n = 10,000",
        own,
        peer,
        against="scikit-learn in a loop",
        same=within_noise(own.result.std_error, spread, error, "bootstrap standard error"),
        target="20 times faster",
        met=peer.cpu >= 20 * own.cpu,
        remark="the peer's time is that of 50 resamples times 20; ours has the leave-out values and the BCa interval too",
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_million(), _bootstrap()]
