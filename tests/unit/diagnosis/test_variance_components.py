"""Variance components of k-fold cross-validation: closed forms, the identity, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError, KindError
from unseen.datasets.conversion import as_data
from unseen.diagnosis.variance_components import components


class Zero:
    """Predicts 0 whatever it was trained on, so that losses are independent."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Mean:
    """Predicts the training mean."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Normal:
    id = "normal"

    def draw(self, n, rng):
        return as_data(rng.standard_normal((n, 1)), rng.standard_normal(n), task="regression")


def test_known_covariances_are_found():
    """Losses with a shared effect of variance .5 in a data set and .25 in a fold."""
    rng = np.random.default_rng(0)
    losses = (
        rng.normal(0, np.sqrt(0.5), (6000, 1, 1)) + rng.normal(0, 0.5, (6000, 4, 1)) + rng.standard_normal((6000, 4, 5))
    )
    values, errors = components(losses, 4)
    assert np.all(np.abs(values[:3] - [1.75, 0.75, 0.5]) < 4 * errors[:3])
    assert values[3] == pytest.approx((values[0] + 4 * values[1] + 15 * values[2]) / 20)


def test_few_data_sets_leave_the_components_unbiased():
    """The mean of 5 data sets takes theta / 5 off each component, not a fifth of it."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2000):
        losses = rng.normal(0, 0.3, (5, 1, 1)) + rng.normal(0, 0.2, (5, 4, 1)) + rng.standard_normal((5, 4, 3))
        found.append(components(losses, 4)[0])
    truth = np.array([1.13, 0.13, 0.09, 0.09 + 0.04 / 4 + 1 / 12])
    errors = np.std(found, axis=0) / np.sqrt(2000)
    assert np.all(np.abs(np.mean(found, axis=0) - truth) < 4 * errors)
    assert errors[0] < 0.02  # the factor 5/4 would be off by .24


def test_independent_losses_have_no_covariance():
    """Squared error of the constant 0 on N(0, 1): sigma^2 = Var(y^2) = 2, omega = gamma = 0, theta = 2 / n."""
    v = unseen.variance_components(Zero(), Normal(), 20, k=4, sets=400)
    for value, truth, error in zip((v.sigma2, v.omega, v.gamma, v.theta), (2, 0, 0, 0.1), v.mc_errors):
        assert abs(value - truth) < 4 * error
    assert v.naive == pytest.approx(0.1, abs=0.02)


@pytest.mark.slow
@pytest.mark.sample
def test_the_training_mean_has_its_closed_forms():
    """(y_i - mean)^2 with t = n - m training rows: sigma^2 = 2 (1 + 1/t)^2, omega = 2 / t^2 (shared training mean)."""
    v = unseen.variance_components(Mean(), Normal(), 12, k=3, sets=1500)
    t = 8
    assert abs(v.sigma2 - 2 * (1 + 1 / t) ** 2) < 4 * v.mc_errors[0]
    assert abs(v.omega - 2 / t**2) < 4 * v.mc_errors[1]
    # different folds: errors share 4 training rows and each trains on the other's row: cov = 4/64 - 2/8, squared twice
    assert abs(v.gamma - 2 * (4 / t**2 - 2 / t) ** 2) < 4 * v.mc_errors[2]


def test_refusals():
    with pytest.raises(InputError, match="multiple of k"):
        unseen.variance_components("lda", "gaussian-blocks", 41, k=4)
    with pytest.raises(InputError, match="unknown population"):
        unseen.variance_components("lda", "moon", 40, k=4)


def test_one_data_set_is_no_population():
    with pytest.raises(KindError, match="one data set does not show these components"):
        unseen.variance_components("lda", unseen.datasets.load("iris"), 30, k=3)
