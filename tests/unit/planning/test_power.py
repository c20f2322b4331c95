"""Power and sizes: published numbers, simulation, closed forms, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import unseen
from unseen.core.errors import InputError
from unseen.planning.power import paired_power, power_curves
from unseen.planning.test_size import half_width_of


def test_power_equals_scipys_noncentral_t():
    n, gap, sd = 40, 0.3, 0.8
    critical, shift = stats.t.ppf(0.975, n - 1), gap / sd * np.sqrt(n)
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assert paired_power(n, gap, sd) == pytest.approx(expected, rel=1e-8)
    assert paired_power(n, gap, sd, sides=1) == pytest.approx(
        stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, shift), rel=1e-8
    )


@pytest.mark.parametrize(("d", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sizes_for_80_per_cent_are_the_textbook_ones(d, n):
    # one-sample/paired t test, two-sided 5%, power .80: G*Power 3.1 and statsmodels TTestPower give 199, 34, 15
    assert unseen.power(difference=d, sd=1.0, power=0.8).n == n


def test_power_by_simulation():
    n, gap, share = 150, 0.08, 0.25
    rng = np.random.default_rng(0)
    chances = [(share - gap) / 2, 1 - share, (share + gap) / 2]
    draws = rng.choice([-1.0, 0.0, 1.0], p=chances, size=(8000, n))
    rejected = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    ours = unseen.power(n, gap, disagreement=share)
    assert ours.sd == pytest.approx(draws.std(), rel=0.02)
    assert ours.power == pytest.approx(rejected, abs=4 * np.sqrt(0.25 / 8000))


def enumerated(n, gap, share, alpha, sides):
    """The chance that scipy's own t test rejects, over every count of wins and losses; no spread, no rejection."""
    total = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            units = np.repeat([1.0, -1.0, 0.0], [wins, losses, n - wins - losses])
            if np.ptp(units) == 0:
                continue
            p = stats.ttest_1samp(units, 0, alternative="two-sided" if sides == 2 else "greater").pvalue
            chances = [(share + gap) / 2, (share - gap) / 2, 1 - share]
            total += (p < alpha) * stats.multinomial.pmf([wins, losses, n - wins - losses], n, chances)
    return total


@pytest.mark.parametrize(
    ("n", "gap", "share", "alpha", "sides"),
    [
        (4, 0.9, 0.9, 0.05, 2),
        (8, 0.8, 0.9, 0.05, 2),
        (20, 0.2, 0.2, 0.05, 1),
        (30, 0.05, 0.05, 0.1, 2),
        (25, 0.0, 0.4, 0.05, 2),
    ],
)
def test_power_with_few_disagreements_is_that_of_every_count(n, gap, share, alpha, sides):
    ours = unseen.power(n, gap, disagreement=share, alpha=alpha, sides=sides)
    assert ours.power == pytest.approx(enumerated(n, gap, share, alpha, sides), abs=1e-9)


def test_a_size_for_few_disagreements_has_its_power():
    found = unseen.power(difference=0.9, disagreement=0.9, power=0.8)  # the noncentral t gives 4, which never reject
    assert found.n == 16
    assert enumerated(16, 0.9, 0.9, 0.05, 2) >= 0.8 > enumerated(15, 0.9, 0.9, 0.05, 2)
    assert found.at(n=[4, 16]) == pytest.approx([0.0, found.power])


def test_sum_and_noncentral_t_meet_where_one_hands_over_to_the_other():
    for share, gap in ((0.2, 0.06), (0.5, 0.1), (0.1, 0.04)):
        n = int(50 / share)
        approximate = paired_power(n, gap, np.sqrt(share - gap**2))
        assert unseen.power(n, gap, disagreement=share).power == pytest.approx(approximate, abs=0.02)


def test_no_difference_is_rejected_at_the_size_of_the_test():
    assert unseen.power(300, 0.0, disagreement=0.2, alpha=0.1).power == pytest.approx(0.1, abs=1e-9)


def test_the_three_ways_agree():
    one = unseen.power(difference=0.03, disagreement=0.2, power=0.8)
    assert one.power >= 0.8 > unseen.power(one.n - 1, 0.03, disagreement=0.2).power
    back = unseen.power(one.n, disagreement=0.2, power=0.8)
    assert back.difference == pytest.approx(0.03, abs=2e-5)
    assert back.power == pytest.approx(0.8, abs=1e-6)
    assert unseen.power(50, sd=2.0, power=0.9).difference == pytest.approx(
        2.0 * unseen.power(50, sd=1.0, power=0.9).difference
    )


def test_sign_of_the_difference_does_not_matter():
    assert unseen.power(300, -0.03, disagreement=0.2).power == unseen.power(300, 0.03, disagreement=0.2).power


def test_large_sizes_stay_finite_and_monotone():
    chance = paired_power(np.array([1e4, 1e6, 1.1e6, 1e8]), 0.002, 1.0)
    assert np.all(np.isfinite(chance))
    assert np.all(np.diff(chance) >= 0)
    assert paired_power(10, 1.0, 0.0) == 1.0


