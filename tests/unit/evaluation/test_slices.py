"""Slices: closed forms, other implementations, known populations, and each message."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.estimators.training_sets import split_deviations, training_moves, variance_of_roles, variance_of_sets
from unseen.evaluation.slice_columns import RowsOfSlice, columns_of_data, slice_rows
from unseen.evaluation.slices import DIFFERENCE, AddedVariance, mid_p_ends, skewed_ends, slices_of_losses, table_slices

RNG = np.random.default_rng(4)
SITE = np.repeat(["a", "b", "c"], [40, 60, 100])
WRONG = np.concatenate([np.arange(40) < 4, np.arange(60) < 12, np.arange(100) < 30]).astype(float)


def rates(wrong=WRONG, site=SITE, units=None, **options):
    units = np.arange(len(wrong)) if units is None else units
    return slices_of_losses(
        np.asarray(wrong, float), slice_rows({"site": site}), loss="zero-one", units=units, span=(0.0, 1.0), **options
    )


def test_mid_p_limits_solve_their_equation():
    def below(p, count, n):
        return stats.binom.cdf(count - 1, n, p) + stats.binom.pmf(count, n, p) / 2

    for count, n in ((3, 20), (1, 7), (18, 40)):
        low, high = mid_p_ends(np.array([count / n]), np.array([float(n)]), 0.9)[0]
        assert below(low, count, n) == pytest.approx(0.95)
        assert below(high, count, n) == pytest.approx(0.05)


def test_mid_p_limits_of_no_error_and_of_nothing_but_errors():
    none, everything = mid_p_ends(np.array([0.0, 1.0]), np.array([10.0, 10.0]), 0.95)
    # half the chance of no error in 10 is .025 at p = 1 - .05 ** .1
    assert none == pytest.approx([0.0, 1 - 0.05**0.1])
    assert everything == pytest.approx([0.05**0.1, 1.0])


def test_hall_s_limits_undo_his_transformation():
    value, error, skew, n, q = 2.0, 0.3, 1.4, 30.0, 2.1
    low, high = skewed_ends(*(np.array([v]) for v in (value, error, skew, n, q)))[0]

    def transform(t):
        a = skew / np.sqrt(n)
        return t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6

    assert transform((value - low) / error) == pytest.approx(q)
    assert transform((value - high) / error) == pytest.approx(-q)
    assert high - value > value - low  # the long tail of large losses may lie unseen above


def test_limits_of_independent_slices_are_those_of_one_at_sidak_s_level():
    s = rates()
    each = 0.95 ** (1 / 3)
    for one, share, n in zip(s.slices, (0.1, 0.2, 0.3), (40, 60, 100)):
        assert one.value == pytest.approx(share)
        assert one.n == n
        assert [one.low, one.high] == pytest.approx(mid_p_ends(np.array([share]), np.array([float(n)]), each)[0])


def test_gap_of_two_slices_is_recovered_from_their_limits():
    s = rates(WRONG[:100], SITE[:100])
    one, two = (mid_p_ends(np.array([p]), np.array([n]), 0.95)[0] for p, n in ((0.1, 40.0), (0.2, 60.0)))
    gap = s["a", "b"]
    assert gap.value == pytest.approx(-0.1)
    assert gap.low == pytest.approx(-0.1 - np.hypot(0.1 - one[0], two[1] - 0.2))
    assert gap.high == pytest.approx(-0.1 + np.hypot(one[1] - 0.1, 0.2 - two[0]))
    other = s["b", "a"]
    assert (other.value, other.low, other.high) == pytest.approx((-gap.value, -gap.high, -gap.low))


def test_test_of_counts_agrees_with_chi_square_and_with_fisher():
    t = rates().tests[0]
    seen = stats.chi2_contingency([[4, 12, 30], [36, 48, 70]], correction=False)
    assert t.statistic == pytest.approx(seen.statistic)
    assert t.p == pytest.approx(seen.pvalue, abs=0.01)
    two = rates(WRONG[:100], SITE[:100]).tests[0]
    # all tables at least as far from the expected counts, by their hypergeometric chances
    x = np.arange(0, 17)
    chance = stats.hypergeom.pmf(x, 100, 16, 40)
    far = np.abs(x - 6.4) >= abs(4 - 6.4) - 1e-9
    assert two.p == pytest.approx(chance[far].sum(), abs=0.012)


def test_welch_s_f_agrees_with_scipy_for_two_slices():
    values = np.concatenate([RNG.exponential(1.0, 30), RNG.exponential(2.0, 50)])
    site = np.repeat(["a", "b"], [30, 50])
    s = slices_of_losses(values, slice_rows({"site": site}), loss="absolute", units=np.arange(80), span=(0.0, np.inf))
    t = stats.ttest_ind(values[:30], values[30:], equal_var=False)
    assert s.tests[0].statistic == pytest.approx(t.statistic**2)
    assert s.tests[0].p == pytest.approx(t.pvalue)


def test_welch_s_f_of_three_slices_is_his_formula():
    parts = [RNG.exponential(scale, n) for scale, n in ((1.0, 12), (1.5, 20), (2.0, 33))]
    site = np.repeat(["a", "b", "c"], [12, 20, 33])
    s = slices_of_losses(
        np.concatenate(parts), slice_rows({"site": site}), loss="absolute", units=np.arange(65), span=(0.0, np.inf)
    )
    w = np.array([len(x) / x.var(ddof=1) for x in parts])
    m = np.array([x.mean() for x in parts])
    grand = (w * m).sum() / w.sum()
    lam = sum((1 - wi / w.sum()) ** 2 / (len(x) - 1) for wi, x in zip(w, parts))
    f = (w * (m - grand) ** 2).sum() / 2 / (1 + 2 * 1 / 8 * lam)
    assert s.tests[0].statistic == pytest.approx(f)
    assert s.tests[0].p == pytest.approx(stats.f.sf(f, 2, 8 / (3 * lam)))


def test_shared_units_give_hotelling_s_test_and_a_paired_gap():
    rng = np.random.default_rng(11)
    person = np.arange(40)
    base = rng.exponential(1.0, 40)
    first, second = base + rng.normal(0, 0.1, 40), base + 0.1 + rng.normal(0, 0.1, 40)
    values, units = np.concatenate([first, second]), np.concatenate([person, person])
    s = slices_of_losses(
        values, slice_rows({"eye": np.repeat(["left", "right"], 40)}), loss="absolute", units=units, span=(0.0, np.inf)
    )
    paired = stats.ttest_rel(first, second)
    assert s.tests[0].statistic == pytest.approx(paired.statistic**2, rel=0.03)  # n or n - 1 under the sums
    gap = s["left", "right"]
    assert [gap.low, gap.high] == pytest.approx(paired.confidence_interval(0.95), rel=0.05)
    assert gap.high < 0  # seen because the two eyes of a person go together
    apart = slices_of_losses(
        values,
        slice_rows({"eye": np.repeat(["left", "right"], 40)}),
        loss="absolute",
        units=np.arange(80),
        span=(0, np.inf),
    )
    assert apart["left", "right"].high > 0


def test_overlapping_slices_need_less_than_sidak_s_level():
    twin = {"a": SITE, "b": SITE}
    s = slices_of_losses(WRONG, slice_rows(twin), loss="zero-one", units=np.arange(200), span=(0.0, 1.0), seed=1)
    alone = rates()
    # the same three slices twice need no more than three, to the Monte-Carlo error of the quantile
    assert s.slices[0].high == pytest.approx(alone.slices[0].high, abs=0.003)
    assert s.slices[0].low == s.slices[3].low


def test_worst_of_two_equal_slices_looks_worse_by_the_mean_of_a_maximum():
    n = 400
    wrong = np.tile([1.0, 0.0, 0.0, 0.0], n // 2)
    s = rates(wrong, np.repeat(["a", "b"], n))
    error = s.slices[0].std_error
    # the larger of two normal values lies std_error / sqrt(pi) above their common mean
    assert s.worst.value - s.worst.corrected == pytest.approx(error / np.sqrt(np.pi), rel=0.03)


def test_worst_is_the_smallest_of_a_score():
    y = RNG.integers(0, 2, 300)
    site = np.repeat(["good", "poor"], 150)
    p = np.clip(np.where(site == "good", 0.5 + 0.45 * (2 * y - 1), 0.5) + RNG.normal(0, 0.02, 300), 0, 1)
    m = unseen.measure(y, p, by={"site": site}, measures=["auc", "sensitivity", "accuracy"])
    assert [s.worst.name for s in m.slices.values()] == ["poor"] * 3
    assert all(s.higher for s in m.slices.values())
    alone = unseen.measure(y[150:], p[150:], measures=["auc"], level=np.sqrt(0.95))["auc"]
    poor = m.slices["auc"]["poor"]
    assert (poor.value, poor.low, poor.high) == pytest.approx((alone.value, *alone.interval))


def test_sensitivity_counts_the_positives_of_a_slice():
    y = np.array([1, 1, 1, 0, 0, 1, 1, 0, 0, 0] * 5)
    pred = np.array([1, 0, 1, 0, 1, 1, 1, 0, 0, 1] * 5)
    site = np.array(["a"] * 5 + ["b"] * 5).repeat(1).tolist() * 5
    s = unseen.measure(y, pred, by={"site": site}, measures=["sensitivity"]).slices["sensitivity"]
    assert (s["a"].n, s["a"].value, s["b"].value) == (15, pytest.approx(2 / 3), 1.0)


def test_groups_widen_the_limits():
    group = np.repeat(np.arange(50), 4)
    wrong = np.repeat(np.arange(50) % 5 == 0, 4).astype(float)  # all rows of a group alike
    site = np.repeat(["a", "b"], 100)
    apart, together = rates(wrong, site), rates(wrong, site, units=group)
    width = lambda s: s.slices[0].high - s.slices[0].low  # noqa: E731
    assert width(together) == pytest.approx(2 * width(apart), rel=0.3)  # the root of four rows a group
    assert together.slices[0].n_units == 25


def test_rmse_in_slices_is_the_root():
    y = RNG.normal(size=90)
    error = RNG.normal(size=90)
    site = np.repeat(["a", "b", "c"], 30)
    s = unseen.measure(y, y + error, by={"site": site}).slices["rmse"]
    assert s["b"].value == pytest.approx(np.sqrt(np.mean(error[30:60] ** 2)))
    assert s.worst.name == max("abc", key=lambda k: np.mean(error[site == k] ** 2))


def test_quantiles_crossings_and_missing_values():
    frame = pd.DataFrame({"age": np.arange(100.0), "sex": ["f", "m"] * 50, "stage": [1, 2, 3, None] * 25})
    data = unseen.datasets.as_data(frame, np.arange(100) % 2)
    named = columns_of_data(["age:5", "sex*stage", "stage"], data)
    parts = slice_rows(named)
    assert [p.name for p in parts if p.column == "age"] == ["below 20", "20 to 40", "40 to 60", "60 to 80", "from 80"]
    assert [int(p.rows.sum()) for p in parts if p.column == "age"] == [20] * 5
    crossed = {p.name: int(p.rows.sum()) for p in parts if p.column == "sex*stage"}
    assert crossed == {"f, 1": 25, "f, 3": 25, "m, 2": 25, "missing": 25}
    assert [p.name for p in parts if p.column == "stage"] == ["1", "2", "3", "missing"]
    assert all(sum(p.rows[k] for p in parts if p.column == "age") == 1 for k in range(100))


def test_equal_numbers_share_a_slice():
    values = np.array([0.0] * 60 + list(range(1, 41)), float)
    parts = slice_rows({"dose": values})
    assert parts[0].rows[:60].all()
    assert sum(p.rows.astype(int) for p in parts).tolist() == [1] * 100


def test_messages():
    y, p = [0, 1, 0, 1] * 5, [0.1, 0.9, 0.4, 0.6] * 5
    with pytest.raises(InputError, match="same value of 'site'"):
        unseen.measure(y, p, by={"site": ["a"] * 20})
    with pytest.raises(InputError, match="for 20 rows"):
        unseen.measure(y, p, by={"site": ["a", "b"]})
    with pytest.raises(InputError, match="give the values"):
        unseen.measure(y, p, by="site")
    with pytest.raises(InputError, match="no quantiles"):
        unseen.measure(y, p, by={"site:3": ["a", "b"] * 10})
    with pytest.raises(InputError, match="at most 60"):
        slice_rows({"id": np.array([f"r{k}" for k in range(61)])})
    X = pd.DataFrame({"a": np.arange(20.0), "b": RNG.normal(size=20)})
    with pytest.raises(UnknownName, match="column to slice by"):
        unseen.assess("logistic", X, y, by="sight")


def test_small_slices_are_noted():
    s = rates(WRONG[:64], np.repeat(["a", "b"], [60, 4]))
    assert [n.code for n in s.notes] == ["U048"]
    assert "b (4)" in s.notes[0].text


def test_same_seed_same_numbers_and_one_column_does_not_move_with_another():
    sex = np.array(["f", "m"] * 100)
    both = [
        unseen.measure(WRONG.astype(int), np.zeros(200, int), by={"site": SITE, "sex": sex}).to_dict() for _ in range(2)
    ]
    assert both[0]["slices"] == both[1]["slices"]


def test_slices_of_an_assessment_and_of_a_comparison():
    rng = np.random.default_rng(0)
    n = 240
    X, site = rng.normal(size=(n, 1)), rng.choice(["north", "south"], n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-np.where(site == "north", 5, 0.2) * X[:, 0])), "yes", "no")
    by = {"site": site}
    a = unseen.assess("lda", X, y, by=by, random_state=0, effort="quick")
    assert a.slices.worst.name == "south"
    assert a.slices["north", "south"].differs
    rows = a.tables[a.headline_design].by_row()
    south = (site == "south") & np.isfinite(rows)
    assert a.slices["south"].value == pytest.approx(rows[south].mean())
    assert "south" in str(a)
    assert a.to_dict()["slices"]["worst"]["name"] == "south"
    assert "by={'site': site}" in a.settings["repeat"]
    turned = a.slices.complement("accuracy")
    assert turned["south"].value == pytest.approx(1 - a.slices["south"].value)
    assert turned["south"].low == pytest.approx(1 - a.slices["south"].high)
    assert turned["north", "south"].value == pytest.approx(-a.slices["north", "south"].value)
    assert turned.worst.name == "south"
    design = unseen.designs.RepeatedKFold(5, 2)
    tables = {name: unseen.run(name, X, y, design=design, random_state=0) for name in ("lda", "dummy")}
    c = unseen.compare(tables, by=by)
    gap = c.slices[0]
    losses = tables["lda"].losses().by_row() - tables["dummy"].losses().by_row()
    assert gap["north"].value == pytest.approx(losses[site == "north"].mean())
    assert gap["north"].high < 0 < gap["south"].high


def test_differences_of_bounded_losses_have_student_s_limits_and_others_fewer_degrees_of_freedom():
    rng = np.random.default_rng(9)
    y, wrong = rng.integers(0, 2, 200), rng.random((2, 200)) < [[0.1], [0.4]]
    frame = pd.DataFrame({"site": SITE, "y": y, "yhat": np.where(wrong[0], 1 - y, y)})
    other = frame.assign(yhat=np.where(wrong[1], 1 - y, y))
    made = unseen.predictions({"a": frame, "b": other}, truth="y", pred="yhat", by="site").slices[2]["c"]
    each = (wrong[0].astype(float) - wrong[1])[SITE == "c"]
    half = stats.t.ppf((1 + 0.95 ** (1 / 3)) / 2, 99) * stats.sem(each)
    assert [made.low, made.high] == pytest.approx([each.mean() - half, each.mean() + half])
    # one value far out in each slice: squares of which one is nearly all are worth about two degrees of freedom
    parts = slice_rows({"site": SITE})
    values = np.where(np.isin(np.arange(200), [0, 40, 100]), 100.0, rng.normal(size=200))
    wide, plain = (
        slices_of_losses(values, parts, loss=loss, units=np.arange(200)) for loss in (DIFFERENCE, "absolute")
    )
    squares = [np.square(values[name == SITE] - values[name == SITE].mean()) for name in "abc"]
    worth = [(len(q) - 1) / (2 * q.sum() ** 2 / np.square(q - q.mean()).sum()) for q in squares]
    freedom = 99 / np.average(worth, weights=[40, 60, 100])
    quantile, level = (stats.t.ppf((1 + 0.95 ** (1 / 3)) / 2, df) for df in (freedom, 99))
    assert quantile > 1.5 * level
    skew = stats.skew(values[SITE == "c"])
    expected = skewed_ends(*(np.array([v]) for v in (plain["c"].value, plain["c"].std_error, skew, 100.0, quantile)))[0]
    assert [wide["c"].low, wide["c"].high] == pytest.approx(expected)


def test_what_comes_to_slices_alone_widens_them_and_leaves_their_gaps_alone():
    rng = np.random.default_rng(5)
    values, none = rng.normal(size=200), np.zeros(3)
    one, two = (
        slices_of_losses(
            values,
            slice_rows({"site": SITE}),
            loss="absolute",
            units=np.arange(200),
            extra=AddedVariance(extra, none),
            apart=AddedVariance(none, none),
        )
        for extra in (none, np.full(3, 0.03))
    )
    assert [g.low for g in one.gaps] == [g.low for g in two.gaps]
    assert one.tests[0].p == two.tests[0].p
    for name in "abc":
        assert two[name].std_error ** 2 == pytest.approx(one[name].std_error ** 2 + 0.03)


def test_noise_of_an_added_variance_costs_degrees_of_freedom_as_satterthwaite_has_it():
    """The variance of V = rows + added is 2 rows^2 / 39 and the noise; with one slice of 40 rows the ends are Student's."""
    values = np.tile([-1.0, 1.0], 20)  # no skewness, and squares that are all alike
    everyone = (RowsOfSlice("all", "x", np.ones(40, bool)),)
    rows, added, noise = 40 / 39 / 40, 0.02, 0.0004
    s = slices_of_losses(
        values,
        everyone,
        loss=DIFFERENCE,
        units=np.arange(40),
        extra=AddedVariance(np.array([added]), np.array([noise])),
    )
    freedom = 2 * (rows + added) ** 2 / (2 * rows**2 / 39 + noise)
    assert 1 < freedom < 20
    assert s["x"].high == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(rows + added))


