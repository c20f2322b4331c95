"""A Gaussian support vector machine as one matrix product: the classes are those that scikit-learn gives."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, NuSVC

from unseen.resubstitution._decision_rules import kernel_rule


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 3)) * [1.0, 20.0, 0.1] + [0.0, 300.0, -2.0]
    y = np.where((X[:, 0] ** 2 + (X[:, 1] - 300) / 20 + rng.standard_normal(80)) > 0.8, "yes", "no")
    far = X.mean(axis=0) + 30 * (X - X.mean(axis=0))
    near = X[rng.integers(0, 80, 4000)] + 0.5 * X.std(axis=0) * rng.standard_normal((4000, 3))
    return X, y, np.vstack([X, near, far])


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(C=30.0, gamma=0.02, class_weight="balanced"),
        make_pipeline(StandardScaler(), SVC(C=5.0)),
        make_pipeline(StandardScaler(), MinMaxScaler(), SVC(gamma="auto")).set_output(transform="pandas"),
    ],
    ids=["bare", "weighted classes", "scaled", "scaled twice, frames"],
)
def test_classes_are_those_of_the_model(sample, model):
    X, y, points = sample
    fitted = model.fit(X, y)
    expected = fitted.predict(points)
    assert set(expected) == {"no", "yes"}
    assert np.array_equal(kernel_rule(fitted)(points), expected)


def test_the_model_itself_is_asked_on_its_boundary(sample):
    X, y, _ = sample
    fitted = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    inside, outside = (X[fitted.predict(X) == name] for name in ("no", "yes"))
    m = min(len(inside), len(outside))
    low, high = inside[:m].copy(), outside[:m].copy()
    for _ in range(200):  # until two neighbouring numbers differ in their class
        middle = (low + high) / 2
        no = fitted.predict(middle) == "no"
        low[no], high[~no] = middle[no], middle[~no]
    points = np.vstack([low, high])
    assert np.abs(fitted.decision_function(points)).max() < 1e-12
    assert np.array_equal(kernel_rule(fitted)(points), fitted.predict(points))


@pytest.mark.parametrize(
    "model", [SVC(kernel="linear"), SVC(kernel=lambda a, b: a @ b.T), NuSVC()], ids=["linear", "function", "nu"]
)
def test_other_machines_have_no_such_rule(sample, model):
    X, y, _ = sample
    assert kernel_rule(model.fit(X - X.mean(axis=0), y)) is None


def test_three_classes_have_no_such_rule(sample):
    X, y, _ = sample
    three = np.where(X[:, 0] > 1, "maybe", y)
    assert kernel_rule(SVC().fit(X, three)) is None
    assert kernel_rule(SVC()) is None
