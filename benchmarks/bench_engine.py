"""The engine against a bare loop and scikit-learn's cross-validation."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import alternating, row


class FiveMilliseconds(ClassifierMixin, BaseEstimator):
    """Keeps the processor busy for 5 ms and learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        end = time.process_time() + 0.005
        while time.process_time() < end:
            pass
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def _overhead() -> dict:
    X, y = make_classification(200, 10, random_state=0)
    design = unseen.designs.MonteCarlo(0.1, 100)
    plan = unseen.run(FiveMilliseconds(), X, y, design=design, random_state=0).plan

    def bare():
        for s in plan:
            model = clone(FiveMilliseconds()).fit(X[s.train], y[s.train])
            np.mean(model.predict(X[s.test]) != y[s.test])

    def ours():
        unseen.run(FiveMilliseconds(), X, y, design=design, random_state=0).losses().split_means()

    own, peer = alternating(ours, bare, 7)
    return row(
        "engine, 100 fits of 5 ms",
        own,
        peer,
        "bare clone-fit-predict loop",
        "at most 5% over",
        own <= 1.05 * peer,
        f"{own / peer - 1:+.1%}",
    )


def _ten_by_ten(name: str, model, X, y) -> dict:
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    pairs = list(cv.split(X, y))
    design = unseen.designs.RepeatedKFold(10, 10)

    def peer():
        cross_val_score(model, X, y, cv=pairs)

    def ours():
        unseen.estimate(model, X, y, method="repeated-kfold", design=design, random_state=0)

    own, other = alternating(ours, peer, 5)
    return row(f"10 x 10 cross-validation, {name}", own, other, "scikit-learn", "no slower", own <= other)


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    X, y = load_breast_cancer(return_X_y=True)
    Xs, ys = make_classification(n_samples=100, n_features=10, n_informative=5, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return [
        _overhead(),
        _ten_by_ten("tree, synthetic", tree, Xs, ys),
        _ten_by_ten("logistic, synthetic", logistic, Xs, ys),
        _ten_by_ten("tree, breast-cancer", tree, X, y),
        _ten_by_ten("logistic, breast-cancer", logistic, X, y),
    ]
