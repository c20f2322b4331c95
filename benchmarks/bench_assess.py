"""Default `assess` against one 10-fold of scikit-learn, a million predictions, and permutations in one solve."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score, permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import unseen
from benchmarks.timing import cpu_seconds, row

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
    X, y = _sample(n)
    repeats = 3 if n <= 1_000 and name != "forest" else 1
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scores: list[float] = []
    made: list[Any] = []
    peer = cpu_seconds(lambda: scores.append(1 - cross_val_score(model, X, y, cv=folds).mean()), repeats)
    wall = time.perf_counter()
    own = cpu_seconds(lambda: made.append(unseen.assess(model, X, y, random_state=0, progress=False)), repeats)
    wall = (time.perf_counter() - wall) / repeats
    a = made[-1]
    agree = (
        f"errors {a.error:.4f} ({a.interval.low:.4f} to {a.interval.high:.4f}) and {scores[-1]:.4f}; wall {wall:.3g} s"
    )
    limit = LIMITS[n]
    return row(
        f"assess, {name}, n = {n:,}",
        own,
        peer,
        "cross_val_score, 10 folds",
        f"at most {limit:g} times",
        own <= limit * peer,
        f"{own / peer:.1f} times; {agree}",
    )


def _million() -> dict:
    n = 1_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    p = 1 / (1 + np.exp(-rng.normal(y, 1.0)))
    own = cpu_seconds(lambda: unseen.measure(y, p, random_state=0), 1)
    return row("measure, all defaults with intervals, 1e6 cases", own, float("nan"), "none", "under 10 s", own < 10)


def _classes() -> dict:
    n, k = 100_000, 1_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    value = np.where(rng.random(n) < 0.7, y, rng.integers(0, k, n))
    own = cpu_seconds(lambda: unseen.measure(y, value, task="classification", random_state=0), 1)
    return row("measure, 1,000 classes, 1e5 cases", own, float("nan"), "none", "under 10 s", own < 10)


def _permutations() -> dict:
    X, y = _sample(300)
    found: list[Any] = []
    own = cpu_seconds(
        lambda: found.append(unseen.permutation_test(RidgeClassifier(), X, y, n_permutations=999, random_state=0)), 2
    )
    fewer = 100
    p: list[float] = []
    peer = cpu_seconds(
        lambda: p.append(permutation_test_score(RidgeClassifier(), X, y, n_permutations=fewer, random_state=0)[2]), 1
    )
    remark = f"p {found[-1].p:.3g} (999) and {p[-1]:.3g} ({fewer}, time times {1000 // fewer})"
    peer *= 1000 / fewer
    return row(
        "1,000 permutations, ridge classifier, 300 x 20",
        own,
        peer,
        "permutation_test_score",
        "50 times",
        peer >= 50 * own,
        remark,
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