def test_curves_rise():
    curves = power_curves(unseen.power(300, 0.03, disagreement=0.2))
    sizes, by_size, gaps, by_gap = curves.sizes, curves.at_sizes, curves.differences, curves.at_differences
    assert sizes[0] < 300 < sizes[-1]
    assert np.all(np.diff(by_size) > 0)
    assert np.all(np.diff(by_gap[gaps > 0]) > 0)
    assert by_gap[0] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 300}, "give two"),
        ({"n": 300, "difference": 0.1, "power": 0.8, "sd": 1}, "give two"),
        ({"n": 300, "difference": 0.1}, "either disagreement"),
        ({"n": 300, "difference": 0.1, "sd": 1, "disagreement": 0.2}, "either disagreement"),
        ({"n": 300, "difference": 0.3, "disagreement": 0.2}, "exceeds the disagreement"),
        ({"n": 1, "difference": 0.1, "sd": 1}, "at least 2"),
        ({"n": 10, "difference": 0.1, "sd": 0}, "positive"),
        ({"n": 10, "difference": 0.1, "disagreement": 1.5}, "share of units"),
        ({"n": 10, "difference": 0.1, "sd": 1, "alpha": 0}, "alpha"),
        ({"n": 10, "difference": 0.1, "sd": 1, "sides": 3}, "sides"),
        ({"difference": 0.0, "sd": 1, "power": 0.8}, "no test set"),
        ({"difference": 1e-9, "sd": 1, "power": 0.8}, "thousand million"),
        ({"n": 10, "power": 1.5, "sd": 1}, "between 0 and 1"),
        ({"n": 2, "disagreement": 0.01, "power": 0.9}, "no difference reaches"),
        ({"n": 10, "difference": float("nan"), "sd": 1}, "finite"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(InputError, match=words):
        unseen.power(**arguments)


def test_four_hundred_points_is_a_full_width_of_a_tenth():
    assert half_width_of("wald", 400, 0.5, 0.5, 0.95) == pytest.approx(0.049, abs=5e-5)
    assert 380 <= unseen.plan_test_size(0.05).n <= 400
    assert unseen.plan_test_size(0.1).n == 97


def test_plan_is_the_closed_form():
    z = stats.norm.ppf(0.975)
    assert unseen.plan_test_size(0.02).n == int(np.ceil(z**2 * 0.25 / 0.02**2))
    assert unseen.plan_test_size(0.02, error=0.1, interval="wald").n == int(np.ceil(z**2 * 0.09 / 0.02**2))
    assert unseen.plan_test_size(0.02, sd=0.3).n == int(np.ceil(z**2 * 0.09 / 0.02**2))
    assert unseen.plan_test_size(0.02, disagreement=0.2, difference=0.1).n == int(np.ceil(z**2 * 0.19 / 0.02**2))


@pytest.mark.parametrize(("error", "half_width"), [(0.05, 0.05), (0.02, 0.02), (0.01, 0.01)])
def test_a_planned_interval_of_a_small_rate_covers_as_it_says(error, half_width):
    """Summed over all counts: Wald's would have covered .88 to .89 of them."""
    plan = unseen.plan_test_size(half_width, error=error)
    k = np.arange(plan.n + 1)
    chance = stats.binom.pmf(k, plan.n, error)
    ends = np.array([stats.binomtest(int(j), plan.n).proportion_ci(0.95, method=plan.interval) for j in k])
    assert chance @ ((ends[:, 0] <= error) & (error <= ends[:, 1])) >= 0.945
    assert chance @ (ends[:, 1] - ends[:, 0]) / 2 == pytest.approx(half_width, rel=0.05)
    assert not plan.notes
    asked = unseen.plan_test_size(half_width, error=error, interval="wald")
    assert [n.code for n in asked.notes] == ["U009"]
    assert "wilson keeps both" in str(asked)


def test_a_difference_that_rests_on_few_disagreements_is_noted():
    assert "disagreements" in unseen.plan_test_size(0.02, disagreement=0.02).notes[0].text
    assert not unseen.plan_test_size(0.02, disagreement=0.2).notes
    assert not unseen.plan_test_size(0.02).notes


def test_wilson_and_clopper_pearson_reach_the_width_with_real_counts():
    from scipy.stats import binomtest

    for kind, name in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        n = unseen.plan_test_size(0.05, error=0.2, interval=kind).n
        ends = binomtest(round(0.2 * n), n).proportion_ci(0.95, method=name)
        assert (ends.high - ends.low) / 2 == pytest.approx(0.05, abs=0.0005)


def test_clusters_multiply_by_the_design_effect():
    plain = unseen.plan_test_size(0.05)
    grouped = unseen.plan_test_size(0.05, cluster_size=10, icc=0.2)
    assert grouped.n == int(np.ceil(2.8 * stats.norm.ppf(0.975) ** 2 * 0.25 / 0.05**2))
    assert grouped.n > plain.n
    assert [r["interval"] for r in plain.rows()] == ["wald", "wilson", "clopper-pearson"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"half_width": 0}, "positive"),
        ({"half_width": 0.5}, "says nothing"),
        ({"half_width": 0.1, "error": 0.1, "sd": 1}, "one of"),
        ({"half_width": 0.1, "error": 1.0}, "between 0 and 1"),
        ({"half_width": 0.1, "sd": -1}, "positive"),
        ({"half_width": 0.1, "sd": 1, "interval": "wilson"}, "rate"),
        ({"half_width": 0.1, "interval": "x"}, "one of"),
        ({"half_width": 0.1, "disagreement": 0.1, "difference": 0.2}, "disagreement"),
        ({"half_width": 0.1, "icc": 2}, "icc"),
        ({"half_width": 0.1, "level": 95}, "level"),
    ],
)
def test_plan_refusals(arguments, words):
    with pytest.raises(InputError, match=words):
        unseen.plan_test_size(**arguments)
