"""Integrals: exact against the normal distribution function, against scipy, against plain Monte Carlo; draws and batches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, uniform
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

import unseen
from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution import _kernel_draws as _draws
from unseen.resubstitution import _kernel_integrals as _integrate
from unseen.resubstitution.kernels import Full, UniformBall, as_kernel

DATA = GaussianBlocks().draw(60, np.random.default_rng(5))
X, Y = DATA.xy
LINEAR = [
    LinearSVC(),
    SVC(kernel="linear"),
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    Perceptron(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
]


def threshold_at(t):
    return lambda points: (points[:, 0] > t).astype(int)


class Threshold:
    """I(x > t), stated as a linear rule."""

    classes_ = np.array([0, 1])

    def __init__(self, t):
        self.coef_, self.intercept_ = np.array([[1.0]]), np.array([-t])
        self.predict = threshold_at(t)


def test_one_dimensional_threshold():
    x, y = np.array([-2.0, -0.5, 0.4, 1.0, 2.5]), np.array([0, 0, 0, 1, 1])
    expected = np.where(y == 0, norm.sf(0.3, x, 0.8), norm.cdf(0.3, x, 0.8))
    exact = R.bolster(Threshold(0.3), x[:, None], y, bandwidth=0.8)
    np.testing.assert_allclose(exact.contributions, expected, rtol=1e-12)
    assert exact.value == pytest.approx(expected.mean())
    assert (exact.integration, exact.mc_error) == ("exact", 0.0)
    drawn = R.bolster(threshold_at(0.3), x[:, None], y, bandwidth=0.8, n_mc=4000, random_state=0)
    assert abs(drawn.value - expected.mean()) < 4 * drawn.mc_error
    assert np.all(np.abs(drawn.contributions - expected) < 5 * 0.5 / np.sqrt(4000))


def test_nearest_neighbour_sizes_in_one_dimension_by_hand():
    x, y = np.array([0.0, 1.0, 3.0, 10.0, 14.0]), np.array([0, 0, 0, 1, 1])
    sigma = np.where(y == 0, (1 + 1 + 2) / 3, 4.0) / norm.ppf(0.75)
    expected = np.where(y == 0, norm.sf((5 - x) / sigma), norm.cdf((5 - x) / sigma))
    np.testing.assert_allclose(R.bolster(Threshold(5.0), x[:, None], y).contributions, expected, rtol=1e-12)


@pytest.mark.parametrize("model", LINEAR, ids=lambda m: type(m).__name__ + str(getattr(m, "kernel", "")))
def test_linear_classifiers_are_exact_and_agree_with_the_formula(model):
    fitted = model.fit(X, Y)
    e = R.bolster(fitted, X, Y, bandwidth=[0.5, 0.9])
    a, b = fitted.coef_.ravel(), float(np.ravel(fitted.intercept_)[0])
    sigma = np.where(Y == 0, 0.5, 0.9)
    expected = norm.cdf((-1.0) ** Y * (X @ a + b) / (sigma * np.linalg.norm(a)))
    assert e.integration == "exact"
    np.testing.assert_allclose(e.contributions, expected, rtol=1e-10)


S_FULL = 0.4 * np.eye(10) + 0.2


@pytest.mark.parametrize("method", [R.bolster, R.semi_bolster])
@pytest.mark.parametrize(
    "kernel",
    ["spherical", "diagonal", "full", "uniform-ball", Full(bandwidth=1.0, covariance=S_FULL), UniformBall(3.0)],
    ids=str,
)
@pytest.mark.parametrize("space", ["auto", "input"])
def test_monte_carlo_agrees_with_exact(method, kernel, space):
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X * np.arange(1, 11), Y)
    scaled = X * np.arange(1, 11)
    exact = method(fitted, scaled, Y, kernel=kernel, space=space)
    drawn = method(fitted, scaled, Y, kernel=kernel, space=space, exact=False, n_mc=400, random_state=1)
    assert exact.integration == "exact"
    assert exact.mc_error == 0
    assert drawn.integration.startswith("Monte Carlo")
    assert 0 < drawn.mc_error < 0.01
    assert abs(exact.value - drawn.value) < 4 * drawn.mc_error
    sd = np.sqrt(np.maximum(exact.contributions * (1 - exact.contributions), 1e-3) / 400)
    assert np.abs((exact.contributions - drawn.contributions) / sd).max() < 5


def test_the_space_is_after_the_transformers_unless_asked():
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    Z = fitted[:-1].transform(X)
    after, raw = R.bolster(fitted, X, Y), R.bolster(fitted, X, Y, space="input")
    assert (after.space, raw.space) == ("after StandardScaler", "input")
    assert after.value == pytest.approx(R.bolster(fitted[-1], Z, Y).value)
    assert after.value != raw.value


@pytest.mark.parametrize(
    ("transformer", "exact"), [(MinMaxScaler(), True), (MinMaxScaler(clip=True), False), (PolynomialFeatures(2), False)]
)
def test_only_affine_transformers_are_composed(transformer, exact):
    fitted = make_pipeline(transformer, LogisticRegression(max_iter=2000)).fit(X, Y)
    e = R.bolster(fitted, X, Y, space="input", n_mc=10, random_state=0)
    assert (e.integration == "exact") is exact


def test_votes_of_a_multi_class_svm_are_not_taken_for_linear():
    data = unseen.datasets.load("iris")
    fitted = SVC(kernel="linear").fit(*data.xy)
    assert R.bolster(fitted, *data.xy, n_mc=5, random_state=0).integration.startswith("Monte Carlo")


def test_a_wrongly_stated_linear_rule_is_not_believed():
    rule = Threshold(0.3)
    rule.predict = threshold_at(-5.0)
    e = R.bolster(rule, np.array([[-1.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 1], n_mc=5, random_state=0)
    assert e.integration.startswith("Monte Carlo")


@pytest.mark.parametrize("kernel", ["spherical", "diagonal", "full"])
def test_several_classes_against_scipy_orthants(kernel):
    X3, y3 = unseen.datasets.load("iris").xy
    fitted = LogisticRegression(max_iter=2000).fit(X3, y3)
    e = R.bolster(fitted, X3, y3, kernel=kernel, random_state=0)
    assert e.integration.startswith("orthant")
    codes = np.searchsorted(fitted.classes_, y3)
    spread = as_kernel(kernel).spread(X3, codes, fitted.classes_)
    for i in range(0, 150, 13):
        y = codes[i]
        others = [k for k in range(3) if k != y]
        A = fitted.coef_[y] - fitted.coef_[others]
        root = spread.project(A, y)
        mean = A @ X3[i] + fitted.intercept_[y] - fitted.intercept_[others]
        correct = multivariate_normal(np.zeros(2), root @ root.T).cdf(mean)
        assert e.contributions[i] == pytest.approx(1 - correct, abs=2e-3)


def test_the_error_of_lattices_is_their_spread_over_seeds():
    X3, y3 = unseen.datasets.load("iris").xy
    fitted = LogisticRegression().fit(X3[:, :2], y3)
    runs = [R.bolster(fitted, X3[:, :2], y3, scale=3.0, random_state=seed) for seed in range(100)]
    assert runs[0].integration.startswith("orthant probabilities")
    spread = np.std([e.value for e in runs], ddof=1)
    # the relative error of a standard deviation from 100 runs is 7%
    assert np.sqrt(np.mean([e.mc_error**2 for e in runs])) == pytest.approx(spread, rel=0.28)


def test_several_classes_against_monte_carlo():
    X3, y3 = unseen.datasets.load("digits").xy
    X3, y3 = X3[:200], y3[:200]
    fitted = LogisticRegression(max_iter=300).fit(X3, y3)
    orthant = R.bolster(fitted, X3, y3, scale=1.5, random_state=0)
    drawn = R.bolster(fitted, X3, y3, scale=1.5, random_state=0, exact=False, n_mc=300)
    assert orthant.mc_error < drawn.mc_error / 3
    assert abs(orthant.value - drawn.value) < 4 * np.hypot(drawn.mc_error, orthant.mc_error)


@pytest.mark.parametrize("kernel", ["spherical", "uniform-ball"])
def test_more_classes_than_dimensions_by_quasi_monte_carlo(kernel):
    """On a line the region of a linear rule is an interval: between the points where its score meets the others'."""
    X3, y3 = unseen.datasets.load("iris").xy
    X1 = X3[:, 2:3]
    fitted = LogisticRegression().fit(X1, y3)
    a, b, codes = fitted.coef_[:, 0], fitted.intercept_, np.searchsorted(fitted.classes_, y3)
    sizes = as_kernel(kernel, scale=5.0).spread(X1, codes, fitted.classes_).bandwidth
    law = norm if kernel == "spherical" else uniform(-1, 2)
    expected = []
    for x, y in zip(X1[:, 0], codes):
        meets = {k: (b[k] - b[y]) / (a[y] - a[k]) for k in range(3) if k != y}
        low = max([t for k, t in meets.items() if a[y] > a[k]], default=-np.inf)
        high = min([t for k, t in meets.items() if a[y] < a[k]], default=np.inf)
        expected.append(1 - max(law.cdf((high - x) / sizes[y]) - law.cdf((low - x) / sizes[y]), 0.0))
    options = {"kernel": kernel, "scale": 5.0, "n_mc": 64, "random_state": 0}
    e, plain = R.bolster(fitted, X1, y3, **options), R.bolster(fitted, X1, y3, exact=False, **options)
    assert e.integration == "quasi Monte Carlo (Sobol), 64 points per kernel"
    assert abs(e.value - np.mean(expected)) < 4 * e.mc_error
    assert e.mc_error < plain.mc_error / 2
    np.testing.assert_allclose(e.contributions, expected, atol=0.06)


