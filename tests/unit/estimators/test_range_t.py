"""`range-t` against its formulas worked out by hand and by scipy, at the ends of the range, and against corrected-t."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unseen
from unseen.core.data import Data
from unseen.core.errors import DesignError, InputError
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.plan import Plan, Split
from unseen.datasets import as_data
from unseen.designs import KFold, LeaveOut, MonteCarlo, RepeatedKFold
from unseen.estimators.corrected_t import CorrectedT
from unseen.estimators.range_t import RangeT, ends_in_range, variance_over_units


def table_of(errors, n=10):
    """Four-fold-like table: split j tests two rows, and `errors[j]` of them are wrong."""
    rng = np.random.default_rng(0)
    splits, rows, values = [], [], []
    for j, wrong in enumerate(errors):
        test = np.sort(rng.permutation(n)[:2])
        splits.append(Split(np.setdiff1d(np.arange(n), test), test, repeat=j))
        rows.append(test)
        values.append(np.array([1] * wrong + [0] * (2 - wrong)))
    plan = Plan("monte-carlo", tuple(splits), np.arange(n))
    data = Data(None, np.zeros(n, dtype=int), "classification", np.array([0, 1]), groups=None)
    split = np.repeat(np.arange(len(errors)), 2)
    test = Predictions(split=split, row=np.concatenate(rows), value=np.concatenate(values))
    return PredictionTable(plan=plan, data=data, test=test, seconds=np.zeros(len(errors)))


def score_roots(share, se, quantile):
    """Both rates p at which the score test of m = share with n = m (1 - m) / se^2 cases just rejects, by root finding."""
    n = share * (1 - share) / se**2

    def excess(p):
        return abs(p - share) - quantile * np.sqrt(p * (1 - p) / n)

    return optimize.brentq(excess, 1e-15, share, xtol=1e-15), optimize.brentq(excess, share, 1 - 1e-15, xtol=1e-15)


def error_by_hand(loss, split, tested, n2, n1):
    """Mean and standard error of parts of one size: by the variance of their means, or by that of single losses if it gives more."""
    means = np.array([loss[split == j].mean() for j in range(split.max() + 1)])
    alone = np.mean((loss - loss.mean()) ** 2) * tested / (tested - 1) / n2
    by_parts, by_units = means.var(ddof=1) * (1 / len(means) + n2 / n1), alone * (1 / max(len(means), 50) + n2 / n1)
    return means.mean(), np.sqrt(max(by_parts, by_units))


def sample(n=120, positives=None, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2 if positives is None else (np.arange(n) < positives).astype(int)
    return rng.standard_normal((n, 3)) + y[:, None], y


def test_four_splits_by_hand():
    """Split errors 0, 1/2, 1/2, 1: mean 1/2, S^2 = 1/6, factor 1/4 + 2/8 = 1/2, so se^2 = 1/12 and n_eff = 3."""
    e = RangeT()(table_of([0, 1, 1, 2]).losses(), level=0.5)
    assert e.value == 0.5
    assert e.std_error == pytest.approx(np.sqrt(1 / 12), rel=1e-14)
    assert e.df == 3
    t2 = 0.7648923284043453**2  # upper quartile of t with 3 degrees of freedom
    half = np.sqrt(t2 * (0.25 / 3 + t2 / 36)) / (1 + t2 / 3)  # Wilson's half-width about his centre, here 1/2
    assert tuple(e.interval) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-9)
    assert str(e.target) == "this model trained on 10 rows"


@pytest.mark.parametrize("design", [MonteCarlo(0.1, 12), LeaveOut(0.2, 15), RepeatedKFold(10, 3)])
def test_a_rate_has_the_ends_of_the_score_test(design):
    X, y = sample()
    table = unseen.run(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, design=design, random_state=0)
    wrong = (table.test.value != y[table.test.row]).astype(float)
    n2 = len(table.plan.splits[0].test)
    mean, se = error_by_hand(wrong, table.test.split, len(np.unique(table.test.row)), n2, 120 - n2)
    e = unseen.estimate(table, method="range-t", level=0.9)
    assert (e.value, e.std_error) == pytest.approx((mean, se), rel=1e-12)
    assert tuple(e.interval) == pytest.approx(score_roots(mean, se, stats.t.ppf(0.95, len(table.plan) - 1)), rel=1e-9)
    assert str(e.target) == "this model trained on 120 rows"


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_positive_loss_is_symmetric_in_its_logarithm(loss):
    data = unseen.datasets.load("diabetes").take(np.arange(90))
    table = unseen.run(DecisionTreeRegressor(random_state=0), data, design=RepeatedKFold(9, 2), random_state=0)
    error = np.abs(data.y[table.test.row] - table.test.value) ** (2 if loss == "squared" else 1)
    mean, se = error_by_hand(error, table.test.split, 90, 10, 80)
    ends = np.exp(stats.t.interval(0.95, 17, np.log(mean), se / mean))
    assert tuple(RangeT()(table.losses(loss)).interval) == pytest.approx(tuple(ends), rel=1e-10)


def test_log_loss_and_one_minus_r2_are_on_the_log_scale_too():
    X, y = sample()
    table = unseen.run(LogisticRegression(), X, y, design=RepeatedKFold(10, 2), random_state=0, scores=True)
    numbers = unseen.run(LinearRegression(), X, X.sum(axis=1) + y, design=RepeatedKFold(10, 2), random_state=0)
    for losses in (table.losses("log-loss"), numbers.losses("r2")):
        e = RangeT()(losses)
        factor = np.exp(stats.t.ppf(0.975, 19) * e.std_error / e.value)
        assert tuple(e.interval) == pytest.approx((e.value / factor, e.value * factor), rel=1e-10)


def test_a_bounded_loss_is_scaled_to_its_range():
    """Brier's score of three classes lies in [0, 2], that of two in [0, 1]."""
    X, y = sample()
    for labels, top in ((y, 1), (np.where(np.arange(len(y)) % 3 == 0, 2, y), 2)):
        table = unseen.run(LogisticRegression(), X, labels, design=RepeatedKFold(10, 2), random_state=0, scores=True)
        e = RangeT()(table.losses("brier"))
        low, high = score_roots(e.value / top, e.std_error / top, stats.t.ppf(0.975, 19))
        assert tuple(e.interval) == pytest.approx((top * low, top * high), rel=1e-9)


