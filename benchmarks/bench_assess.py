"""Default `assess` against one 10-fold of scikit-learn, a million predictions, and permutations in one solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_score, permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import unseen
from benchmarks.timing import (
    Agreement,
    alternating,
    largest_difference,
    row,
    same_numbers,
    time_of,
    within_noise,
)

# at most so many times the CPU of one 10-fold
LIMITS = {200: 30.0, 280: 30.0, 1_000: 12.0, 10_000: 3.0, 200_000: 1.5}


def _models() -> dict[str, Any]:
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "RBF SVM": make_pipeline(StandardScaler(), SVC()),
        "forest": RandomForestClassifier(100, random_state=0),
    }


def _sample(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, d, n_informative=10, n_redundant=0, flip_y=0.1, random_state=1)


def _effort(name: str, model: Any, n: int) -> dict:
    """Time `assess`, and one 10-fold of scikit-learn on the splits of the first round of its folds."""
    X, y = _sample(n)
    repeats = 3 if (n <= 10_000 and name == "logistic") or (n <= 1_000 and name == "RBF SVM") else 1
    made: list[Any] = []

    def ours() -> Any:
        made[:] = [unseen.assess(model, X, y, random_state=0, progress=False)]
        return made[0]

    def peer() -> np.ndarray:
        return 1 - cross_val_score(model, X, y, cv=[(s.train, s.test) for s in first_round(made[0])])

    own, other = alternating(ours, peer, repeats)
    a, limit = own.result, LIMITS[n]
    errors = a.tables["repeated-kfold"].split_means()[: len(other.result)]
    return row(
        f"assess, {name}, n = {n:,}",
        own,
        other,
        against="cross_val_score, 10 folds",
        same=same_numbers(errors, other.result, "errors of folds"),
        target=f"at most {limit:g} times",
        met=own.cpu <= limit * other.cpu,
        remark=f"{own.cpu / other.cpu:.1f} times; errors {a.error:.4f} ({a.interval.low:.4f} to {a.interval.high:.4f}) "
        f"and {other.result.mean():.4f}",
    )


def first_round(assessment: Any) -> list[Any]:
    """Return the splits of the first round of folds of an assessment."""
    plan = assessment.tables["repeated-kfold"].plan
    return [s for s in plan if s.repeat == 0]


def same_measures(y: np.ndarray, p: np.ndarray, found: Any) -> Agreement:
    """Return the agreement of measures of two classes with scikit-learn's, on the same cases."""
    label = (p > 0.5).astype(int)
    peers = {
        "accuracy": metrics.accuracy_score(y, label),
        "f1": metrics.f1_score(y, label),
        "mcc": metrics.matthews_corrcoef(y, label),
        "balanced-accuracy": metrics.balanced_accuracy_score(y, label),
        "auc": metrics.roc_auc_score(y, p),
        "average-precision": metrics.average_precision_score(y, p),
        "brier": metrics.brier_score_loss(y, p),
        "log-loss": metrics.log_loss(y, p),
    }
    return largest_difference(
        [found.estimates[k].value for k in peers], list(peers.values()), 1e-9, f"{len(peers)} measures of scikit-learn"
    )


def _million() -> dict:
    n = 1_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    p = 1 / (1 + np.exp(-rng.normal(y, 1.0)))
    own = time_of(lambda: unseen.measure(y, p, random_state=0), 1)
    return row(
        "measure, all defaults with intervals, 1e6 cases",
        own,
        same=same_measures(y, p, own.result),
        target="under 10 s",
        met=own.cpu < 10,
    )


def _classes() -> dict:
    n, k = 100_000, 1_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    value = np.where(rng.random(n) < 0.7, y, rng.integers(0, k, n))
    own = time_of(lambda: unseen.measure(y, value, task="classification", random_state=0), 1)
    peers = {
        "accuracy": metrics.accuracy_score(y, value),
        "balanced-accuracy": metrics.balanced_accuracy_score(y, value),
        "mcc": metrics.matthews_corrcoef(y, value),
    }
    peers = {name: number for name, number in peers.items() if name in own.result.estimates}
    values = [own.result.estimates[name].value for name in peers]
    return row(
        "measure, 1,000 classes, 1e5 cases",
        own,
        same=largest_difference(values, list(peers.values()), 1e-9, f"{', '.join(peers)} of scikit-learn"),
        target="under 10 s",
        met=own.cpu < 10,
    )


def _permutations() -> dict:
    """Time 999 permutations, and 100 of scikit-learn's ten times over; the null errors of both must agree."""
    X, y = _sample(300)
    fewer = 100
    own = time_of(lambda: unseen.permutation_test(RidgeClassifier(), X, y, n_permutations=999, random_state=0), 2)
    peer = time_of(
        lambda: permutation_test_score(RidgeClassifier(), X, y, n_permutations=fewer, random_state=0), 1
    ).times(1000 / fewer)
    null, (_, scores, p) = own.result.permuted, peer.result
    error = float(np.sqrt(null.var(ddof=1) / null.size + scores.var(ddof=1) / scores.size))
    return row(
        "1,000 permutations, ridge classifier, 300 x 20",
        own,
        peer,
        against="permutation_test_score",
        same=within_noise(float(null.mean()), float(1 - scores.mean()), error, "mean error of permuted targets"),
        target="50 times",
        met=peer.cpu >= 50 * own.cpu,
        remark=f"p {own.result.p:.3g} (999) and {p:.3g} ({fewer}, time times {1000 // fewer})",
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    rows = [
        _effort(name, model, n)
        for n in LIMITS
        for name, model in _models().items()
        if n in (200, 1_000) or name == "logistic" or (name == "RBF SVM" and n == 10_000)
    ]
    return [*rows, _million(), _classes(), _permutations()]
