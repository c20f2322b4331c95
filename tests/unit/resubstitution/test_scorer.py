from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.resubstitution import scorer, whole_sample


@pytest.fixture(scope="module")
def sample():
    return unseen.datasets.load("gaussian-blocks").xy


def test_a_score_is_one_minus_the_estimate(sample):
    from sklearn.neighbors import KNeighborsClassifier

    X, y = sample
    fitted = KNeighborsClassifier(3).fit(X, y)
    error = unseen.resubstitution.bolster(fitted, X, y, random_state=4, n_mc=20).value
    score = scorer("bolster", random_state=4, n_mc=20)
    assert score(fitted, X, y) == pytest.approx(1 - error, abs=1e-15)
    assert score(fitted, X, y) == score(fitted, X, y)


def test_selection_by_bolster_prefers_informative_features(sample):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.svm import LinearSVC

    X, y = sample
    search = SequentialFeatureSelector(LinearSVC(), n_features_to_select=4, scoring=scorer(), cv=whole_sample(X))
    chosen = np.flatnonzero(search.fit(X, y).get_support())
    assert np.all(chosen < 6)  # the last four features are noise


def test_what_cannot_score_is_refused():
    with pytest.raises(UnknownName):
        scorer("bolsterr")
    with pytest.raises(UnknownName):
        scorer("bolster", n_points=3)
    with pytest.raises(UnknownName):
        scorer("kfold")
    with pytest.raises(InputError):
        scorer("bolster", n_mc=0)


def test_a_recipe_without_retraining_can_score(sample):
    from sklearn.linear_model import LogisticRegression

    X, y = sample
    fitted = LogisticRegression().fit(X, y)
    made = unseen.estimate(fitted, X, y, method="auto-resub", fitted=True, random_state=4)
    assert scorer("auto-resub", random_state=4)(fitted, X, y) == pytest.approx(1 - made.value, abs=1e-12)
