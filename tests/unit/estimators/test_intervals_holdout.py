"""Intervals for one held-out part: against textbook formulas, with groups, weights and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unseen.core.errors import DesignError, InputError, NotApplicable
from unseen.estimators.clopper_pearson import ClopperPearson
from unseen.estimators.t_test import TTest
from unseen.estimators.wald import Wald
from unseen.estimators.wilson import Wilson, wilson_interval


def held_out(loss_table, losses, *, rate=False, design="holdout", **columns):
    n = len(losses)
    return loss_table([(np.arange(n, n + 40), np.arange(n))], [losses], design, rate=rate, n=n + 40, **columns)


def spread_over(values, n_train=40):
    """Return values for tested rows followed by some for the training rows."""
    return np.concatenate([values, np.arange(10_000, 10_000 + n_train)])


def test_wald_is_mean_plus_minus_z_standard_errors(loss_table):
    losses = np.random.default_rng(0).exponential(2.0, 50)
    e = Wald()(held_out(loss_table, losses), level=0.9)
    half = stats.norm.ppf(0.95) * losses.std(ddof=1) / np.sqrt(50)
    assert e.value == pytest.approx(losses.mean(), abs=1e-12)
    assert tuple(e.interval) == pytest.approx((losses.mean() - half, losses.mean() + half), abs=1e-12)
    assert e.df is None
    assert str(e.target) == "this model trained on 40 rows"


def test_t_test_is_scipys_one_sample_interval(loss_table):
    losses = np.random.default_rng(1).exponential(2.0, 12)
    e = TTest()(held_out(loss_table, losses))
    expected = stats.ttest_1samp(losses, 0.0).confidence_interval(0.95)
    assert tuple(e.interval) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert TTest.liberal
    assert [n.code for n in e.notes] == ["U013"]
    assert str(e.target) == "the algorithm trained on 40 rows"


def test_wald_with_groups_counts_groups(loss_table):
    """Groups of equal size: the clustered standard error is that of the group means."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(15), 4)
    losses = np.repeat(rng.exponential(1.0, 15), 4) + 0.1 * rng.random(60)
    e = Wald()(held_out(loss_table, losses, groups=spread_over(group)))
    means = losses.reshape(15, 4).mean(axis=1)
    assert e.value == pytest.approx(losses.mean())
    assert e.std_error == pytest.approx(means.std(ddof=1) / np.sqrt(15), rel=1e-12)
    alone = Wald()(held_out(loss_table, losses))
    assert e.std_error > 1.7 * alone.std_error


def test_wald_with_weights_is_the_ratio_estimator(loss_table):
    rng = np.random.default_rng(3)
    losses, weights = rng.exponential(1.0, 30), rng.uniform(0.5, 2.0, 30)
    e = Wald()(held_out(loss_table, losses, weights=np.concatenate([weights, np.ones(40)])))
    mean = np.average(losses, weights=weights)
    variance = 30 / 29 * np.sum((weights * (losses - mean)) ** 2) / weights.sum() ** 2
    assert (e.value, e.std_error) == pytest.approx((mean, np.sqrt(variance)), rel=1e-12)


def test_wilson_ends_are_where_the_score_test_just_does_not_reject(loss_table):
    losses = np.r_[np.ones(7), np.zeros(33)]
    e = Wilson()(held_out(loss_table, losses, rate=True))
    for end in e.interval:
        z = (7 / 40 - end) / np.sqrt(end * (1 - end) / 40)
        assert abs(z) == pytest.approx(stats.norm.ppf(0.975), rel=1e-9)


def test_clopper_pearson_ends_have_tails_of_half_alpha(loss_table):
    losses = np.r_[np.ones(7), np.zeros(33)]
    low, high = ClopperPearson()(held_out(loss_table, losses, rate=True)).interval
    assert stats.binom.sf(6, 40, low) == pytest.approx(0.025, rel=1e-9)
    assert stats.binom.cdf(7, 40, high) == pytest.approx(0.025, rel=1e-9)


@pytest.mark.parametrize("method", [Wilson(), ClopperPearson()])
def test_no_error_seen_still_has_an_upper_end(loss_table, method):
    e = method(held_out(loss_table, np.zeros(20), rate=True))
    assert e.value == 0.0
    assert e.interval.low == 0.0
    assert 0.1 < e.interval.high < 0.2


@pytest.mark.parametrize("method", [Wilson(), ClopperPearson()])
def test_grouped_rates_use_the_effective_size(loss_table, method):
    """Copies of a row carry no information: ten groups of five equal rows count as at most ten rows."""
    losses = np.repeat([1, 0, 0, 1, 0, 0, 0, 0, 1, 0], 5)
    grouped = method(held_out(loss_table, losses, rate=True, groups=spread_over(np.repeat(np.arange(10), 5))))
    alone = method(held_out(loss_table, losses[::5], rate=True))
    wrong = method(held_out(loss_table, losses, rate=True))
    # n_eff = p(1-p) / (S^2/10) with S^2 on 9 degrees of freedom is 9, and counts as less where only 10 groups tell S^2
    size = 9 * (stats.t.ppf(0.975, 49) / stats.t.ppf(0.975, 9)) ** 2
    ends = wilson_interval(0.3, size, 0.95)
    exact = stats.beta.ppf([0.025, 0.975], [0.3 * size, 0.3 * size + 1], [0.7 * size + 1, 0.7 * size])
    assert tuple(grouped.interval) == pytest.approx(ends if method.id == "wilson" else tuple(exact))
    assert grouped.interval.width > alone.interval.width
    assert grouped.interval.width > 1.6 * wrong.interval.width
    assert "U016" in [n.code for n in grouped.notes]


def test_a_loss_that_is_no_rate_is_refused_by_name(loss_table):
    with pytest.raises(NotApplicable, match=r"wilson is an interval for a rate.*wald"):
        Wilson()(held_out(loss_table, np.arange(10.0)))


def test_difference_is_refused_by_wilson_and_taken_by_wald(loss_table):
    a = held_out(loss_table, np.r_[np.ones(8), np.zeros(22)], rate=True)
    b = held_out(loss_table, np.r_[np.zeros(5), np.ones(5), np.zeros(20)], rate=True)
    with pytest.raises(InputError, match="wilson is not linear"):
        Wilson()(a.minus(b))
    assert Wald()(a.minus(b)).value == pytest.approx(0.1)


def test_one_unit_and_foreign_designs_are_refused(loss_table):
    for method in (Wald(), TTest()):
        with pytest.raises(InputError, match=f"{method.id} needs at least 2 held-out units"):
            method(held_out(loss_table, np.array([1.0])))
        with pytest.raises(DesignError, match=f"{method.id} is not valid for the design 'kfold'"):
            method(held_out(loss_table, np.ones(5), design="kfold"))


def test_few_units_are_noted(loss_table):
    codes = [n.code for n in Wald()(held_out(loss_table, np.arange(8.0))).notes]
    assert "U009" in codes
