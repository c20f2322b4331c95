"""Comparisons and intervals against mlxtend and confidenceinterval: the same work, in less time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import alternating, cpu_seconds, row

TREE = DecisionTreeClassifier(random_state=0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _five_by_two(X: np.ndarray, y: np.ndarray) -> dict:
    from mlxtend.evaluate import paired_ttest_5x2cv

    own, peer = alternating(
        lambda: unseen.compare(TREE, LOGISTIC, X, y, test="5x2cv", random_state=0),
        lambda: paired_ttest_5x2cv(TREE, LOGISTIC, X, y, random_seed=0),
    )
    remark = (
        "ours stratifies, keeps every prediction, and adds the interval, both models' errors and the corrected winner"
    )
    return row(
        "5x2cv t, tree against logistic, breast-cancer",
        own,
        peer,
        "mlxtend",
        "at most 1.3 times",
        own <= 1.3 * peer,
        remark,
    )


def _all_pairs(X: np.ndarray, y: np.ndarray) -> dict:
    from mlxtend.evaluate import paired_ttest_resampled

    models = {
        "tree": TREE,
        "depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
        "bayes": GaussianNB(),
        "depth 2": DecisionTreeClassifier(max_depth=2, random_state=0),
        "stump": DecisionTreeClassifier(max_depth=1),
    }

    def peer_pairs() -> None:
        for a, b in combinations(models.values(), 2):
            paired_ttest_resampled(a, b, X, y, num_rounds=25, test_size=0.3, random_seed=0)

    own, peer = alternating(lambda: unseen.compare(models, X, y, test="corrected-t", random_state=0), peer_pairs, 2)
    remark = "each model is fitted once per split, not once per split and pair; and the peer's test has no correction"
    return row(
        "all 10 pairs of 5 models, 25 splits", own, peer, "mlxtend", "at least 2 times less", peer >= 2 * own, remark
    )


def _bca_area(X: np.ndarray, y: np.ndarray) -> dict:
    from confidenceinterval import roc_auc_score

    table = unseen.run(GaussianNB(), X, y, design=unseen.designs.Holdout(0.9), random_state=0, scores=True)
    truth, score = table.data.target[table.test.row], table.test.score[:, 1]
    own = cpu_seconds(lambda: unseen.estimate(table, method="bca", measure="auc", n_bootstrap=2000), 3)
    peer = cpu_seconds(lambda: roc_auc_score(truth, score, method="bootstrap_bca", n_resamples=2000), 1)
    remark = "scores are sorted once and resamples are weights; the peer calls scikit-learn for each resample"
    return row(
        "BCa interval of AUC, n = 512, 2,000 resamples",
        own,
        peer,
        "confidenceinterval",
        "at least 20 times less",
        peer >= 20 * own,
        remark,
    )


def run() -> list[dict]:
    """Return one row per comparison."""
    X, y = load_breast_cancer(return_X_y=True)
    return [_five_by_two(X, y), _all_pairs(X, y), _bca_area(X, y)]
