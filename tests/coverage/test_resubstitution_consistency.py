"""Theorem 2 of Ghane (2022) by simulation: kernels shrink with n, and bolstering tends to the true error of the rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks

pytestmark = pytest.mark.slow
POPULATION = GaussianBlocks(n_informative=2, n_noise=0, delta=0.8)


def true_error(fitted):
    """Error of a linear rule on the population, in closed form."""
    a, b = fitted.coef_[0], fitted.intercept_[0]
    sd = np.linalg.norm(a @ POPULATION._mix)
    centre = POPULATION.delta * a.sum()
    return 0.5 * (ndtr((-centre + b) / sd) + ndtr(-(centre + b) / sd))


@pytest.mark.parametrize("method", [R.bolster, R.semi_bolster, R.naive_bayes_bolster])
def test_linear_rules(method):
    sizes, runs = (50, 400, 3200, 25_600), 30
    widths, gaps = [], []
    for n in sizes:
        found = []
        for seed in range(runs):
            X, y = POPULATION.draw(n, np.random.default_rng([seed, n])).xy
            fitted = LinearDiscriminantAnalysis().fit(X, y)
            e = method(fitted, X, y)
            found.append((e.value - true_error(fitted), e.bandwidth.mean()))
        gap, width = np.array(found).T
        gaps.append(np.sqrt((gap**2).mean()))
        widths.append(width.mean())
    # in the plane the mean nearest-neighbour distance falls like n^(-1/2): by sqrt(8) from size to size
    if method is not R.naive_bayes_bolster:
        np.testing.assert_allclose(np.array(widths[:-1]) / widths[1:], np.sqrt(8), rtol=0.25)
    assert np.all(np.diff(widths) < 0)
    if method is R.semi_bolster:
        assert gaps[-1] < gaps[0] / 3
        return
    assert np.all(np.diff(gaps) < 0)
    assert gaps[-1] < 0.004


def test_pruned_trees():
    """A rule of finite complexity that is not linear, integrated by Monte Carlo."""
    gaps = []
    for n in (100, 1000, 10_000):
        found = []
        for seed in range(10):
            rng = np.random.default_rng([seed, n])
            X, y = POPULATION.draw(n, rng).xy
            fitted = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
            e = R.bolster(fitted, X, y, n_mc=50, random_state=seed)
            found.append(e.value - POPULATION.true_error(fitted.predict, rng, 200_000))
        gaps.append(np.sqrt(np.mean(np.square(found))))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.01
