"""The engine against a bare loop and scikit-learn's cross-validation; what a call and a report cost by themselves."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import alternating, cpu_seconds, row


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


class Free(FiveMilliseconds):
    """Costs nothing and learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def _call_and_report(X, y) -> list[dict]:
    def folds_alone():
        unseen.assess(Free(), X, y, random_state=0, effort="direct=0,bootstrap=0,leave_out=0,curve=0", progress=False)

    assessment = unseen.assess("logistic", X[:80], y[:80], random_state=0, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        report = cpu_seconds(lambda: assessment.report(Path(folder) / "report.html"), 3)
    call, none = cpu_seconds(folds_alone), float("nan")
    return [
        row("assess, 50 folds that cost nothing, 569 rows", call, none, "none", "under .05 s", call < 0.05),
        row("report of an assessment", report, none, "none", "under 1.5 s", report < 1.5),
    ]


def _ten_by_ten(name: str, model, X, y, rounds: int = 10) -> dict:
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=rounds, random_state=0)
    pairs = list(cv.split(X, y))
    design = unseen.designs.RepeatedKFold(10, rounds)

    def peer():
        cross_val_score(model, X, y, cv=pairs)

    def ours():
        unseen.estimate(model, X, y, method="repeated-kfold", design=design, random_state=0)

    own, other = alternating(ours, peer, 5)
    return row(f"{rounds} x 10 cross-validation, {name}", own, other, "scikit-learn", "no slower", own <= other)


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
        _ten_by_ten("RBF SVM, breast-cancer", make_pipeline(StandardScaler(), SVC()), X, y),
        _ten_by_ten("forest of 30 trees, breast-cancer", RandomForestClassifier(30, random_state=0), X, y, 1),
        _ten_by_ten("boosting in 30 steps, breast-cancer", HistGradientBoostingClassifier(max_iter=30), X, y, 1),
        *_call_and_report(X, y),
    ]
