"""Tests of two models where a slip would be easy to miss: weights, large counts, certain p-values, ties."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.plan import Split
from unseen.measures.area_variance import area_freedom, delong
from unseen.significance.adjust import adjust_p
from unseen.significance.bayesian_t import BayesianT
from unseen.significance.combined_f import CombinedF
from unseen.significance.delong import DeLong
from unseen.significance.friedman import Friedman, friedman
from unseen.significance.mcnemar import mcnemar_p
from unseen.significance.permutation import Permutation, sign_flip_p
from unseen.significance.wilcoxon import Wilcoxon, signed_rank
from unseen.significance.winner import errors_of_choices, winner_of


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
    assert adjust_p([0.0, None, 0.5, float("nan")])[:3] == [0.0, None, 0.5]


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
    freedom = area_freedom(truth, table.test.score[:, 1], np.arange(len(truth)))
    half = stats.t.ppf(0.975, freedom) * np.sqrt(covariance[0, 0]) / (areas[0] * (1 - areas[0]))
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


def test_difference_of_areas_is_judged_from_both_sides():
    X, y = unseen.datasets.load("breast-cancer").xy
    a, b = (
        unseen.run(GaussianNB(), X[:, [k]], y, design="holdout", scores=True, random_state=0).losses() for k in (0, 2)
    )
    found = DeLong()(a, b)
    assert 0.001 < found.p < 0.999
    assert found.statistic == pytest.approx(found.difference / found.estimate.std_error)
    df = found.estimate.df
    assert found.p == pytest.approx(stats.t.sf(abs(found.statistic), df) + stats.t.cdf(-abs(found.statistic), df))
    half = stats.t.ppf(0.975, df) * found.estimate.std_error
    assert tuple(found.interval) == pytest.approx((found.difference - half, found.difference + half))


def test_freedom_of_a_difference_of_areas_is_satterthwaites():
    """From the structural components themselves: variance of the positives over m plus that of the negatives over n."""
    rng = np.random.default_rng(5)
    positive = np.arange(40) < 7
    first, second = (rng.normal(positive, 1.0) for _ in range(2))

    def components(score):
        above = np.array([np.mean(score[~positive] < s) for s in score[positive]])
        return above, np.array([np.mean(score[positive] > s) for s in score[~positive]])

    (a, b), (c, d) = components(first), components(second)
    one, two = (a - c).var(ddof=1) / 7, (b - d).var(ddof=1) / 33
    wanted = (one + two) ** 2 / (one**2 / 6 + two**2 / 32)
    assert area_freedom(positive, first, np.arange(40), minus=second) == pytest.approx(wanted)


def test_equal_areas_of_a_rare_class_are_not_told_apart_too_often():
    """Five cases against 100: the normal reference rejected .11 of 1,500 data sets at .05, t .06."""
    positive, rejected = np.arange(105) < 5, np.zeros(2)
    for seed in range(300):
        rng = np.random.default_rng([2, seed])
        shared = rng.normal(size=105)
        first, second = (0.7 * shared + 0.7 * rng.normal(size=105) + 0.5 * positive for _ in range(2))
        areas, c = delong(positive, first, second)
        t = abs(areas[1] - areas[0]) / np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
        df = area_freedom(positive, first, np.arange(105), minus=second)
        rejected += 2 * stats.t.sf(t, df) < 0.05, 2 * stats.norm.sf(t) < 0.05
    bound = 0.05 * 300 + 3 * np.sqrt(0.05 * 0.95 * 300)
    assert rejected[0] <= bound < rejected[1]


def test_the_winners_error_is_corrected_as_all_bootstrap_samples_together_correct_it(loss_table):
    """Five weighted units have 5^5 samples; their mean correction is known, a thousand drawn ones must come near it."""
    weights = np.array([1.0, 4.0, 2.0, 0.5, 3.0])
    losses = {"a": [1.0, 3.0, 0.0, 2.0, 4.0], "b": [4.0, 0.0, 3.0, 3.0, 2.5], "c": [0.5, 2.5, 4.0, 0.0, 3.0]}
    pairs = [(np.delete(np.arange(5), k), [k]) for k in range(5)]
    found = winner_of(
        {m: loss_table(pairs, [[v] for v in each], "loo", weights=weights, model=m) for m, each in losses.items()},
        0.95,
        np.random.default_rng(0),
    )
    table = np.array(list(losses.values()))
    naive = table @ weights / weights.sum()
    overall = int(np.argmin(naive))
    gains = []
    for drawn in product(range(5), repeat=5):
        left = np.setdiff1d(np.arange(5), drawn)
        if left.size:
            inside = [sum(weights[k] * each[k] for k in drawn) for each in table]
            chosen = table[int(np.argmin(inside))]
            gains.append(np.average(chosen[left] - table[overall][left], weights=weights[left]))
    assert (found.name, found.naive) == ("abc"[overall], pytest.approx(naive[overall]))
    allowed = 4 * np.std(gains) / np.sqrt(found.n_bootstrap)
    assert np.mean(gains) > 2 * allowed
    assert found.corrected == pytest.approx(naive[overall] + np.mean(gains), abs=allowed)


def test_the_winner_of_a_nested_design_is_judged_by_the_outer_splits(loss_table):
    """Inner fits are of smaller training sets: model b is best there, and a on the splits that count."""
    splits = [
        Split(np.array([2, 3]), np.array([0, 1])),
        Split(np.array([0, 1]), np.array([2, 3])),
        Split(np.array([2]), np.array([3]), part=0),
        Split(np.array([0]), np.array([1]), part=1),
    ]
    a = loss_table(splits, [[1.0, 2.0], [3.0, 2.0], [50.0], [70.0]], "nested", model="a")
    b = loss_table(splits, [[2.0, 2.0], [3.0, 3.0], [0.0], [0.0]], "nested", model="b")
    found = winner_of({"a": a, "b": b}, 0.95, np.random.default_rng(0))
    assert (found.name, found.naive) == ("a", 2.0)


def test_samples_of_an_error_of_sets_are_drawn_from_the_tested_units_alone(loss_table):
    seen = []

    def recorded(table, multiplicity):
        seen.append(multiplicity)
        return float(multiplicity @ np.arange(10.0))

    table = loss_table([(np.arange(6), [6, 7, 8, 9])], [np.ones(4)], "holdout", n=10)
    winner_of({"a": table, "b": table}, 0.95, np.random.default_rng(0), recorded, "any")
    samples = [count for count in seen if count.max() > 1]
    assert len(samples) > 100
    assert {(count[:6].sum(), count[6:].sum()) for count in samples} == {(0.0, 4.0)}


def test_as_many_gains_as_losses_of_one_size_give_a_p_value_of_one():
    """Every flip of signs is at least as far from nought, which is where the sum lies."""
    assert sign_flip_p(np.array([1.0, -1.0, 1.0, -1.0]), 99, np.random.default_rng(0))[0] == 1.0


@pytest.mark.parametrize(("n", "few"), [(9, True), (10, False)])
def test_fewer_than_ten_data_sets_are_few(n, few):
    ranking = Friedman()(np.random.default_rng(0).random((n, 3)), list("abc"))
    assert ("U009" in [note.code for note in ranking.notes]) == few


@pytest.mark.parametrize(("level", "verdict"), [(0.6, "b better"), (0.95, "undecided")])
def test_a_chance_below_the_level_decides_nothing(loss_table, level, verdict):
    """Ten differences of mean 0.2 and deviation 0.5, nine trained on for one tested: t = 0.2 / (0.5 sqrt(1/10 + 1/9))."""
    gaps = np.tile([1.0, -1.0], 5)
    gaps = 0.2 + 0.5 * gaps / gaps.std(ddof=1)
    pairs = [(np.delete(np.arange(10), k), [k]) for k in range(10)]
    a, b = (loss_table(pairs, [[v] for v in 2 + x], "kfold", model=m) for m, x in (("a", gaps), ("b", 0 * gaps)))
    found = BayesianT(rope=0.0)(a, b, level=level)
    chance = stats.t.cdf(0.2 / (0.5 * np.sqrt(1 / 10 + 1 / 9)), 9)
    assert 0.6 < chance < 0.95
    assert found.rope.posterior[2] == pytest.approx(chance)
    assert found.rope.decision == verdict


def test_the_winners_interval_leaves_half_of_the_rest_on_either_side(loss_table):
    losses = np.random.default_rng(2).random((3, 12))
    pairs = [(np.delete(np.arange(12), k), [k]) for k in range(12)]
    tables = {m: loss_table(pairs, [[v] for v in each], "loo", model=m) for m, each in zip("abc", losses)}
    found = winner_of(tables, 0.8, np.random.default_rng(0))
    chosen = errors_of_choices(losses.T, np.ones(12), found.n_bootstrap, np.random.default_rng(0))[:, 0]
    assert tuple(found.interval) == pytest.approx((np.quantile(chosen, 0.1), np.quantile(chosen, 0.9)))


def test_five_by_two_tells_the_difference_as_first_minus_second(loss_table):
    rng = np.random.default_rng(0)
    halves = [rng.permutation(8).reshape(2, 4) for _ in range(5)]
    splits = [Split(h[1 - k], h[k], repeat=r, fold=k) for r, h in enumerate(halves) for k in (0, 1)]
    first, second = rng.random((2, 10, 4)) + np.array([1.0, 0.0])[:, None, None]
    a, b = (loss_table(splits, list(x), "5x2cv", model=m) for m, x in (("a", first), ("b", second)))
    assert CombinedF()(a, b).difference == pytest.approx(first.mean() - second.mean())


def test_signed_ranks_are_of_groups_where_rows_have_them(loss_table):
    rng = np.random.default_rng(0)
    groups = np.r_[np.repeat(np.arange(9), 3), np.arange(20, 25)]
    pairs = [(np.arange(27, 32), np.arange(27))]
    first, second = rng.random((2, 27)) + np.array([[0.2], [0.0]])
    a, b = (loss_table(pairs, [x], "holdout", n=32, groups=groups, model=m) for m, x in (("a", first), ("b", second)))
    wanted = stats.wilcoxon((first - second).reshape(9, 3).mean(axis=1))
    found = Wilcoxon()(a, b)
    assert (found.statistic, found.p) == pytest.approx((wanted.statistic, wanted.pvalue))