def test_one_slice_of_all_rows_has_the_pair_s_difference_and_for_fixed_predictions_its_error():
    rng = np.random.default_rng(6)
    n = 80
    X, y = rng.normal(size=(n, 2)), (rng.random(n) < 0.4).astype(int)
    design = unseen.designs.MonteCarlo(0.368, 200)
    models = [*(DummyClassifier(strategy="constant", constant=k) for k in (0, 1)), "cart"]
    losses = [unseen.run(m, X, y, design=design, random_state=0).losses() for m in models]
    everyone = (RowsOfSlice("all", "x", np.ones(n, bool)),)
    for a, b in ((0, 1), (0, 2)):
        table = losses[a].minus(losses[b])
        slices = table_slices(table, everyone, level=0.95, seed=0)
        pair = unseen.estimate(table, method="subsampling")
        assert slices["x"].value == pytest.approx(pair.value)
        if b == 1:  # the jackknife divides by n, a slice by n - 1
            assert slices["x"].std_error == pytest.approx(pair.std_error * np.sqrt(n / (n - 1)))


@pytest.mark.parametrize("bounded", [False, True])
def test_training_sets_add_both_parts_to_each_slice_and_noise_draws_those_of_bounded_losses_to_nothing(bounded):
    """Half the mean of the 37 targets trained on, against nothing: all errors move with the training set, and as test cases do."""
    rng = np.random.default_rng(8)
    y = rng.normal(3.0, size=60)
    X = np.stack([y + rng.normal(size=60), rng.normal(size=60)], axis=1) if bounded else np.ones((60, 1))
    if bounded:
        y = (y + rng.normal(size=60) > 3).astype(int)
    options = {"design": unseen.designs.MonteCarlo(0.368, 200), "random_state": 0, "duplicates": "apart"}
    numbers = Ridge(alpha=37, fit_intercept=False), DummyRegressor(strategy="constant", constant=0.0)
    models = ("cart", "lda") if bounded else numbers
    one, two = (unseen.run(m, X, y, **options).losses() for m in models)
    table, site = one.minus(two), np.repeat(["a", "b"], 30)
    s = table_slices(table, slice_rows({"site": site}), level=0.95, seed=0)
    for name in "ab":
        mine = site == name
        each = table.by_row()
        deviations = split_deviations(table, mine.astype(float))
        own = mine * (each - each[mine].mean()) / 30
        roles = variance_of_roles(training_moves(table), deviations, own)
        sets = variance_of_sets(training_moves(table), deviations)
        common, noise = max(sets.value, 0.0), roles.noise + sets.noise * (sets.value > 0)
        if bounded and common:
            common /= 1 + sets.noise / common**2
        added = max(roles.value + common, 0.0)
        if bounded and added:
            added /= 1 + noise / added**2
        assert s[name].std_error ** 2 == pytest.approx(each[mine].var(ddof=1) / 30 + added)
    if not bounded:  # both roles count, by algebra 1 + 1 + 1/4 of the variance over rows if all rows were one slice
        assert s["a"].std_error > 1.2 * np.sqrt(table.by_row()[site == "a"].var(ddof=1) / 30)


