"""Algebra instead of refitting: every shortcut against scikit-learn's own loop and mlxtend, on the same splits."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.bench_632plus import same_bootstrap
from benchmarks.timing import alternating, faster, row, same_numbers, time_of

ROWS, COLUMNS = 1000, 20
# model and how many times faster than scikit-learn leave-one-out must be
CLASSIFIERS = [
    (NearestCentroid(), 200),
    (GaussianNB(), 200),
    (LinearDiscriminantAnalysis(), 200),
    (QuadraticDiscriminantAnalysis(), 200),
    (KNeighborsClassifier(), 50),
    (RidgeClassifier(), 50),
    (LogisticRegression(), 30),
    (make_pipeline(PCA(5), LinearDiscriminantAnalysis()), 50),
]
REGRESSIONS = [(LinearRegression(), 50), (Ridge(), 50), (make_pipeline(StandardScaler(), PCA(5), Ridge()), 50)]
# learners without a shortcut, and how many folds are enough to time them
OTHERS = [(SVC(), 10), (DecisionTreeClassifier(random_state=0), 10), (RandomForestClassifier(50, random_state=0), 5)]


def sample_of_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    X = rng.standard_normal((ROWS, COLUMNS)) + 0.5 * y[:, None] * (np.arange(COLUMNS) < 8)
    return X @ (np.eye(COLUMNS) + 0.1 * rng.standard_normal((COLUMNS, COLUMNS))), y


def sample_of_numbers() -> tuple[np.ndarray, np.ndarray]:
    """Return rows and numbers that depend on them linearly."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((ROWS, COLUMNS))
    return X, X @ rng.standard_normal(COLUMNS) + rng.standard_normal(ROWS)


def _against_sklearn(name: str, model, X, y, design, splits, target: float, every: int = 1, task=None) -> dict:
    """Time all our fits, and scikit-learn's on every k-th split, whose time is taken k times."""
    scoring = "neg_mean_squared_error" if task == "regression" else "accuracy"
    offset = 0.0 if task == "regression" else 1.0

    def ours():
        table = unseen.run(model, X, y, design=design, random_state=0, task=task)
        return table.losses().split_means()[::every]

    def peer():
        return offset - cross_val_score(model, X, y, cv=splits[::every], scoring=scoring)

    ours()  # the first call of a process proves the shortcut, which is not part of a run
    own, other = alternating(ours, peer, 3)
    own, other = faster(own, time_of(ours, 5)), other.times(every)
    remark = f"scikit-learn timed on every {every}th split" if every > 1 else ""
    steps = [type(step).__name__ for _, step in getattr(model, "steps", [("", model)])]
    return row(
        f"{name}, {' + '.join(steps)}, {ROWS} x {COLUMNS}",
        own,
        other,
        against="scikit-learn",
        same=same_numbers(own.result, other.result, "errors of splits"),
        target=f"at least {target:g} times",
        met=other.cpu >= target * own.cpu,
        remark=remark,
    )


def _bootstrap(model, target: float, point632) -> dict:
    X, y = load_breast_cancer(return_X_y=True)
    design = unseen.designs.Bootstrap(200)

    def ours():
        return unseen.estimate(model, X, y, method="632plus", design=design, random_state=0).value

    def peer():
        return 1 - float(np.mean(point632(model, X, y, n_splits=20, method=".632+", random_seed=0)))

    ours()
    own, other = alternating(ours, peer, 2)
    other = other.times(10)
    return row(
        f".632+, B = 200, {type(model).__name__}, breast-cancer",
        own,
        other,
        against="mlxtend",
        same=same_bootstrap(model, X, y, own.result),
        target=f"at least {target:g} times",
        met=other.cpu >= target * own.cpu,
        remark=f"error {own.result:.4f}; mlxtend, which averages over samples and bounds nothing, {other.result:.4f} "
        "from 20 of 200 samples (their time taken ten times)",
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for (X, y), models, task in (
            (sample_of_classes(), CLASSIFIERS, None),
            (sample_of_numbers(), REGRESSIONS, "regression"),
        ):
            singles = list(LeaveOneOut().split(X))
            plan = unseen.run(
                models[0][0], X, y, design=unseen.designs.RepeatedKFold(10, 10), random_state=0, task=task
            ).plan
            rounds = [(s.train, s.test) for s in plan]
            for model, target in models:
                out.append(_against_sklearn("leave-one-out", model, X, y, "loo", singles, target, 20, task))
                out.append(
                    _against_sklearn(
                        "10 x 10 folds", model, X, y, unseen.designs.RepeatedKFold(10, 10), rounds, 5, 5, task
                    )
                )
        X, y = sample_of_classes()
        for model, folds in OTHERS:
            splits = [(s.train, s.test) for s in unseen.run("dummy", X, y, design=folds, random_state=0).plan]
            out.append(_against_sklearn(f"{folds} folds", model, X, y, folds, splits, 0.95))
        try:
            from mlxtend.evaluate import bootstrap_point632_score as point632
        except ImportError:  # a peer that `make bench` installs
            return out
        for model, target in (
            (DecisionTreeClassifier(random_state=0), 15),
            (KNeighborsClassifier(), 200),
            (LinearDiscriminantAnalysis(), 200),
        ):
            out.append(_bootstrap(model, target, point632))
    return out
