"""Seeds x splits: components that are known, models without a random start, and the jackknife's closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

import unseen
from unseen.core.errors import InputError
from unseen.diagnosis.training_variance import components_of


def test_known_components_are_found():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        made = rng.normal(0, 2, (1, 1, 10)) + rng.normal(0, 1, (1, 6, 1)) + rng.normal(0, 0.5, (1, 6, 10))
        found.append(components_of(made))
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(300)
    assert np.all(np.abs(means[[0, 1, 3]] - [4, 1, 0.25]) < 4 * errors[[0, 1, 3]])
    assert means[2] == 0


def test_settings_without_effect_have_no_variance():
    """Means of settings vary by chance: .25 with these splits, seeds and errors, all of variance 1; with an effect it is found."""
    rng = np.random.default_rng(1)
    for effect in (0.0, 2.0):
        found = []
        for _ in range(400):
            made = rng.normal(0, effect, (4, 1, 1)) + rng.normal(0, 1, (1, 1, 8)) + rng.normal(0, 1, (4, 1, 8))
            made = made + rng.normal(0, 1, (1, 5, 1)) + rng.normal(0, 1, (4, 5, 1)) + rng.normal(0, 1, (4, 5, 8))
            found.append(components_of(made)[2])
        assert abs(np.mean(found) - effect**2) < 4 * np.std(found) / 20
        assert effect or np.std(found) / 20 < 0.02  # else a bias of .25 would pass


def test_a_model_without_a_random_start_has_no_variance_over_seeds():
    X, y = unseen.datasets.load("iris").xy
    v = unseen.training_variance(GaussianNB(), X, y, n_seeds=3)
    assert (v.seeds, v.rest) == pytest.approx((0, 0), abs=1e-30)  # nothing but rounding
    assert v.data == pytest.approx(v.errors[0, 0].var(ddof=1))


def _explained(errors, kept):
    """Return the uncorrected sum of squares of the means over the axes that are not kept."""
    over = tuple(k for k, name in enumerate("abc") if name not in kept)
    return np.square(np.broadcast_to(errors.mean(axis=over, keepdims=True), errors.shape)).sum()


def test_settings_are_crossed_with_seeds():
    X, y = unseen.datasets.load("iris").xy
    net = MLPClassifier(hidden_layer_sizes=(3,), solver="sgd", max_iter=15)
    v = unseen.training_variance(
        net,
        X,
        y,
        settings={"learning_rate_init": (0.001, 0.3), "momentum": (0.0, 0.7)},
        n_seeds=3,
        design=unseen.designs.LeaveOut(0.25, 4),
    )
    assert v.errors.shape == (4, 3, 4)
    assert v.names[0] == "learning_rate_init=0.001, momentum=0.0"
    squares = {kept: _explained(v.errors, kept) for kept in ("", "a", "b", "c", "ab", "ac", "bc", "abc")}
    a, b, c = (squares[k] - squares[""] for k in "abc")
    ab, ac, bc = (squares[k] - squares[k[0]] - squares[k[1]] + squares[""] for k in ("ab", "ac", "bc"))
    abc = squares["abc"] - squares[""] - a - b - c - ab - ac - bc
    assert v.settings == pytest.approx((a / 3 - ab / 6 - ac / 9 + abc / 18) / 12)  # 4 settings, 3 seeds, 4 splits
    assert v.seeds > 0
    with pytest.raises(InputError, match="n_seeds is 1"):
        unseen.training_variance(net, X, y, n_seeds=1)


def test_jackknife_of_mean_variance_and_training_error():
    """The mean has no bias and error s / sqrt n; the plug-in variance is corrected to divisor n - 1."""
    x = np.random.default_rng(1).standard_normal(30)
    mean = unseen.jackknife(np.mean, x)
    assert mean.bias == pytest.approx(0, abs=1e-12)
    assert mean.estimate.std_error == pytest.approx(x.std(ddof=1) / np.sqrt(30))
    assert unseen.jackknife(np.var, x).corrected == pytest.approx(x.var(ddof=1))
    X = np.random.default_rng(2).standard_normal((40, 5))
    y = X[:, 0] + np.random.default_rng(3).standard_normal(40)
    apparent = unseen.jackknife(lambda X, y: np.mean((y - LinearRegression().fit(X, y).predict(X)) ** 2), X, y)
    assert apparent.bias < 0
    with pytest.raises(InputError, match="same length"):
        unseen.jackknife(np.mean, x[:1])


def test_a_fixed_random_state_does_not_hide_the_starts():
    from sklearn.tree import ExtraTreeClassifier

    X, y = unseen.datasets.load("wine").xy
    pinned, free = (
        unseen.training_variance(ExtraTreeClassifier(random_state=s), X, y, n_seeds=3, random_state=1)
        for s in (7, None)
    )
    assert np.array_equal(pinned.errors, free.errors)
    assert np.ptp(pinned.errors, axis=1).max() > 0
