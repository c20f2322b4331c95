"""Losses against scikit-learn's, and their no-information rates against all pairs and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, mean_absolute_error, mean_squared_error

from unseen.core.registry import classes_in
from unseen.measures.brier import Brier
from unseen.measures.log_loss import LogLoss
from unseen.measures.regression import Absolute, Squared
from unseen.measures.zero_one import ZeroOne

rng = np.random.default_rng(0)
Y = rng.standard_normal(40)
F = rng.standard_normal(40)
LABELS = rng.integers(0, 3, 40)
PROBA = rng.dirichlet([1.0, 2.0, 0.5], 40)


@pytest.mark.parametrize(("loss", "reference"), [(Squared(), mean_squared_error), (Absolute(), mean_absolute_error)])
def test_regression_losses_are_scikit_learns(loss, reference):
    assert np.mean(loss.per_example(Y, F)) == pytest.approx(reference(Y, F), rel=1e-14)


def test_probability_losses_are_scikit_learns():
    assert np.mean(LogLoss().per_example(LABELS, LABELS, PROBA)) == pytest.approx(log_loss(LABELS, PROBA), rel=1e-12)
    two = PROBA[:, :2] / PROBA[:, :2].sum(axis=1, keepdims=True)
    y = LABELS % 2
    assert np.mean(Brier().per_example(y, y, two)) == pytest.approx(brier_score_loss(y, two[:, 1]), rel=1e-12)


def test_brier_by_hand_for_three_classes():
    value = Brier().per_example(np.array([2]), np.array([2]), np.array([[0.5, 0.3, 0.2]]))
    assert value == pytest.approx(0.5**2 + 0.3**2 + 0.8**2)


def test_zero_one_no_information_is_the_textbook_rate():
    """Efron and Tibshirani (1997): p (1 - q) + (1 - p) q for two classes."""
    y, value = np.repeat([0, 1], [7, 3]), np.repeat([0, 1], [6, 4])
    assert ZeroOne().no_information(y, value) == pytest.approx(0.3 * 0.6 + 0.7 * 0.4)
    assert ZeroOne().no_information(np.repeat([0, 1], 25), rng.integers(0, 2, 50)) == pytest.approx(0.5)


@pytest.mark.parametrize("loss", [Squared(), Absolute()], ids=lambda m: m.id)
def test_regression_no_information_over_all_pairs(loss):
    pairs = loss.per_example(np.repeat(Y, 40), np.tile(F, 40))
    assert loss.no_information(Y, F) == pytest.approx(pairs.mean(), rel=1e-12)


@pytest.mark.parametrize("loss", [ZeroOne(), Brier(), LogLoss()], ids=lambda m: m.id)
def test_label_no_information_over_all_pairs_of_three_classes(loss):
    left, right = np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40)
    value = PROBA.argmax(axis=1)
    pairs = loss.per_example(LABELS[left], value[right], PROBA[right])
    assert loss.no_information(LABELS, value, PROBA) == pytest.approx(np.mean(pairs), rel=1e-12)


def test_a_confident_mistake_stays_finite():
    assert np.isfinite(LogLoss().per_example(np.array([0]), np.array([1]), np.array([[0.0, 1.0]]))).all()
    assert LogLoss(floor=0.1).per_example(np.array([0]), np.array([1]), np.array([[0.0, 1.0]])) == pytest.approx(
        np.log(10)
    )


def test_the_default_losses_are_registered():
    assert {"zero-one", "squared", "absolute", "brier", "log-loss"} <= set(classes_in("measures"))
