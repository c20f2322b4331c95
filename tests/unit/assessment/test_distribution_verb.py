"""`unseen.distribution` end to end."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
import unseen.show
from unseen.core.errors import InputError


def test_values_are_the_test_errors_of_distinct_splits():
    X, y = unseen.datasets.load("diabetes").xy
    d = unseen.distribution(LinearRegression(), X, y, n_splits=50, random_state=0)
    t = unseen.run(LinearRegression(), X, y, design=unseen.designs.LeaveOut(0.25, 50), random_state=0)
    s = t.plan.splits[7]
    by_hand = np.mean((y[s.test] - LinearRegression().fit(X[s.train], y[s.train]).predict(X[s.test])) ** 2)
    assert d.values[7] == pytest.approx(by_hand, rel=1e-9)
    assert len({tuple(s.test) for s in t.plan}) == 50
    assert (d.n_test, d.n_train) == (111, 331)


def test_the_same_seed_pairs_two_models():
    X, y = unseen.datasets.load("breast-cancer").xy
    a = unseen.distribution(DecisionTreeClassifier(max_depth=1), X, y, n_splits=30, random_state=1)
    b = unseen.distribution(GaussianNB(), X, y, n_splits=30, random_state=1)
    c = a.compare(b)
    assert c.corrected_std_error == pytest.approx(c.naive_std_error * np.sqrt(1 + 30 * a.n_test / a.n_train))
    assert c.prob_worse == a.prob_worse(b)
    other = unseen.distribution(GaussianNB(), X, y, n_splits=30, random_state=2)
    with pytest.raises(InputError, match="random_state"):
        a.compare(other)


def test_a_table_is_used_as_it_is():
    X, y = unseen.datasets.load("iris").xy
    t = unseen.run(GaussianNB(), X, y, design=unseen.designs.MonteCarlo(0.2, 12), random_state=0, scores=True)
    assert unseen.distribution(t).values == pytest.approx(t.losses().split_means())
    assert unseen.distribution(t, loss="brier").loss == "brier"
    one = unseen.run(GaussianNB(), X, y, design="holdout", random_state=0)
    with pytest.raises(InputError, match="one split"):
        unseen.distribution(one)


def test_a_loss_that_needs_probabilities_gets_them():
    X, y = unseen.datasets.load("iris").xy
    d = unseen.distribution(GaussianNB(), X, y, n_splits=5, loss="log-loss", random_state=0)
    assert d.loss == "log-loss"
    assert np.all(d.values > 0)


def test_failed_fits_are_left_out_and_noted():
    class Fussy(LinearRegression):
        def fit(self, X, y):
            if 0.0 in X[:, 0]:
                raise ValueError("zero found")
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    X[0, 0] = 0.0
    d = unseen.distribution(Fussy(), X, y, n_splits=40, random_state=0, task="regression")
    assert 0 < len(d.values) < 40
    assert [n.code for n in d.notes] == ["U008"]
    full = unseen.distribution(LinearRegression(), X, y, n_splits=40, random_state=0, task="regression")
    c = d.compare(full)
    assert np.abs(c.values).max() < 1e-9


def test_too_few_distinct_splits_are_refused():
    with pytest.raises(InputError, match="distinct"):
        unseen.distribution(LinearRegression(), np.eye(5), np.arange(5.0), n_splits=500, task="regression")


def test_least_squares_carries_the_law_and_its_plot_draws_it():
    import matplotlib as mpl

    mpl.use("Agg")
    from scipy import stats
    from sklearn.linear_model import LinearRegression, Ridge

    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = X @ np.ones(4) + rng.standard_normal(60)
    d = unseen.distribution(LinearRegression(), X, y, n_splits=40, random_state=0)
    residuals = y - LinearRegression().fit(X, y).predict(X)
    sigma2 = residuals @ residuals / (60 - 5)
    grid = sigma2 * (1 + stats.chi2(5).ppf([0.05, 0.5, 0.95]) / 60)
    assert [d.law.fractile(q) for q in (0.05, 0.5, 0.95)] == pytest.approx(grid.tolist(), rel=1e-9)
    assert d.law.cdf(grid) == pytest.approx([0.05, 0.5, 0.95])
    assert d.law.cdf(np.array([0.5 * sigma2])) == 0.0
    for shown, back in ((d, lambda g: g), (d.log1p(), np.expm1)):
        (line,) = unseen.show.info(shown, "error-distribution").lines
        assert np.interp(grid[1], back(line.errors), line.heights) == pytest.approx(0.5, abs=1e-3)
        labels = [text.get_text() for text in shown.plot().get_legend().get_texts()]
        assert labels[1] == "asymptotic law, trained on all 60"
    assert not hasattr(unseen.distribution(Ridge(1.0), X, y, n_splits=10, random_state=0), "law")
    absolute = unseen.distribution(LinearRegression(), X, y, n_splits=10, loss="absolute", random_state=0)
    assert not hasattr(absolute, "law"), "the law is one of squared errors"
