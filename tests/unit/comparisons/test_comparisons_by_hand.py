"""Tests of two models where a slip would be easy to miss: weights, large counts, certain p-values, ties."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.comparisons.adjust import adjusted
from unseen.comparisons.delong import DeLong
from unseen.comparisons.friedman import friedman
from unseen.comparisons.mcnemar import mcnemar_p
from unseen.comparisons.permutation import Permutation
from unseen.comparisons.wilcoxon import signed_rank
from unseen.measures._delong import delong


def test_permutation_flips_weighted_differences(loss_table):
    weights, gaps = np.array([1.0, 5.0, 2.0, 1.0, 3.0]), np.array([3.0, -1.0, 2.0, 4.0, 0.5])
    pairs = [(np.arange(5, 9), np.arange(5))]
    a, b = (
        loss_table(pairs, [losses], "holdout", n=9, weights=np.r_[weights, np.ones(4)], model=name)
        for name, losses in (("a", 5 + gaps), ("b", np.full(5, 5.0)))
    )
    found = Permutation()(a, b)
    observed = abs(weights @ gaps)
    flips = [abs(np.array(signs) @ (weights * gaps)) for signs in product((-1, 1), repeat=5)]
    assert found.p == pytest.approx(np.mean(np.array(flips) >= observed - 1e-12))
    assert found.p != pytest.approx(
        np.mean([abs(np.array(s) @ gaps) >= abs(gaps.sum()) - 1e-12 for s in product((-1, 1), repeat=5)])
    )


def test_a_p_value_of_nought_stays_nought_and_missing_ones_do_not_count():
    assert adjusted([0.0, None, 0.5, float("nan")])[:3] == [0.0, None, 0.5]


def test_mid_p_takes_off_the_chance_of_the_count_itself_also_for_large_counts():
    for first, second in ((3, 9), (560, 640)):
        n, least = first + second, min(first, second)
        exact = 2 * stats.binom.cdf(least, n, 0.5)
        assert mcnemar_p(first, second, "mid-p") == pytest.approx(exact - stats.binom.pmf(least, n, 0.5), rel=1e-9)


def test_the_normal_signed_rank_limit_corrects_for_ties_as_scipy_does():
    differences = np.round(np.random.default_rng(0).normal(0.3, 2.0, 150))
    kept = differences[differences != 0]
    wanted = stats.wilcoxon(kept, correction=False, method="asymptotic")
    statistic, p, how = signed_rank(differences)
    assert len(kept) > 100
    assert "normal" in how
    assert (statistic, p) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_friedman_with_ties_is_scipys():
    errors = np.random.default_rng(1).integers(0, 4, (14, 4)).astype(float)
    ranks = stats.rankdata(errors, axis=1)
    wanted = stats.friedmanchisquare(*errors.T)
    assert friedman(ranks)[:2] == pytest.approx((wanted.statistic, wanted.pvalue))


def test_interval_of_one_area_is_that_of_its_error():
    """1 - AUC of the first model, its ends one minus those of the area on the logit scale."""
    X, y = unseen.datasets.load("breast-cancer").xy
    table = unseen.run(GaussianNB(), X[:, :1], y, design="holdout", scores=True, random_state=0)
    made = DeLong().alone(table.losses())
    truth = table.data.codes[table.test.row] == 1
    areas, covariance = delong(truth, table.test.score[:, 1])
    half = stats.norm.ppf(0.975) * np.sqrt(covariance[0, 0]) / (areas[0] * (1 - areas[0]))
    odds = np.log(areas[0] / (1 - areas[0]))
    assert made.value == pytest.approx(1 - areas[0])
    assert tuple(made.interval) == pytest.approx((1 / (1 + np.exp(odds + half)), 1 / (1 + np.exp(odds - half))))


def test_difference_of_areas_counts_groups_and_not_their_rows():
    X, y = unseen.datasets.load("breast-cancer").xy
    X, y, groups = np.repeat(X[:, :2], 2, axis=0), np.repeat(y, 2), np.repeat(np.arange(len(y)), 2)
    a, b = (
        unseen.run(GaussianNB(), X[:, [k]], y, groups=groups, design="holdout", scores=True, random_state=0)
        for k in (0, 1)
    )
    rows = a.test.row
    _, covariance = delong(a.data.codes[rows] == 1, a.test.score[:, 1], b.test.score[:, 1], units=groups[rows])
    se = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert DeLong()(a.losses(), b.losses()).estimate.std_error == pytest.approx(se)