def test_rows_tested_once_are_widened_as_nadeau_and_bengio_have_it():
    """Ten folds: (1/10 + 1/9) 10 times the variance over rows."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    design = unseen.designs.KFold(10)
    ols, dummy = (unseen.run(m, X, y, design=design, random_state=0).losses() for m in ("ols", "dummy"))
    site = np.repeat(["a", "b"], 50)
    s = table_slices(ols.minus(dummy), slice_rows({"site": site}), level=0.95, seed=0)
    each = (ols.by_row() - dummy.by_row())[site == "a"]
    assert s["a"].std_error ** 2 == pytest.approx(each.var(ddof=1) / 50 * (1 / 10 + 1 / 9) * 10)


def test_slices_of_a_comparison_need_losses_of_rows():
    X, y = unseen.datasets.load("breast-cancer").xy
    tables = {
        name: unseen.run(name, X[:120], y[:120], design=unseen.designs.RepeatedKFold(5, 2), random_state=0)
        for name in ("lda", "dummy")
    }
    with pytest.raises(InputError, match="whole test parts"):
        unseen.compare(tables, by={"half": np.repeat(["a", "b"], 60)}, measure="f1", test="corrected-t")


def test_slices_of_files(tmp_path):
    frame = pd.DataFrame({"id": range(200), "site": SITE, "y": 0, "yhat": WRONG.astype(int)})
    other = frame.assign(yhat=0).sample(frac=1, random_state=0)
    r = unseen.predictions({"a": frame, "b": other}, truth="y", pred="yhat", id="id", by="site")
    assert [s.of for s in r.slices] == ["a", "b", "a − b"]
    assert r.slices[0]["c"].value == pytest.approx(0.3)
    assert r.slices[2]["c"].value == pytest.approx(0.3)
    wrong = other.assign(site="x")
    with pytest.raises(InputError, match="disagree on the slice"):
        unseen.predictions({"a": frame, "b": wrong}, truth="y", pred="yhat", id="id", by="site")


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process: exit code, stdout, stderr."""
    from unseen.cli.app import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        return (done.value.code, *capsys.readouterr())

    return run


