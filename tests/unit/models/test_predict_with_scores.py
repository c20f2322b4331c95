"""Predictions and scores in one pass through a pipeline are those of two passes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unseen.models.sklearn import FittedEstimator

CALLS: list[int] = []


class Counted(StandardScaler):
    def transform(self, X, copy=None):
        CALLS.append(len(X))
        return super().transform(X, copy)


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, np.array(["b", "c", "a"])[np.digitize(X[:, 0] + rng.standard_normal(60), [-0.5, 0.5])]


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), PCA(2), LogisticRegression()),
        make_pipeline(StandardScaler(), None, SVC()),
        make_pipeline(make_pipeline(StandardScaler(), SVC())),
        make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2)),
        RandomForestClassifier(5, random_state=0),
    ],
    ids=["two steps", "an empty step", "nested", "a search", "no pipeline"],
)
def test_both_are_those_of_two_calls(sample, model):
    X, y = sample
    few = y != "a"  # classes that a part lacks keep their column
    fitted = FittedEstimator(model.fit(X[few], y[few]), np.unique(y))
    values, (scores, kind) = fitted.predict_with_scores(X)
    expected = fitted.scores(X)
    assert np.array_equal(values, fitted.predict(X))
    assert np.array_equal(scores, expected[0])
    assert kind == expected[1]


def test_rows_are_transformed_once(sample):
    X, y = sample
    fitted = FittedEstimator(make_pipeline(Counted(), LogisticRegression()).fit(X, y), np.unique(y))
    CALLS.clear()
    fitted.predict_with_scores(X)
    assert CALLS == [60]


def test_numbers_have_no_scores(sample):
    X, _ = sample
    fitted = FittedEstimator(make_pipeline(StandardScaler(), Ridge()).fit(X, X[:, 0]))
    values, scores = fitted.predict_with_scores(X)
    assert scores is None
    assert np.array_equal(values, fitted.predict(X))
