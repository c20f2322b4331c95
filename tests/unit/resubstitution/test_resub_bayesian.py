"""The Bayesian estimate against its formula and against Monte Carlo over the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks

DATA = GaussianBlocks().draw(30, np.random.default_rng(12))
X, Y = DATA.xy
S = GaussianBlocks()._mix @ GaussianBlocks()._mix.T
COUNTS = np.bincount(Y)


@pytest.mark.parametrize("v0", [0.0, 7.0])
def test_closed_form(v0):
    fitted = LogisticRegression().fit(X, Y)
    prior = np.vstack([np.full(10, -0.2), np.full(10, 0.3)])
    e = R.bayesian(fitted, X, Y, covariance=S, prior_mean=prior, prior_weight=v0)
    a, b = fitted.coef_[0], fitted.intercept_[0]
    errors = []
    for y in (0, 1):
        v = v0 + COUNTS[y]
        m = (v0 * prior[y] + COUNTS[y] * X[y == Y].mean(axis=0)) / v
        errors.append(norm.cdf((-1) ** y * (a @ m + b) / np.sqrt(a @ S @ a) * np.sqrt(v / (v + 1))))
    expected = (COUNTS + 1) @ errors / (30 + 2)
    assert e.value == pytest.approx(expected, rel=1e-10)
    assert e.integration == "exact"
    np.testing.assert_allclose(e.contributions, np.array(errors)[Y])
    assert [n.code for n in e.notes] == ["U016"]


def test_it_is_the_mean_true_error_over_the_posterior():
    """Draw means and class shares from their posterior and average the true error of the fitted rule."""
    fitted = LinearDiscriminantAnalysis().fit(X, Y)
    a, b = fitted.coef_[0], fitted.intercept_[0]
    rng = np.random.default_rng(0)
    share = rng.beta(COUNTS[1] + 1, COUNTS[0] + 1, 40_000)
    errors = np.zeros((2, 40_000))
    for y in (0, 1):
        means = multivariate_normal(X[y == Y].mean(axis=0), S / COUNTS[y]).rvs(40_000, random_state=rng)
        errors[y] = norm.cdf((-1) ** y * (means @ a + b) / np.sqrt(a @ S @ a))
    true = (1 - share) * errors[0] + share * errors[1]
    e = R.bayesian(fitted, X, Y, covariance=S)
    assert abs(e.value - true.mean()) < 4 * true.std() / np.sqrt(len(true))


def test_several_classes_and_any_model_over_the_posterior():
    X3, y3 = unseen.datasets.load("iris").xy
    X3 = X3[:, :2]
    classes, codes = np.unique(y3, return_inverse=True)
    S3 = np.array([[0.27, 0.09], [0.09, 0.11]])
    rng = np.random.default_rng(1)
    for model in (LogisticRegression(), KNeighborsClassifier(9)):
        fitted = model.fit(X3, y3)
        e = R.bayesian(fitted, X3, y3, covariance=S3, n_mc=20_000, random_state=0)
        draws = []
        for y in range(3):
            means = multivariate_normal(X3[codes == y].mean(axis=0), S3 / 50).rvs(20_000, random_state=rng)
            points = means + multivariate_normal(np.zeros(2), S3).rvs(20_000, random_state=rng)
            draws.append(fitted.predict(points) != classes[y])
        rates = np.mean(draws, axis=1)
        error = np.sqrt((rates * (1 - rates)).sum() / 20_000) / 3
        assert abs(e.value - rates.mean()) < 4 * np.hypot(error, e.mc_error)
        np.testing.assert_allclose(e.value, np.mean([e.contributions[codes == y].mean() for y in range(3)]))


def drawn_from_its_model(rng, d, n, v0):
    """Return a rule trained on data whose class shares and means come from the prior, and its true error."""
    prior = np.vstack([np.full(d, -0.8 / np.sqrt(d)), np.full(d, 0.8 / np.sqrt(d))])
    share, means = rng.random(), prior + rng.standard_normal((2, d)) / np.sqrt(v0)
    y = (rng.random(n) < share).astype(int)
    if np.bincount(y, minlength=2).min() < 2:
        return drawn_from_its_model(rng, d, n, v0)
    x = means[y] + rng.standard_normal((n, d))
    fitted = LinearDiscriminantAnalysis().fit(x, y)
    a, b = fitted.coef_[0], fitted.intercept_[0]
    low, high = (norm.cdf((-1) ** k * (a @ means[k] + b) / np.linalg.norm(a)) for k in (0, 1))
    return x, y, fitted, prior, (1 - share) * low + share * high


@pytest.mark.slow
@pytest.mark.sample
def test_on_data_from_its_model_it_is_unbiased_and_nearest_to_the_truth():
    """And without the prior, or with a covariance from the same points, it is neither: so the notes say."""
    rng, found = np.random.default_rng(4), []
    for _ in range(250):
        x, y, fitted, prior, truth = drawn_from_its_model(rng, 10, 30, 3.0)
        given = {"covariance": np.eye(10)}
        made = (
            R.bayesian(fitted, x, y, prior_mean=prior, prior_weight=3.0, **given),
            R.bayesian(fitted, x, y, **given),
            R.bayesian(fitted, x, y),
            R.bolster(fitted, x, y),
            R.posterior(fitted, x, y),
            R.resub(fitted, x, y),
        )
        found.append([e.value - truth for e in made])
    off = np.array(found)
    error = off.std(axis=0, ddof=1) / np.sqrt(len(off))
    assert abs(off[:, 0].mean()) < 3 * error[0]
    rms = np.sqrt((off**2).mean(axis=0))
    assert np.all(rms[0] < 0.95 * rms[1:])
    assert off[:, 2].mean() < off[:, 1].mean() - 3 * error[2] < -3 * error[1] - 3 * error[2]
    assert "too good" in made[1].notes[0].text
    assert "better still" in made[2].notes[1].text
    assert "too good" not in made[0].notes[0].text


def test_pooled_covariance_by_default_with_a_note():
    fitted = LogisticRegression().fit(X, Y)
    gap = np.vstack([X[y == Y] - X[y == Y].mean(axis=0) for y in (0, 1)])
    given = R.bayesian(fitted, X, Y, covariance=gap.T @ gap / 28)
    default = R.bayesian(fitted, X, Y)
    assert default.value == pytest.approx(given.value, rel=1e-10)
    assert [n.code for n in default.notes] == ["U016", "U023"]


def test_a_strong_prior_wins():
    fitted = LogisticRegression().fit(X, Y)
    a, b = fitted.coef_[0], fitted.intercept_[0]
    prior = np.vstack([np.full(10, -0.39), np.full(10, 0.39)])
    e = R.bayesian(fitted, X, Y, covariance=S, prior_mean=prior, prior_weight=1e9)
    errors = [norm.cdf((-1) ** y * (a @ prior[y] + b) / np.sqrt(a @ S @ a)) for y in (0, 1)]
    assert e.value == pytest.approx((COUNTS + 1) @ errors / 32, rel=1e-6)


def test_more_features_than_points_give_what_the_whole_covariance_gives(monkeypatch):
    monkeypatch.setattr("unseen.resubstitution.methods.bayesian.WIDE", 0)
    rng = np.random.default_rng(8)
    y = np.arange(14) % 2
    X = rng.standard_normal((14, 30)) + 0.4 * y[:, None]
    fitted = LogisticRegression().fit(X, y)
    gap = X - np.array([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    found, given = (
        unseen.estimate(fitted, X, y, method="bayesian", fitted=True, random_state=0, **options).value
        for options in ({}, {"covariance": gap.T @ gap / 12})
    )
    assert 0.001 < found < 0.5
    assert found == pytest.approx(given, rel=1e-9)
