"""The permutation test: one solve for all targets equals refitting, levels hold without dependence, and scikit-learn agrees."""

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen
from unseen.core.errors import InputError


class Wrapped(BaseEstimator):
    """Another estimator, which no shortcut knows."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X, y):
        self.fitted_ = self.inner.fit(X, y)
        self.classes_ = getattr(self.fitted_, "classes_", None)
        return self

    def predict(self, X):
        return self.fitted_.predict(X)


def sample(n=60, classes=2, signal=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, 4)) + signal * np.eye(classes, 4)[y], y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scaled", [False, True])
def test_one_solve_gives_the_errors_of_refitting_classes(classes, scaled):
    X, y = sample(classes=classes)
    model = make_pipeline(StandardScaler(), RidgeClassifier()) if scaled else RidgeClassifier(2.0)
    labels = np.array(["a", "b", "c"])[y]
    quick = unseen.permutation_test(model, X, labels, n_permutations=9, random_state=1)
    slow = unseen.permutation_test(Wrapped(model), X, labels, n_permutations=9, random_state=1)
    assert quick.error == pytest.approx(slow.error, abs=1e-12)
    np.testing.assert_allclose(quick.permuted, slow.permuted, atol=1e-12)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.5), make_pipeline(StandardScaler(), Ridge())])
@pytest.mark.parametrize("loss", ["auto", "absolute"])
def test_one_solve_gives_the_errors_of_refitting_numbers(model, loss):
    X, _ = sample()
    y = X @ [1.0, 0.0, -1.0, 0.0] + np.random.default_rng(3).normal(size=60)
    quick = unseen.permutation_test(model, X, y, n_permutations=6, random_state=1, loss=loss)
    slow = unseen.permutation_test(Wrapped(model), X, y, n_permutations=6, random_state=1, loss=loss)
    assert quick.error == pytest.approx(slow.error)
    np.testing.assert_allclose(quick.permuted, slow.permuted)


def test_whole_groups_change_places():
    X, y = sample(30)
    X, y, groups = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(np.arange(30), 2)
    X = X + np.random.default_rng(1).normal(0, 0.1, X.shape)
    quick = unseen.permutation_test(RidgeClassifier(), X, y, groups=groups, n_permutations=8, random_state=1)
    slow = unseen.permutation_test(Wrapped(RidgeClassifier()), X, y, groups=groups, n_permutations=8, random_state=1)
    np.testing.assert_allclose(quick.permuted, slow.permuted, atol=1e-12)
    with pytest.raises(InputError, match="differ within groups"):
        unseen.permutation_test(RidgeClassifier(), X, np.arange(60) % 2, groups=groups)


@pytest.mark.slow
@pytest.mark.sample
def test_p_values_without_dependence_are_uniform():
    p = [
        unseen.permutation_test(RidgeClassifier(), *sample(40, signal=0.0, seed=k), n_permutations=19, random_state=k).p
        for k in range(200)
    ]
    # errors tie, which makes p larger, never smaller
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 200)
    assert np.mean(np.array(p) <= 0.5) > 0.3


@pytest.mark.slow
@pytest.mark.sample
def test_as_scikit_learn_and_fifty_times_faster():
    X, y = sample(300, signal=0.8)
    start = time.process_time()
    ours = unseen.permutation_test(RidgeClassifier(), X, y, n_permutations=999, random_state=0)
    own = time.process_time() - start
    start = time.process_time()
    _, scores, p = permutation_test_score(RidgeClassifier(), X, y, n_permutations=60, random_state=0)
    peer = (time.process_time() - start) * 1000 / 60
    assert peer > 50 * own
    assert ours.permuted.mean() == pytest.approx(1 - scores.mean(), abs=4 * scores.std() / np.sqrt(60))
    assert ours.p <= 0.01
    assert p <= 2 / 61


@pytest.mark.parametrize("count", [0, -1, 2.5, True])
def test_senseless_numbers_are_refused(count):
    with pytest.raises(InputError, match="n_permutations is"):
        unseen.permutation_test(RidgeClassifier(), *sample(), n_permutations=count)
