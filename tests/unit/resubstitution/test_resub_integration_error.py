"""The stated integration error where few kernels decide, or none: against integrals that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import _kernel_integrals as _integrate
from unseen.resubstitution._calibration import search_error

SAMPLERS = ["plain", "antithetic", "sobol"]


def sample(n, d, apart):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] += apart * (2 * y - 1)
    return X, y, LogisticRegression().fit(X, y)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_few_heavy_points_state_an_error_that_holds(sampler):
    """Many kernels decide, but two or three of them have most of the weight."""
    X, y, fitted = sample(40, 2, 0.7)
    weights = np.random.default_rng(2).exponential(size=40) ** 2
    z = in_units_of_its_error(X, y, fitted, sampler=sampler, n_mc=100, sample_weight=weights)
    assert np.mean(z > 3) <= 0.02
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.2


def in_units_of_its_error(X, y, fitted, runs=200, **options):
    """Return how many stated errors each run's value is from the exact integral."""
    exact = R.bolster(fitted, X, y, **{k: v for k, v in options.items() if k not in ("n_mc", "sampler")}).value
    found = [R.bolster(fitted, X, y, exact=False, random_state=s, **options) for s in range(runs)]
    return np.array([abs(e.value - exact) / e.mc_error for e in found])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("d", [1, 2, 10])
def test_one_or_two_deciding_kernels_state_an_error_that_holds(sampler, d):
    """Two groups of Sobol points around one kernel agree by chance, and then stated no error at all in up to 40% of runs."""
    z = in_units_of_its_error(*sample(21, d, 1.0), sampler=sampler, n_mc=100, bandwidth=0.1)
    assert np.mean(z > 3) <= 0.02
    assert np.mean(z > 2) <= 0.1
    assert 0.7 < np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_error_holds_with_two_points_per_kernel(sampler):
    z = in_units_of_its_error(*sample(21, 2, 1.0), sampler=sampler, n_mc=2)
    assert np.mean(z > 3) <= 0.02
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.2


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_points_that_miss_a_rare_share_do_not_call_it_exact(sampler):
    """0.0001 of all kernel points is misclassified: most runs see none, and stated an error of 0."""
    X, y, fitted = sample(40, 2, 2.5)
    z = in_units_of_its_error(X, y, fitted, sampler=sampler, n_mc=100, bandwidth=0.3)
    assert z.max() < 4
    none = R.bolster(
        lambda points: (points[:, 0] > 0).astype(int), 50.0 * (2 * y[:, None] - 1), y, bandwidth=1.0, n_mc=64
    )
    assert (none.value, none.mc_error) == (0.0, pytest.approx(1 / (40 * 64)))  # one point of all could be otherwise


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_kernels_without_width_are_integrated_exactly(sampler):
    X, y, fitted = sample(21, 2, 1.0)
    e = R.bolster(fitted, X, y, exact=False, bandwidth=0.0, sampler=sampler)
    assert (e.value, e.mc_error) == (np.mean(fitted.predict(X) != y), 0.0)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_further_points_judge_the_error_and_leave_the_value(monkeypatch, sampler):
    X, y, fitted = sample(21, 10, 1.0)
    options = {"exact": False, "bandwidth": 0.1, "n_mc": 4, "sampler": sampler, "random_state": 3}
    e = R.bolster(fitted, X, y, **options)
    asked = []
    monkeypatch.setattr(_integrate, "DEGREES", 0)
    alone = R.bolster(lambda p: asked.append(len(p)) or fitted.predict(p), X, y, **options)
    assert asked[-1] == 21 * 4
    np.testing.assert_array_equal(e.contributions, alone.contributions)


def test_lattices_around_few_kernels_state_an_error_that_holds():
    rng = np.random.default_rng(0)
    y = np.arange(21) % 3
    X = rng.standard_normal((21, 3)) + 3 * np.eye(3)[y]
    fitted = LogisticRegression().fit(X, y)
    runs = [R.bayesian(fitted, X, y, random_state=s) for s in range(200)]
    values, errors = np.array([(e.value, e.mc_error) for e in runs]).T
    z = (values - values.mean()) / errors
    assert np.mean(np.abs(z) > 3) <= 0.02
    assert 0.85 < np.sqrt(np.mean(z**2)) < 1.2


def test_the_error_of_choosing_a_scale_by_rounding_to_steps():
    """The mean bias is off by a normal error, and the scale goes to the nearest step: what that does to the estimate, drawn."""
    rng = np.random.default_rng(0)
    kappas = 1 + 0.1 * np.arange(40)
    for left, noise in ((0.0, 0.004), (-0.003, 0.002), (0.004, 0.02)):
        curve = np.column_stack([kappas, 0.1 * (kappas - kappas[20]) + left, np.zeros(40)])
        off = rng.normal(0, noise, 200_000)
        moved = 0.01 * np.round((curve[20, 1] + off) / 0.01)
        assert search_error(curve, kappas[20], noise, grid=True) == pytest.approx(np.sqrt(np.mean(moved**2)), rel=0.02)
        assert search_error(curve, kappas[20], noise, grid=False) == noise
    above = np.column_stack([kappas, np.full(40, 0.1), np.zeros(40)])
    assert search_error(above, 1.0, 0.01, grid=True) == 0.0  # at its limit the scale does not move


@pytest.mark.slow
@pytest.mark.parametrize("search", [pytest.param("step", marks=pytest.mark.sample), "root"])
def test_the_calibrated_error_counts_the_points_of_the_search(search):
    """Same splits, other kernel points: kappa moves too, and with steps the value moved by 1.4 times what was stated."""
    X, y = GaussianBlocks().draw(100, np.random.default_rng(100)).xy
    fitted = KNeighborsClassifier(3).fit(X, y)
    options = {"search": search, "random_state": 1, "n_mc": 40, "r": 2}
    runs = [R.calibrated_bolster(fitted, X, y, draws=s, **options) for s in range(50)]
    assert len({e.kappa for e in runs}) > 1
    spread = np.std([e.value for e in runs], ddof=1)
    # the relative error of a standard deviation from 50 runs is 10%
    assert np.sqrt(np.mean([e.mc_error**2 for e in runs])) == pytest.approx(spread, rel=0.25)


def test_a_calibration_by_exact_integrals_has_no_integration_error():
    X, y, fitted = sample(60, 3, 0.5)
    assert R.calibrated_bolster(fitted, X, y, search="root", random_state=0).mc_error == 0.0