def test_command_line(tmp_path, command):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"site": SITE, "x": rng.normal(size=200), "y": rng.choice(["no", "yes"], 200)})
    frame["s"] = rng.random(200)
    frame.to_csv(tmp_path / "d.csv", index=False)
    file = str(tmp_path / "d.csv")
    given = ("measure", file, "--truth", "y", "--score", "s")
    code, out, _ = command(*given, "--by", "site", "--by", "x:3", "--measure", "zero-one", "--json")
    made = json.loads(out)["slices"]["zero-one"]
    assert (code, [t["column"] for t in made["tests"]]) == (0, ["site", "x"])
    code, out, _ = command("assess", file, "-t", "y", "--by", "site", "--drop", "site", "--quick", "-q", "--json")
    made = json.loads(out)
    assert (code, [s["slice"] for s in made["slices"]["slices"]]) == (0, ["a", "b", "c"])
    code, _, err = command(*given, "--by", "sight")
    assert code == 2
    assert "column to slice by" in err


def test_report_has_the_picture_and_the_gaps(tmp_path):
    m = unseen.measure(WRONG.astype(int), RNG.random(200), by={"site": SITE}, measures=["zero-one"])
    page = m.slices["zero-one"].report(tmp_path / "m.html")
    text = Path(page).read_text()
    assert "Gaps between slices" in text
    assert "slices-" in text
    ax = m.slices["zero-one"].plot()
    assert len(ax.get_yticklabels()) == 3


