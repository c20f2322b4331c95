"""Estimators where a slip would be easy to miss: effective sizes of rates, bias and skewness of BCa, groups out of bag."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.measure import Loss
from unseen.datasets.conversion import as_data
from unseen.estimators._jackknife import influences, out_of_bag
from unseen.estimators.bootstrap_intervals import Bca, BootstrapPercentile, bca_ends
from unseen.estimators.bootstrap_loo import BootstrapLoo
from unseen.estimators.clopper_pearson import ClopperPearson
from unseen.estimators.out_of_bag import OutOfBagInterval
from unseen.estimators.plain_means import LeaveOutError, MonteCarloError
from unseen.estimators.t_test import TTest
from unseen.estimators.wald import Wald
from unseen.estimators.wilson import Wilson, wilson_interval
from unseen.measures.brier import Brier


def held_out(loss_table, losses, groups=None, weights=None):
    """Return a hold-out table of a rate: these rows tested, forty more in training."""
    n = len(losses)
    groups = None if groups is None else np.concatenate([groups, np.arange(1000, 1040)])
    weights = None if weights is None else np.concatenate([weights, np.ones(40)])
    pairs = [(np.arange(n, n + 40), np.arange(n))]
    return loss_table(pairs, [losses], "holdout", rate=True, n=n + 40, groups=groups, weights=weights)


def test_effective_size_keeps_the_standard_error_of_weighted_and_grouped_rates(loss_table):
    """n_eff = p (1 - p) / SE^2, so the rate's own sqrt(p (1 - p) / n_eff) is the clustered standard error again."""
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 2, 40)
    for columns in ({"weights": rng.uniform(0.5, 4.0, 40)}, {"groups": np.arange(40) // 2}):
        table = held_out(loss_table, losses, **columns)
        wilson, wald = Wilson()(table), Wald()(table)
        assert wilson.std_error == pytest.approx(wald.std_error, rel=1e-12)
        assert "U016" in [n.code for n in wilson.notes]
        size = wilson.value * (1 - wilson.value) / wald.std_error**2
        assert 1 < size < 40
        if "groups" in columns:  # 20 pairs: the error has 19 degrees of freedom (Korn & Graubard, 1998)
            size *= (stats.t.ppf(0.975, 39) / stats.t.ppf(0.975, 19)) ** 2
        assert tuple(wilson.interval) == pytest.approx(wilson_interval(wilson.value, size, 0.95), rel=1e-12)


def test_groups_whose_rows_disagree_count_as_all_their_rows_and_no_more(loss_table):
    """Nine pairs with one error each and one with two: far less spread between pairs than chance, 11 errors of 20."""
    losses = np.r_[np.tile([1, 0], 9), [1, 1]]
    grouped = Wilson()(held_out(loss_table, losses, groups=np.arange(20) // 2))
    assert tuple(grouped.interval) == pytest.approx(tuple(Wilson()(held_out(loss_table, losses)).interval))


@pytest.mark.parametrize("method", [Wilson(), ClopperPearson()])
def test_without_an_error_groups_count_and_not_their_rows(loss_table, method):
    grouped = method(held_out(loss_table, np.zeros(50, int), groups=np.arange(50) // 5))
    assert grouped.interval.high == pytest.approx(method(held_out(loss_table, np.zeros(10, int))).interval.high)


@pytest.mark.parametrize("method", [Wilson(), ClopperPearson()])
def test_all_wrong_and_one_wrong_have_their_closed_ends(loss_table, method):
    every = method(held_out(loss_table, np.ones(12, int))).interval
    none = method(held_out(loss_table, np.zeros(12, int))).interval
    assert (every.low, every.high) == pytest.approx((1 - none.high, 1.0), abs=1e-12)
    one = method(held_out(loss_table, np.r_[1, np.zeros(11, int)])).interval
    assert one.low > 0
    if isinstance(method, ClopperPearson):
        assert every.low == pytest.approx(0.025 ** (1 / 12))
        assert 1 - (1 - one.low) ** 12 == pytest.approx(0.025)


def test_a_rate_in_other_units_scales_with_them(loss_table):
    plain = held_out(loss_table, np.r_[np.ones(7, int), np.zeros(23, int)], groups=np.arange(30) // 2)
    dear = replace(plain, test=replace(plain.test, value=5 * plain.test.value), range=(0.0, 5.0))
    one, five = Wilson()(plain), Wilson()(dear)
    assert five.value == pytest.approx(5 * one.value)
    assert five.std_error == pytest.approx(5 * one.std_error)
    assert tuple(five.interval) == pytest.approx(tuple(5 * end for end in one.interval))


def test_bca_counts_ties_with_the_estimate_half():
    draws = np.repeat([-1.0, 0.0, 1.0], [30, 40, 30])
    assert bca_ends(0.0, draws, np.zeros(5), 0.5) == (-1.0, 1.0)


def test_bca_moves_by_twice_the_median_bias():
    """Without skewness the ends are the quantiles at Phi(2 z0 -+ z) (Efron, 1987)."""
    draws = np.linspace(0, 1, 100_001)
    z0, z = stats.norm.ppf(0.4), stats.norm.ppf(0.95)
    wanted = stats.norm.cdf([2 * z0 - z, 2 * z0 + z])
    assert bca_ends(0.4 + 5e-6, draws, np.linspace(-1, 1, 9), 0.9) == pytest.approx(wanted, abs=2e-5)


def test_bca_acceleration_by_hand():
    """Leaving out gives 0, 0, 0, 4: gaps 1, 1, 1, -3 from their mean, so a = -24 / (6 * 12^1.5) = -1 / (6 sqrt 3)."""
    draws = np.linspace(0, 1, 100_001)
    a, z = -1 / (6 * np.sqrt(3)), stats.norm.ppf(0.95)
    wanted = stats.norm.cdf([-z / (1 + a * z), z / (1 - a * z)])
    assert bca_ends(0.5, draws, np.array([0.0, 0, 0, 4]), 0.9) == pytest.approx(wanted, abs=2e-5)


def test_rate_without_a_formula_pairs_targets_with_the_scores_of_others(monkeypatch):
    class Bare(Loss):
        id: ClassVar[str] = "bare"

        def per_example(self, y, value, score=None):
            return Brier().per_example(y, value, score)

    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 3, 31), rng.dirichlet(np.ones(3), 31)
    monkeypatch.setattr("unseen.core.measure.PAIRS_AT_ONCE", 100)
    found = Bare().no_information(y, score.argmax(axis=1), score)
    pairs = [np.sum((score[j] - np.eye(3)[y[i]]) ** 2) for i in range(31) for j in range(31)]
    assert found == pytest.approx(np.mean(pairs))


def test_copies_of_rows_in_groups_change_nothing_out_of_bag(loss_table):
    """A unit of two equal rows is one unit: same error, same standard error as with one row each."""
    rng = np.random.default_rng(2)
    n, pairs, losses = 9, [], []
    for _ in range(60):
        drawn = rng.integers(0, n, n)
        out = np.setdiff1d(np.arange(n), drawn)
        pairs.append((drawn, out))
        losses.append(rng.random(len(out)) + 3 * np.sum(drawn == 0))
    single = out_of_bag(loss_table(pairs, losses, "bootstrap", n=n))
    twice = [(np.r_[train, train + n], np.r_[test, test + n]) for train, test in pairs]
    copied = loss_table(twice, [np.r_[v, v] for v in losses], "bootstrap", n=2 * n, groups=np.tile(np.arange(n), 2))
    double = out_of_bag(copied)
    assert double.value == pytest.approx(single.value, rel=1e-12)
    assert double.std_error == pytest.approx(single.std_error, rel=1e-12)
    assert double.n_units == n


def test_monte_carlo_variance_of_an_influence_is_that_of_a_sum_over_replicates():
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(6, np.full(6, 1 / 6), 40).astype(float)
    losses = rng.random((40, 6)) * (drawn == 0)
    by_unit, _, noise = influences(losses, drawn)
    outside = drawn == 0
    for i in range(6):
        terms = []
        for b in range(40):
            rest = sum((losses[b, j] - by_unit[j]) / outside[:, j].sum() for j in range(6) if outside[b, j]) / 6
            terms.append((drawn[b, i] - 1) * rest)
        mean = sum(terms) / 40
        assert noise[i] == pytest.approx(40 * sum((x - mean) ** 2 for x in terms) / 39)


def test_held_out_groups_give_the_t_interval_its_degrees_of_freedom(loss_table):
    rng = np.random.default_rng(4)
    losses = rng.random(24)
    groups = np.concatenate([np.arange(24) // 4, np.arange(1000, 1040)])
    e = TTest()(loss_table([(np.arange(24, 64), np.arange(24))], [losses], "holdout", n=64, groups=groups))
    means = losses.reshape(6, 4).mean(axis=1)
    wanted = stats.ttest_1samp(means, 0.0).confidence_interval(0.95)
    assert e.df == 5
    assert tuple(e.interval) == pytest.approx((wanted.low, wanted.high))


def test_out_of_bag_variance_is_cleared_of_the_bootstraps_own_noise(loss_table):
    """Losses that follow how often unit 0 was drawn: its influence is large, and the noise in it is taken off."""
    rng = np.random.default_rng(5)
    n, drawn = 7, rng.integers(0, 7, (300, 7))
    drawn = np.array([d for d in drawn if len(np.unique(d)) < n])
    count = np.array([np.bincount(d, minlength=n) for d in drawn]).astype(float)
    losses = 1 + count[:, :1] + 0.1 * rng.random(count.shape)
    outs = [np.flatnonzero(c == 0) for c in count]
    table = loss_table(list(zip(drawn, outs)), [losses[b, out] for b, out in enumerate(outs)], "bootstrap", n=n)
    by_unit, influence, noise = influences(np.where(count == 0, losses, 0.0), count)
    wanted = np.sum(influence**2) - np.sum(noise)
    assert np.sum(noise) > 0.02 * wanted
    assert wanted > np.sum((by_unit - by_unit.mean()) ** 2) / n**2
    assert out_of_bag(table).std_error ** 2 == pytest.approx(wanted, rel=1e-10)


def test_out_of_bag_means_of_rows_are_weighted_by_the_rows_own_weights(loss_table):
    """Row 1: (1 + 3) / 2 = 2 with weight 5; row 2: 8 with weight 1; row 0 was never out of bag."""
    pairs = [([0, 0, 2], [1]), ([0, 0, 0], [1, 2])]
    table = loss_table(pairs, [[1.0], [3.0, 8.0]], "bootstrap", n=3, weights=np.array([7.0, 5.0, 1.0]))
    assert BootstrapLoo()(table).value == pytest.approx((5 * 2 + 1 * 8) / 6)


def test_rows_in_every_bootstrap_sample_are_counted_in_a_note(loss_table):
    """Rows 0 and 1 are never out of bag, row 2 or row 3 always is: two rows, and no note once each was left out."""
    pairs = [([0, 0, 1, 2], [3]), ([0, 1, 1, 3], [2])] * 100
    table = loss_table(pairs, [[1.0], [2.0]] * 100, "bootstrap", n=4)
    (found,) = [n for n in OutOfBagInterval()(table).notes if n.code == "U012"]
    assert "2 rows were in every bootstrap sample" in found.text
    assert OutOfBagInterval()(table).target.n_train == round(4 * (1 - (3 / 4) ** 4), 1)  # distinct of four drawn
    pairs += [([2, 2, 3, 3], [0, 1])]
    all_left_out = OutOfBagInterval()(loss_table(pairs, [[1.0], [2.0]] * 100 + [[1.0, 1.0]], "bootstrap", n=4))
    assert "U012" not in [n.code for n in all_left_out.notes]


def test_score_interval_ends_exactly_at_nought_and_one():
    """At a share of 1 centre plus half-width is 1 whatever the size, and rounding must not carry it past."""
    ends = [wilson_interval(1.0, size, level) for size in range(1, 200) for level in (0.8, 0.9, 0.95, 0.99)]
    assert {high for _, high in ends} == {1.0}
    mirrored = [wilson_interval(0.0, size, level) for size in range(1, 200) for level in (0.8, 0.9, 0.95, 0.99)]
    assert {low for low, _ in mirrored} == {0.0}
    np.testing.assert_allclose([1 - low for low, _ in ends], [high for _, high in mirrored], rtol=1e-12)


@pytest.mark.parametrize("method", [Bca(), BootstrapPercentile()])
def test_bootstrap_intervals_are_of_the_weighted_mean(loss_table, method):
    """A weight of nought but for two values: the mean can only lie between them."""
    rng = np.random.default_rng(6)
    losses, weights = rng.random(30), np.repeat([1e-9, 1.0], 15)
    losses[15:] = np.arange(15) % 2
    table = loss_table(
        [(np.arange(30, 50), np.arange(30))], [losses], "holdout", n=50, weights=np.r_[weights, np.ones(20)]
    )
    made = method(table)
    assert made.value == pytest.approx(7 / 15, abs=1e-6)
    share = np.sqrt(7 / 15 * 8 / 15 / 15)
    assert made.std_error == pytest.approx(share, rel=0.1)


def test_a_bootstrapped_measure_speaks_of_the_class_that_was_named():
    """What is found of one class is what is rejected of the other."""
    X, y = unseen.datasets.load("breast-cancer").xy
    first, second = np.unique(y)
    settings = {"method": "bootstrap-percentile", "n_bootstrap": 100, "random_state": 0}
    found = unseen.estimate(GaussianNB(), X, y, measure="sensitivity", positive=first, **settings)
    rejected = unseen.estimate(GaussianNB(), X, y, measure="specificity", positive=second, **settings)
    other = unseen.estimate(GaussianNB(), X, y, measure="sensitivity", positive=second, **settings)
    assert found.value == pytest.approx(rejected.value)
    assert found.value != pytest.approx(other.value)


@pytest.mark.parametrize(("n", "left_out", "splits"), [(40, 10, 200), (5, 2, 10), (4, 1, 4)])
def test_leave_out_leaves_a_quarter_out_as_often_as_it_can(n, left_out, splits):
    data = as_data(np.zeros((n, 1)), np.arange(n) + 0.5)
    plan = LeaveOutError().default_design(data).plan(data, np.random.default_rng(0))
    assert ({len(s.test) for s in plan}, len(plan)) == ({left_out}, splits)


def test_monte_carlo_holds_a_tenth_out_twenty_five_times():
    data = as_data(np.zeros((40, 1)), np.arange(40) + 0.5)
    plan = MonteCarloError().default_design(data).plan(data, np.random.default_rng(0))
    assert [len(s.test) for s in plan] == [4] * 25


@pytest.mark.parametrize(("n", "few"), [(29, True), (30, False)])
def test_fewer_than_thirty_units_are_few(loss_table, n, few):
    assert ("U009" in [note.code for note in Wald()(held_out(loss_table, np.arange(n) % 2)).notes]) == few