def test_an_area_has_as_many_degrees_of_freedom_as_the_rarest_class_allows():
    X, y = sample(positives=12)
    table = unseen.run(LogisticRegression(), X, y, design=RepeatedKFold(6, 4), random_state=0, scores=True)
    area, f1 = (RangeT()(table.losses(name)) for name in ("auc", "f1"))
    assert (area.df, f1.df) == (11, 23)
    for e in (area, f1):
        ends = score_roots(e.value, e.std_error, stats.t.ppf(0.975, e.df))
        assert tuple(e.interval) == pytest.approx(ends, rel=1e-9)
    for name, e in (("auc", area), ("f1", f1)):
        other = CorrectedT()(table.losses(name))
        assert (e.value, e.std_error) == (other.value, other.std_error)


def test_every_kind_of_range():
    low, high = ends_in_range(5.0, 0.3, 2.0, (2.0, np.inf))
    assert (low - 2, high - 2) == pytest.approx((3 * np.exp(-0.2), 3 * np.exp(0.2)))
    low, high = ends_in_range(-2.0, 0.3, 2.0, (-np.inf, 1.0))
    assert (1 - high, 1 - low) == pytest.approx((3 * np.exp(-0.2), 3 * np.exp(0.2)))
    assert ends_in_range(1.0, 0.3, 2.0, (-np.inf, np.inf)) == pytest.approx((0.4, 1.6))


def test_an_interval_always_has_a_width_and_stays_in_range():
    for errors in product((0, 1, 2), repeat=4):
        e = RangeT()(table_of(errors).losses())
        assert 0 <= e.interval.low <= e.value <= e.interval.high <= 1
        assert e.interval.width > 0.1