@pytest.mark.parametrize("sampler", ["plain", "antithetic", "sobol"])
def test_every_sampler_is_unbiased_and_states_its_error(sampler):
    fitted = LogisticRegression().fit(X, Y)
    exact = R.bolster(fitted, X, Y).value
    runs = [R.bolster(fitted, X, Y, exact=False, n_mc=32, sampler=sampler, random_state=s) for s in range(150)]
    values, errors = np.array([(e.value, e.mc_error) for e in runs]).T
    assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(150)
    # relative error of a standard deviation from 150 runs: 6%
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(ddof=1), rel=0.25)


def test_pairs_and_sobol_points_are_more_exact_than_plain_ones():
    fitted = LogisticRegression().fit(X, Y)
    error = {
        s: R.bolster(fitted, X, Y, exact=False, n_mc=128, sampler=s, random_state=0).mc_error
        for s in ("plain", "antithetic", "sobol")
    }
    assert error["antithetic"] < error["plain"]
    assert error["sobol"] < error["plain"]


@pytest.mark.parametrize("sampler", ["plain", "antithetic", "sobol"])
def test_batches_do_not_change_the_numbers(monkeypatch, sampler):
    fitted = KNeighborsClassifier(3).fit(X, Y)
    once = R.bolster(fitted, X, Y, n_mc=16, sampler=sampler, random_state=0)
    monkeypatch.setattr(_draws, "BUDGET", 16 * 10 * 7)
    monkeypatch.setattr(_integrate, "BATCH", 300)
    again = R.bolster(fitted, X, Y, n_mc=16, sampler=sampler, random_state=0)
    np.testing.assert_array_equal(once.contributions, again.contributions)


