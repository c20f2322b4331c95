"""The engine against a bare loop and scikit-learn's cross-validation; what a call and a report cost by themselves."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from benchmarks.timing import Agreement, alternating, row, same_numbers, same_value, time_of


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
        errors = []
        for s in plan:
            model = clone(FiveMilliseconds()).fit(X[s.train], y[s.train])
            errors.append(np.mean(model.predict(X[s.test]) != y[s.test]))
        return errors

    def ours():
        return unseen.run(FiveMilliseconds(), X, y, design=design, random_state=0).losses().split_means()

    own, peer = alternating(ours, bare, 7)
    return row(
        "engine, 100 fits of 5 ms",
        own,
        peer,
        against="bare clone-fit-predict loop",
        same=same_numbers(own.result, peer.result, "errors of splits"),
        target="at most 5% over",
        met=own.cpu <= 1.05 * peer.cpu,
        remark=f"{own.cpu / peer.cpu - 1:+.1%}",
    )


class Free(FiveMilliseconds):
    """Costs nothing and learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def _call_and_report(X, y) -> list[dict]:
    """Time a call whose fits cost nothing, and a report; the error of what always names the first class is known."""
    effort = "direct=0,bootstrap=0,leave_out=0,curve=0"
    call = time_of(lambda: unseen.assess(Free(), X, y, random_state=0, effort=effort, progress=False))
    wrong = float(np.mean(y != np.unique(y)[0]))
    assessment = unseen.assess("logistic", X[:80], y[:80], random_state=0, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        report = time_of(lambda: assessment.report(file), 3)
        page = re.sub("<[^>]+>", " ", file.read_text())
    ends = (assessment.error, assessment.interval.low, assessment.interval.high)
    missing = [text for text in (f"{100 * number:.1f}%" for number in ends) if text not in page]
    return [
        row(
            "assess, 50 folds that cost nothing, 569 rows",
            call,
            same=same_value("error and share of the other class", call.result.error, wrong),
            target="under .05 s",
            met=call.cpu < 0.05,
        ),
        row(
            "report of an assessment",
            report,
            same=Agreement(f"{len(missing)} of {len(ends)} numbers of the assessment are not on the page", not missing),
            target="under 1.5 s",
            met=report.cpu < 1.5,
        ),
    ]


def _ten_by_ten(name: str, model, X, y, rounds: int = 10) -> dict:
    """Time our folds, and scikit-learn's on the same splits; its mean weighs folds by their rows, as ours does."""
    design = unseen.designs.RepeatedKFold(10, rounds)
    plan = list(unseen.run("dummy", X, y, design=design, random_state=0).plan)
    pairs = [(s.train, s.test) for s in plan]

    def peer():
        return 1 - cross_val_score(model, X, y, cv=pairs)

    def ours():
        return unseen.estimate(model, X, y, method="repeated-kfold", design=design, random_state=0).value

    own, other = alternating(ours, peer, 5)
    mean = float(np.average(other.result, weights=[len(test) for _, test in pairs]))
    return row(
        f"{rounds} x 10 cross-validation, {name}",
        own,
        other,
        against="scikit-learn",
        same=same_value("error", own.result, mean),
        target="no slower",
        met=own.cpu <= other.cpu,
    )


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
