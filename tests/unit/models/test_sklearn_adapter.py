"""Objects with fit and predict as models: what is cloned, seeded, weighted and refused."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, KindError
from unseen.datasets.conversion import as_data
from unseen.models.parameters import all_parameters, is_plain_estimator, own_parameters
from unseen.models.sklearn import as_fitted, as_model
from unseen.models.weights import weight_key

IRIS, DIABETES = unseen.datasets.load("iris"), unseen.datasets.load("diabetes")


class Plain:
    """Nothing but fit and predict; counts its fits, so that a shared object would show."""

    def __init__(self) -> None:
        self.count = 0

    def fit(self, X, y):
        self.count += 1
        assert self.count == 1, "fitted twice"
        values, counts = np.unique(y, return_counts=True)
        self.label_ = values[counts.argmax()]

    def predict(self, X):
        return [self.label_] * len(X)


class Keeps(ClassifierMixin, BaseEstimator):
    """Remembers what it was given."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen_ = (type(X), X, sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class TestUsersObject:
    @pytest.mark.parametrize(
        "model",
        [
            DecisionTreeClassifier(max_depth=2),
            make_pipeline(StandardScaler(), LogisticRegression()),
            GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2),
            RandomForestClassifier(n_estimators=3),
        ],
    )
    def test_never_changed(self, model) -> None:
        before = repr(model), {k: repr(v) for k, v in model.get_params().items()}, set(vars(model))
        unseen.run(model, IRIS, random_state=0)
        assert before == (repr(model), {k: repr(v) for k, v in model.get_params().items()}, set(vars(model)))

    def test_not_even_when_fitted(self) -> None:
        model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(IRIS.X[:60], IRIS.y[:60])
        state = copy.deepcopy(model.tree_.__getstate__()["nodes"])
        table = unseen.run(model, IRIS, random_state=0)
        np.testing.assert_array_equal(model.tree_.__getstate__()["nodes"], state)
        fresh = unseen.run(DecisionTreeClassifier(max_depth=2, random_state=0), IRIS, random_state=0)
        np.testing.assert_array_equal(table.test.value, fresh.test.value)

    def test_plain_objects_are_copied(self) -> None:
        model = Plain()
        table = unseen.run(model, IRIS, random_state=0)
        assert vars(model) == {"count": 0}
        assert not table.failures

    def test_frames_stay_frames(self) -> None:
        data = as_data(pd.DataFrame(IRIS.X, columns=list("abcd")), IRIS.y)
        kind, X, _ = as_model(Keeps()).fit(data, 0).native.seen_
        assert kind is pd.DataFrame
        assert list(X.columns) == list("abcd")

    def test_seeds(self) -> None:
        model = as_model(make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=5)))
        a, b, c = (model.fit(IRIS, seed).native[-1].random_state for seed in (1, 1, 2))
        assert a == b != c
        fixed = as_model(RandomForestClassifier(n_estimators=5, random_state=9)).fit(IRIS, 1).native
        assert fixed.random_state == 9


class TestPredictions:
    def test_one_column_is_flattened(self) -> None:
        class Wide(Plain):
            def predict(self, X):
                return np.full((len(X), 1), self.label_)

        assert as_model(Wide()).fit(IRIS, 0).predict(IRIS.X).shape == (150,)

    def test_scores_follow_the_classes_of_the_data(self) -> None:
        part = IRIS.take(np.flatnonzero(IRIS.y != "setosa"))
        scores, kind = as_model(LogisticRegression(max_iter=1000)).fit(part, 0).scores(IRIS.X)
        assert kind == "probability"
        assert scores.shape == (150, 3)
        assert scores[:, 0].max() == 0
        np.testing.assert_allclose(scores.sum(axis=1), 1)

    def test_functions_and_fitted_objects(self) -> None:
        assert as_fitted(lambda X: np.zeros(len(X))).predict(IRIS.X).sum() == 0
        fitted = DecisionTreeClassifier().fit(IRIS.X, IRIS.y)
        assert as_fitted(fitted, IRIS.classes).native is fitted


class TestRefused:
    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (
                DecisionTreeClassifier,
                r"the class DecisionTreeClassifier; give an object of it: DecisionTreeClassifier\(\)",
            ),
            (3, "int without fit and predict"),
            (StandardScaler(), "StandardScaler without predict"),
            (lambda X: X, "function without fit"),
            (KMeans(3), "finds clusters"),
            (IsolationForest(), "finds outliers"),
            (FrozenEstimator(DummyClassifier().fit([[0]], [0])), "frozen"),
            (LinearRegression(), "regressor, and the target has 3 classes"),
            (make_pipeline(StandardScaler(), LinearRegression()), "regressor"),
        ],
    )
    def test_models(self, model, words) -> None:
        with pytest.raises((KindError, InputError), match=words):
            unseen.run(model, IRIS, random_state=0)

    def test_classifier_for_numbers(self) -> None:
        with pytest.raises(InputError, match="classifier, and the target holds numbers"):
            unseen.run(LogisticRegression(), DIABETES, random_state=0)

    def test_fitted_plain_object(self) -> None:
        model = Plain()
        model.fit(IRIS.X, IRIS.y)
        with pytest.raises(KindError, match=r"looks fitted already .it has label_"):
            as_model(model)

    def test_what_cannot_be_cloned_or_copied(self) -> None:
        class Odd(BaseEstimator):
            def __init__(self, a=1):
                self.a = a + 1

            def fit(self, X, y):
                return self

            def predict(self, X):
                return X

        with pytest.raises(KindError, match="cannot be cloned"):
            as_model(Odd())
        stuck = Plain()
        stuck.generator = (k for k in range(3))
        with pytest.raises(KindError, match="cannot be copied"):
            as_model(stuck)

    def test_unfitted_where_fitted_is_needed(self) -> None:
        with pytest.raises(InputError, match="not fitted"):
            as_fitted(DecisionTreeClassifier())
        with pytest.raises(KindError, match="the class"):
            as_fitted(DecisionTreeClassifier)
        with pytest.raises(KindError, match="without predict"):
            as_fitted(3)


