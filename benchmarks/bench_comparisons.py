"""Comparisons and intervals against mlxtend and confidenceinterval: the same work, in less time."""

from __future__ import annotations

from itertools import combinations, cycle
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import alternating, row, same_numbers, same_value, time_of, within_noise

RESAMPLES = 2000
TREE = DecisionTreeClassifier(random_state=0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def given_halves(splits) -> Any:
    """Let mlxtend draw these splits, one after the other and again from the first, instead of its own."""
    turn = cycle(splits)

    def halves(X, y, **_):
        s = next(turn)
        return X[s.train], X[s.test], y[s.train], y[s.test]

    return patch("mlxtend.evaluate.ttest.train_test_split", halves)


def _five_by_two(X: np.ndarray, y: np.ndarray) -> dict:
    from mlxtend.evaluate import paired_ttest_5x2cv

    own, peer = alternating(
        lambda: unseen.compare(TREE, LOGISTIC, X, y, test="5x2cv", random_state=0),
        lambda: paired_ttest_5x2cv(TREE, LOGISTIC, X, y, random_seed=0),
    )
    plan = unseen.run(TREE, X, y, design="5x2cv", random_state=0).plan
    with given_halves([s for s in plan if s.fold == 0]):
        t, _ = paired_ttest_5x2cv(TREE, LOGISTIC, X, y)
    remark = (
        "ours stratifies, keeps every prediction, and adds the interval, both models' errors and the corrected winner"
    )
    return row(
        "5x2cv t, tree against logistic, breast-cancer",
        own,
        peer,
        against="mlxtend",
        same=same_value("t on our halves", own.result.pairs[0].statistic, abs(t)),
        target="at most 1.3 times",
        met=own.cpu <= 1.3 * peer.cpu,
        remark=f"{remark}; t on mlxtend's own halves {abs(peer.result[0]):.2f}",
    )


def _all_pairs(X: np.ndarray, y: np.ndarray) -> dict:
    from mlxtend.evaluate import paired_ttest_resampled

    models = {
        "tree": TREE,
        "depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
        "bayes": GaussianNB(),
        "depth 2": DecisionTreeClassifier(max_depth=2, random_state=0),
        "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    }

    def peer_pairs(**options) -> list[float]:
        return [
            paired_ttest_resampled(a, b, X, y, num_rounds=25, test_size=0.3, **options)[0]
            for a, b in combinations(models.values(), 2)
        ]

    own, peer = alternating(
        lambda: unseen.compare(models, X, y, test="corrected-t", random_state=0), lambda: peer_pairs(random_seed=0), 2
    )
    plan = list(unseen.run(TREE, X, y, design=unseen.designs.MonteCarlo(0.3, 25), random_state=0).plan)
    with given_halves(plan):
        plain = np.array(peer_pairs())
    n_test, n_train, rounds = len(plan[0].test), len(plan[0].train), len(plan)
    corrected = np.abs(plain) * np.sqrt((1 / rounds) / (1 / rounds + n_test / n_train))
    remark = "each model is fitted once per split, not once per split and pair; and the peer's test has no correction"
    return row(
        "all 10 pairs of 5 models, 25 splits",
        own,
        peer,
        against="mlxtend",
        same=same_numbers(
            [abs(pair.statistic) for pair in own.result.pairs], corrected, "t on our splits, mlxtend's corrected,"
        ),
        target="at least 2 times less",
        met=peer.cpu >= 2 * own.cpu,
        remark=remark,
    )


def _end_error(area: float, end: float) -> float:
    """Return the Monte-Carlo error of the difference of two BCa ends, each of so many resamples of its own.

    An end is a quantile of the resamples, and its level moves with the share of resamples below the area.
    """
    tail, z = 0.025, norm.isf(0.025)
    quantile = np.sqrt(tail * (1 - tail) / RESAMPLES) / norm.pdf(z)
    level = 2 * np.sqrt(0.25 / RESAMPLES) / norm.pdf(0)
    return abs(area - end) / z * np.hypot(quantile, level) * np.sqrt(2)


def _bca_area(X: np.ndarray, y: np.ndarray) -> dict:
    from confidenceinterval import roc_auc_score

    table = unseen.run(GaussianNB(), X, y, design=unseen.designs.Holdout(0.9), random_state=0, scores=True)
    truth, score = table.data.target[table.test.row], table.test.score[:, 1]
    own = time_of(lambda: unseen.estimate(table, method="bca", measure="auc", n_bootstrap=RESAMPLES), 3)
    peer = time_of(lambda: roc_auc_score(truth, score, method="bootstrap_bca", n_resamples=RESAMPLES), 1)
    (area, ends), found = peer.result, own.result
    same = same_value("AUC", found.value, area)
    for name, a, b in (("low end", found.interval.low, ends[0]), ("high end", found.interval.high, ends[1])):
        same = same.also(within_noise(a, b, _end_error(area, b), name))
    return row(
        "BCa interval of AUC, n = 512, 2,000 resamples",
        own,
        peer,
        against="confidenceinterval",
        same=same,
        target="at least 20 times less",
        met=peer.cpu >= 20 * own.cpu,
        remark="scores are sorted once and resamples are weights; the peer calls scikit-learn for each resample",
    )


def run() -> list[dict]:
    """Return one row per comparison."""
    X, y = load_breast_cancer(return_X_y=True)
    return [_five_by_two(X, y), _all_pairs(X, y), _bca_area(X, y)]