@pytest.mark.parametrize(("wrong", "share"), [(0, 0.0), (2, 1.0)])
def test_without_spread_the_tested_units_are_counted(wrong, share):
    table = table_of([wrong] * 4)
    units = len(np.unique(table.test.row))
    e = RangeT()(table.losses())
    q2 = stats.t.ppf(0.975, 3) ** 2
    wanted = (0.0, q2 / (units + q2)) if wrong == 0 else (units / (units + q2), 1.0)
    assert (e.value, e.std_error) == (share, 0.0)
    assert tuple(e.interval) == pytest.approx(wanted)
    assert [n.code for n in e.notes] == ["U010"]
    assert f"Wilson's for {units} tested units" in e.notes[0].text


def test_parts_that_err_alike_have_the_spread_of_their_rows():
    """One wrong of two in each part: the means do not vary, single losses have variance 1/4, and a mean of two has 1/8."""
    table = table_of([1] * 4)
    units = len(np.unique(table.test.row))
    e = RangeT()(table.losses())
    assert (e.value, e.std_error) == (0.5, pytest.approx(np.sqrt((1 / 50 + 2 / 8) / 8 * units / (units - 1))))
    assert tuple(e.interval) == pytest.approx(score_roots(0.5, e.std_error, stats.t.ppf(0.975, 3)), rel=1e-9)
    assert e.notes == ()


def test_stratified_folds_that_agree_do_not_narrow_the_interval():
    """A rule that always errs on the rarer class: stratified folds all have the same error, and 200 rows still are 200 rows."""
    y = (np.arange(200) < 40).astype(int)
    e = unseen.estimate("dummy", np.zeros((200, 1)), y, method="range-t", random_state=0)
    assert e.value == pytest.approx(0.2)
    assert e.std_error == pytest.approx(np.sqrt((1 / 50 + 1 / 9) * 0.2 * 0.8 / 20 * 200 / 199))


def test_units_of_several_rows_differ_as_a_whole():
    """Groups of four that err together count as one: a quarter as many units, four times the variance of their mean."""
    groups = np.arange(160) // 4
    y = (groups % 4 == 0).astype(int)
    table = unseen.run("dummy", np.zeros((160, 1)), y, design=RepeatedKFold(10, 2), groups=groups, random_state=0)
    assert variance_over_units(table.losses()) == pytest.approx(0.25 * 0.75 / 4 * 40 / 39)


def test_a_perfect_area_counts_the_rarest_class_and_a_constant_has_no_interval():
    y = (np.arange(60) < 12).astype(int)
    table = unseen.run(
        LogisticRegression(), 10.0 * y[:, None], y, design=RepeatedKFold(6, 2), random_state=0, scores=True
    )
    e = RangeT()(table.losses("auc"))
    q2 = stats.t.ppf(0.975, 11) ** 2
    assert (e.value, e.interval.low, e.interval.high) == (0, 0, pytest.approx(q2 / (12 + q2)))
    constant = unseen.run("dummy", 10.0 * y[:, None], y, design=RepeatedKFold(6, 2), random_state=0, scores=True)
    e = RangeT()(constant.losses("auc"))
    assert (e.value, e.interval, [n.code for n in e.notes]) == (0.5, None, ["U010"])


def test_a_perfect_regression_has_no_interval():
    x = np.arange(40.0)
    table = unseen.run(
        DecisionTreeRegressor(), x[:, None], np.zeros(40), design=RepeatedKFold(10, 2), task="regression"
    )
    e = RangeT()(table.losses())
    assert (e.value, e.interval, [n.code for n in e.notes]) == (0.0, None, ["U010"])


