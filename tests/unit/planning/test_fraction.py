"""The optimal hold-out fraction against its closed form, a simulation, and a numerical minimum."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.planning.fraction import holdout_mse


def test_closed_forms_at_the_documented_point():
    gamma = unseen.optimal_fraction(100, 5)
    assert gamma == pytest.approx(1 - np.sqrt(10 / 100))
    assert gamma.root == pytest.approx(1.1 - np.sqrt(0.11))
    assert gamma.exact == pytest.approx(0.69)
    assert gamma.rule == "leading order"


def test_kurtosis_enters_through_beta():
    assert unseen.optimal_fraction(1000, 5, kurtosis=6).beta == pytest.approx(4 * 5 / 5)
    assert unseen.optimal_fraction(1000, 5, kurtosis=6) > unseen.optimal_fraction(1000, 5)
    assert unseen.optimal_fraction(1000, 5, kurtosis=1.5) < unseen.optimal_fraction(1000, 5)


@pytest.mark.parametrize(("n", "p"), [(50, 1), (50, 2), (100, 5), (200, 10), (400, 3), (400, 20), (1000, 20)])
def test_leading_order_is_near_the_numerical_minimum(n, p):
    gamma = unseen.optimal_fraction(n, p)
    assert gamma.rule == "leading order"
    assert abs(gamma - gamma.exact) <= 0.02 + 1e-12


@pytest.mark.parametrize("kurtosis", [2.0, 3.0, 9.0])
def test_twenty_units_to_a_weight_leave_at_most_two_points(kurtosis):
    for n in (50, 77, 100, 500, 1000, 2000, 20_000):
        for p in {1, 2, n // 50 or 1, n // 25 or 1, n // 20}:
            gamma = unseen.optimal_fraction(n, p, kurtosis)
            assert abs(gamma - gamma.exact) <= 0.02 + 1e-9, (n, p)
    # the expansion holds p fixed; with p / n fixed it errs by .024 however large n is, so the minimum is returned
    far = unseen.optimal_fraction(20_000, 1000)
    assert far.rule == "numerical"
    assert abs(1 - np.sqrt(far.beta / far.n) - far) == pytest.approx(0.024, abs=5e-4)


def test_the_minimum_tends_to_the_root_of_its_large_p_limit():
    # v becomes p / (t - p): minimise (t / (t - b/2))^2 / (1 - t) for shares t, so t^2 + (b/2) t - b = 0 with b = 2 p / n
    b = 0.1
    limit = 1 - (-b / 2 + np.sqrt(b * b / 4 + 4 * b)) / 2
    assert unseen.optimal_fraction(20_000, 1000).exact == pytest.approx(limit, abs=5e-4)


def test_small_samples_use_the_numerical_minimum():
    gamma = unseen.optimal_fraction(20, 10)
    sizes = np.arange(14, 20)
    assert gamma.rule == "numerical"
    assert gamma == pytest.approx(1 - sizes[np.argmin(holdout_mse(sizes, 20, 10))] / 20)


def test_mean_squared_error_by_simulation():
    n, n_train, p, draws = 40, 25, 4, 6000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((draws, n, p))
    y = rng.standard_normal((draws, n))
    T = X[:, :n_train]
    w = np.linalg.solve(T.transpose(0, 2, 1) @ T, T.transpose(0, 2, 1) @ y[:, :n_train, None])[..., 0]
    estimate = np.mean((y[:, n_train:] - np.einsum("dnp,dp->dn", X[:, n_train:], w)) ** 2, axis=1)
    true = 1 + np.square(w).sum(axis=1)
    squared = (estimate - true) ** 2
    assert holdout_mse(n_train, n, p) == pytest.approx(squared.mean(), abs=4 * squared.std() / np.sqrt(draws))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((10, 0), "p is 0"), ((0, 1), "n is 0"), ((10.5, 1), "whole"), ((12, 10), "p \\+ 3"), ((True, 1), "whole")],
)
def test_refusals(arguments, words):
    with pytest.raises(InputError, match=words):
        unseen.optimal_fraction(*arguments)


def test_refuses_an_impossible_kurtosis():
    with pytest.raises(InputError, match="kurtosis"):
        unseen.optimal_fraction(100, 5, kurtosis=1.0)


def test_shows_itself():
    gamma = unseen.optimal_fraction(100, 5)
    assert gamma.to_dict()["fraction"] == pytest.approx(0.6838, abs=1e-4)
    assert "leading order" in str(gamma)
    assert gamma.frame().shape == (1, 8)
