"""Which models set rows aside inside their own fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, RidgeCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.models.elimination import BackwardElimination
from unseen.models.inner_resampling import resamples_inside
from unseen.models.quit_when_ahead import QuitWhenAhead
from unseen.models.sklearn import as_model
from unseen.models.threshold import UtilityThreshold

TREE = DecisionTreeClassifier()
SEARCH = GridSearchCV(TREE, {"max_depth": [1, 2]})


class Wrapper:
    """An object without get_params that wraps another."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (SEARCH, "GridSearchCV cross-validates"),
        (RandomizedSearchCV(TREE, {"max_depth": [1, 2]}), "RandomizedSearchCV cross-validates"),
        (make_pipeline(StandardScaler(), SEARCH), "GridSearchCV cross-validates"),
        (VotingClassifier([("a", TREE), ("b", make_pipeline(SEARCH))]), "GridSearchCV cross-validates"),
        (BaggingClassifier(SEARCH), "GridSearchCV cross-validates"),
        (Wrapper(SEARCH), "GridSearchCV cross-validates"),
        (CalibratedClassifierCV(LinearSVC()), "CalibratedClassifierCV cross-validates"),
        (LogisticRegressionCV(), "LogisticRegressionCV cross-validates"),
        (LassoCV(), "LassoCV cross-validates"),
        (RidgeCV(), "RidgeCV cross-validates"),
        (TransformedTargetRegressor(RidgeCV()), "RidgeCV cross-validates"),
        (StackingClassifier([("a", TREE)]), "StackingClassifier cross-validates"),
        (make_pipeline(RFECV(TREE), TREE), "RFECV cross-validates"),
        (make_pipeline(SequentialFeatureSelector(TREE), TREE), "SequentialFeatureSelector cross-validates"),
        (make_pipeline(ColumnTransformer([("t", TargetEncoder(), [0])]), TREE), "TargetEncoder cross-validates"),
        (make_pipeline(BackwardElimination(), TREE), "BackwardElimination cross-validates"),
        (UtilityThreshold(GaussianNB()), "UtilityThreshold cross-validates"),
        (QuitWhenAhead(MLPClassifier()), "QuitWhenAhead stops early"),
        (MLPClassifier(early_stopping=True), "MLPClassifier stops early"),
        (SGDClassifier(early_stopping=True), "SGDClassifier stops early"),
        (GradientBoostingClassifier(n_iter_no_change=5), "GradientBoostingClassifier stops early"),
        (HistGradientBoostingClassifier(early_stopping=True), "HistGradientBoostingClassifier stops early"),
        (as_model(make_pipeline(SEARCH)), "GridSearchCV cross-validates"),
    ],
)
def test_models_that_set_rows_aside_are_named(model, reason):
    assert resamples_inside(model).startswith(reason)


@pytest.mark.parametrize(
    "model",
    [
        TREE,
        MLPClassifier(),  # it has n_iter_no_change, which watches the training loss unless early_stopping is set
        SGDClassifier(),
        GradientBoostingClassifier(),
        HistGradientBoostingClassifier(),
        RandomForestClassifier(oob_score=True),  # the score is reported, nothing is chosen by it
        BaggingClassifier(TREE),
        VotingClassifier([("a", TREE), ("b", LogisticRegression())]),
        make_pipeline(StandardScaler(), LogisticRegression()),
        SVC(probability=True),
        Wrapper(TREE),
        as_model(TREE),
        print,
    ],
)
def test_other_models_are_not(model):
    assert resamples_inside(model) == ""


def test_automatic_early_stopping_goes_by_rows():
    model = HistGradientBoostingClassifier()
    assert resamples_inside(model, 10_000) == ""
    assert resamples_inside(model, 10_001) == "HistGradientBoostingClassifier stops early by rows that it sets aside"


def test_probabilities_of_a_support_vector_machine_are_cross_validated():
    assert "calibrates its probabilities" in resamples_inside(SVC(probability=True), scores=True)
    assert resamples_inside(SVC(), scores=True) == ""


def test_a_net_that_keeps_copies_together_is_none():
    pytest.importorskip("torch")
    from unseen.nets import Classifier

    assert resamples_inside(Classifier()) == ""


@pytest.mark.parametrize("name", unseen.models.names())
def test_no_named_model_sets_rows_aside(name):
    iris = unseen.datasets.load("iris")
    data = iris
    if "classification" not in next(r["tasks"] for r in unseen.models.describe() if r["name"] == name):
        data = unseen.datasets.as_data(iris.X[:, :3], iris.X[:, 3])
    assert resamples_inside(unseen.models.named_model(name, data), data.n) == ""