def test_value_is_that_of_repeated_cross_validation():
    X, y = sample()
    rng = np.random.default_rng(1)
    sizes = np.repeat(np.arange(15), np.arange(1, 16))
    for extra in ({}, {"groups": sizes}, {"sample_weight": rng.uniform(0.2, 3, 120)}):
        table = unseen.run(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, design="repeated-kfold", **extra)
        e = RangeT()(table.losses())
        assert e.value == pytest.approx(unseen.estimate(table, method="repeated-kfold").value, rel=1e-12)
        assert tuple(e.interval) == pytest.approx(score_roots(e.value, e.std_error, stats.t.ppf(0.975, e.df)), rel=1e-9)
        assert (e.df, e.target.n_train) == ((14, 15) if "groups" in extra else (49, 120))


def test_equal_parts_give_the_value_and_error_of_corrected_t_unless_units_differ_more():
    X, y = sample()
    for extra in ({}, {"groups": np.arange(120) // 4}):
        table = unseen.run(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, design="repeated-kfold", **extra)
        e, other = RangeT()(table.losses()), CorrectedT()(table.losses())
        units = np.sqrt(variance_over_units(table.losses()) * (1 / 50 + 1 / 9))
        wanted = max(other.std_error, units)
        assert (e.value, e.std_error, e.df) == pytest.approx((other.value, wanted, other.df), rel=1e-12)


def test_unequal_groups_count_by_their_rows():
    """The mean over all rows is the ratio of total loss to total weight; its linearisation gives the spread."""
    X, y = sample()
    groups = np.repeat(np.arange(15), np.arange(1, 16))
    design = RepeatedKFold(5, 2)
    weight = np.random.default_rng(1).uniform(0.2, 3, 120)
    table = unseen.run("lda", X, y, design=design, groups=groups, sample_weight=weight, random_state=0)
    rows, split = table.test.row, table.test.split
    wrong = (table.test.value != y[rows]).astype(float)
    total = np.array([np.sum((weight[rows] * wrong)[split == j]) for j in range(10)])
    each = np.array([weight[rows][split == j].sum() for j in range(10)])
    ratio = total.sum() / each.sum()
    residual = (total - ratio * each) / each.mean()
    e = RangeT()(table.losses())
    assert e.value == pytest.approx(ratio, rel=1e-12)
    assert e.std_error == pytest.approx(np.sqrt((1 / 10 + 3 / 12) * residual.var(ddof=1)), rel=1e-12)


@pytest.mark.parametrize(
    ("n", "folds", "rounds"), [(4, 4, 5), (10, 10, 5), (1000, 10, 5), (1001, 10, 2), (100_000, 10, 2), (100_001, 10, 1)]
)
def test_rounds_follow_from_the_number_of_units(n, folds, rounds):
    data = as_data(np.zeros((n, 1)), np.arange(n) % 2)
    assert RangeT().default_design(data) == RepeatedKFold(folds, rounds)


def test_groups_decide_the_rounds():
    data = as_data(np.zeros((2000, 1)), np.arange(2000) % 2, groups=np.arange(2000) // 4)
    assert RangeT().default_design(data).n_repeats == 5


def test_differences_and_single_rounds_of_folds_are_refused():
    X, y = sample()
    table = unseen.run("lda", X, y, design="repeated-kfold", random_state=0).losses()
    with pytest.raises(InputError, match="range-t is not linear"):
        RangeT()(table.minus(table))
    with pytest.raises(DesignError, match="range-t is not valid for the design 'kfold'"):
        RangeT()(unseen.run("lda", X, y, design=KFold(5), random_state=0).losses())


def test_one_completed_split_is_refused():
    with pytest.raises(InputError, match="range-t needs at least 2 completed splits"):
        RangeT()(table_of([1]).losses())


def test_weak_spots_are_noted():
    assert [n.code for n in RangeT()(table_of([0, 1, 1, 2], n=6).losses()).notes] == ["U015"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    table = unseen.run(LinearRegression(), X, rng.standard_t(1.5, 100), design="repeated-kfold", random_state=0)
    assert [n.code for n in RangeT()(table.losses()).notes] == ["U040"]
    assert "The absolute error" in RangeT()(table.losses()).notes[0].text