def test_two_columns_are_named_with_a_comma_wherever_columns_are_named(tmp_path):
    rng = np.random.default_rng(2)
    n = 200
    frame = pd.DataFrame({"x": rng.normal(size=n), "site": rng.choice(["n", "s"], n), "sex": rng.choice(["f", "m"], n)})
    frame["y"] = np.where(frame.x + rng.normal(size=n) > 0, "ill", "well")
    given = {"random_state": 0, "cv": 5}
    both = unseen.assess("cart", frame, "y", by="site, sex", **given).slices
    assert both.to_dict() == unseen.assess("cart", frame, "y", by=["site", "sex"], **given).slices.to_dict()
    (pair,) = unseen.compare("cart", "naive-bayes", frame, "y", by="site,sex*site", **given).slices
    assert {t.column for t in pair.tests} == {"site", "sex*site"}
    # a column that is called so stands for itself
    odd = frame.rename(columns={"site": "site,sex"})
    made = unseen.assess("cart", odd, "y", by="site,sex", **given).slices
    assert {t.column for t in made.tests} == {"site,sex"}
    file = tmp_path / "rows.csv"
    frame.to_csv(file, index=False)
    words = ["-m", "unseen", "compare", str(file), "-t", "y", "-m", "cart", "-m", "naive-bayes", "--cv", "5"]
    done = subprocess.run(
        [sys.executable, *words, "--by", "site,sex", "--drop", "site", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {t["column"] for t in json.loads(done.stdout)["slices"][0]["tests"]} == {"site", "sex"}


def test_slices_as_bad_as_the_worst_are_named_and_coloured_with_it():
    wrong = np.concatenate([np.arange(40) < 12, np.arange(60) < 6, np.arange(100) < 30]).astype(float)
    s = rates(wrong)
    assert s.sentence().startswith(
        "The error is worst in site a and c: 30.0% (95% interval for all 3 slices together, in a: "
    )
    assert unseen.show.info(s, "slices").worst == {0, 2}
    assert [x.name for x in rates().worst_slices()] == ["c"]
    same = rates(np.tile([1.0, 0.0], 100))
    assert same.sentence().startswith("The error is 50.0% in every slice (95% interval")
    assert unseen.show.info(same, "slices").worst == set()
    many = np.repeat(list("abcdef"), 40)
    half = np.where(many == "f", 0.0, np.tile([1.0, 0.0], 120))
    assert rates(half, many).sentence().startswith("The error is worst in 5 of 6 slices: 50.0%")


def test_a_model_that_is_better_in_every_slice_leads_least_in_the_worst_one():
    gaps = np.where(SITE == "c", -0.1, -0.3) + np.random.default_rng(3).normal(0, 0.2, len(SITE))

    def differences(values):
        parts, units = slice_rows({"site": SITE}), np.arange(len(SITE))
        s = slices_of_losses(values, parts, loss=DIFFERENCE, units=units, span=(-1.0, 1.0), of="lda − cart")
        return replace(s, measure=f"{DIFFERENCE}zero-one")

    ahead, behind = differences(gaps), differences(-gaps)
    c, worst = ahead["c"], behind.worst
    assert ahead.sentence().startswith(
        f"lda's lead over cart is smallest in site c: {-100 * c.value:.1f} points (95% interval for all 3 slices together: "
        f"{-100 * c.high:.1f} to {-100 * c.low:.1f} points)"
    )
    assert behind.sentence().startswith(
        f"lda does worst against cart in site {worst.name}: {100 * worst.value:+.1f} points (95% interval for all 3 slices "
        f"together: {100 * worst.low:+.1f} to {100 * worst.high:+.1f} points)"
    )