class TestWeights:
    @pytest.mark.parametrize(
        ("model", "key"),
        [
            (LogisticRegression(), "sample_weight"),
            (KNeighborsClassifier(), None),
            (Pipeline([("s", StandardScaler()), ("m", LogisticRegression())]), "m__sample_weight"),
            (Pipeline([("s", StandardScaler()), ("m", KNeighborsClassifier())]), None),
            (Pipeline([("a", Pipeline([("b", DecisionTreeClassifier())]))]), "a__b__sample_weight"),
            (GridSearchCV(DecisionTreeClassifier(), {}), "sample_weight"),
            (GridSearchCV(Pipeline([("m", DecisionTreeClassifier())]), {}), "m__sample_weight"),
            (GridSearchCV(KNeighborsClassifier(), {}), None),
            (TransformedTargetRegressor(LinearRegression()), "sample_weight"),
            (BaggingClassifier(), "sample_weight"),
            (VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]), "sample_weight"),
            (VotingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier())]), None),
            (Plain(), None),
        ],
    )
    def test_where_they_go(self, model, key) -> None:
        assert weight_key(model) == key

    @pytest.mark.parametrize(
        "model",
        [
            Pipeline([("s", StandardScaler()), ("m", LogisticRegression())]),
            GridSearchCV(Pipeline([("m", DecisionTreeClassifier())]), {"m__max_depth": [1, 2]}, cv=2),
            VotingClassifier([("a", LogisticRegression(max_iter=500)), ("b", DecisionTreeClassifier())]),
            StackingClassifier([("a", LogisticRegression(max_iter=500)), ("b", DecisionTreeClassifier())], cv=2),
            KNeighborsClassifier(),
        ],
    )
    def test_every_such_fit_succeeds(self, model) -> None:
        weights = np.random.default_rng(0).integers(1, 4, 150)
        table = unseen.run(model, IRIS.X, IRIS.y, sample_weight=weights, design=3, random_state=0)
        assert not table.failures

    def test_they_arrive(self) -> None:
        weights = np.random.default_rng(0).integers(1, 5, 150).astype(float)
        data = as_data(IRIS.X, IRIS.y, sample_weight=weights)
        mine = as_model(make_pipeline(StandardScaler(), LogisticRegression())).fit(data, 0).native
        by_hand = make_pipeline(StandardScaler(), LogisticRegression())
        by_hand.fit(IRIS.X, IRIS.y, logisticregression__sample_weight=weights)
        np.testing.assert_array_equal(mine[-1].coef_, by_hand[-1].coef_)
        without = as_model(make_pipeline(StandardScaler(), LogisticRegression())).fit(IRIS, 0).native
        assert np.abs(mine[-1].coef_ - without[-1].coef_).max() > 1e-3

    def test_metadata_routing(self) -> None:
        data = as_data(IRIS.X, IRIS.y, sample_weight=np.arange(1, 151.0))
        with sklearn.config_context(enable_metadata_routing=True):
            asked = Pipeline(
                [
                    ("s", StandardScaler().set_fit_request(sample_weight=False)),
                    ("m", Keeps().set_fit_request(sample_weight=True)),
                ]
            )
            fitted = as_model(asked).fit(data, 0).native
            np.testing.assert_array_equal(fitted[-1].seen_[2], data.weights)
            declined = Pipeline([("m", Keeps().set_fit_request(sample_weight=False))])
            assert as_model(declined).fit(data, 0).native[-1].seen_[2] is None


class OwnParameters(BaseEstimator):
    """Says itself what its parameters are."""

    def __init__(self, depth=1):
        self.depth = depth

    def get_params(self, deep=True):
        return {"depth": self.depth, "hidden": 3}


class Derived(KNeighborsClassifier):
    def __init__(self, n_neighbors=5):
        super().__init__(n_neighbors=n_neighbors)


@pytest.mark.parametrize(
    "model",
    [
        OwnParameters(2),
        Derived(3),
        KNeighborsClassifier(3),
        make_pipeline(StandardScaler(), LogisticRegression(C=2)),
        GridSearchCV(LogisticRegression(), {"C": [1, 2]}),
        VotingClassifier([("a", LogisticRegression())]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_parameters_are_those_of_get_params(model):
    for _ in range(2):  # the second time names are remembered
        assert own_parameters(model) == model.get_params(deep=False)
        assert {k: repr(v) for k, v in all_parameters(model).items()} == {
            k: repr(v) for k, v in model.get_params().items()
        }


class Changes(ClassifierMixin, BaseEstimator):
    def __init__(self, layers=(1,)):
        self.layers = list(layers)

    def fit(self, X, y): ...

    def predict(self, X): ...


def test_only_estimators_of_scikit_learn_with_plain_values_are_not_cloned_to_see():
    assert is_plain_estimator(KNeighborsClassifier())
    assert not any(
        map(is_plain_estimator, (Derived(), Changes(), BaggingClassifier(LogisticRegression()), Plain(), print))
    )
    assert not is_plain_estimator(LogisticRegression(class_weight={0: 1, 1: 2}))
    with pytest.raises(KindError, match="cannot be cloned"):
        as_model(Changes())