def test_one_predict_call_per_batch():
    calls = []

    def predict(points):
        calls.append(len(points))
        return (points[:, 0] > 0).astype(int)

    R.bolster(predict, X, Y, n_mc=50, random_state=0)
    assert calls == [60 * 50]


def test_the_same_draws_serve_every_model():
    seen = {}

    def recorder(name, t):
        def predict(points):
            seen.setdefault(name, []).append(points.copy())
            return (points[:, 0] > t).astype(int)

        return predict

    for name, t in (("one", 0.0), ("two", 0.4)):
        R.bolster(recorder(name, t), X, Y, n_mc=20, draws=7, random_state=len(name) + int(10 * t))
    np.testing.assert_array_equal(seen["one"][0], seen["two"][0])


def test_common_draws_make_differences_sharper():
    near, far = (lambda p: (p[:, 0] > 0.0).astype(int)), (lambda p: (p[:, 0] > 0.1).astype(int))

    def difference(a, b):
        return R.bolster(near, X, Y, n_mc=10, draws=a).value - R.bolster(far, X, Y, n_mc=10, draws=b).value

    common = np.std([difference(s, s) for s in range(40)])
    apart = np.std([difference(s, s + 1000) for s in range(40)])
    assert common < 0.6 * apart


def test_quick_votes_are_the_models_own():
    for k in (1, 2, 5):
        fitted = KNeighborsClassifier(k).fit(X, Y)
        points = np.random.default_rng(k).standard_normal((500, 10))
        from unseen.resubstitution._decision_rules import voting_rule

        np.testing.assert_array_equal(voting_rule(fitted)(points), fitted.predict(points))
    assert voting_rule(KNeighborsClassifier(3, weights="distance").fit(X, Y)) is None
    assert voting_rule(KNeighborsClassifier(3, metric="manhattan").fit(X, Y)) is None
    assert voting_rule(KNeighborsClassifier(3).fit(np.vstack([X, X[:1]]), [*Y, 1 - Y[0]])) is None


@pytest.mark.parametrize(("n", "expected"), [(100, 100), (1000, 100), (2500, 40), (10**6, 10)])
def test_large_samples_need_fewer_points_per_kernel(n, expected):
    from unseen.resubstitution.methods.bolster import Bolster

    assert Bolster().points_per_kernel(n) == expected
    assert Bolster(n_mc=77).points_per_kernel(n) == 77
