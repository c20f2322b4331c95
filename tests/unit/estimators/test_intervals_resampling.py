"""Intervals from many splits: against hand formulas written the long way, and against cases with a closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError
from unseen.core.plan import Split
from unseen.datasets.conversion import as_data
from unseen.estimators._jackknife import influences
from unseen.estimators.auto import Auto
from unseen.estimators.conservative_z import ConservativeZ
from unseen.estimators.cv5x2 import Cv5x2T
from unseen.estimators.cv_wald import CvWald
from unseen.estimators.nested_cv import NestedCv
from unseen.estimators.out_of_bag import OutOfBagInterval
from unseen.estimators.resampled_t import ResampledT


def halves_table(loss_table, outer, inner):
    """Return a split-halves table with given mean losses: outer[j] and inner[m][half][j]."""
    test, train = np.array([0, 1]), np.array([2, 3, 4, 5])
    splits = [Split(train, test, repeat=0, fold=j, part=-1) for j in range(len(outer))]
    values = [np.full(2, v) for v in outer]
    for m, halves in enumerate(inner):
        for part, means in enumerate(halves):
            for j, v in enumerate(means):
                splits.append(Split(train[:2], test, repeat=m, fold=j, part=part))
                values.append(np.full(2, v))
    return loss_table(splits, values, "split-halves")


def test_conservative_z_by_hand(loss_table):
    inner = [((1.0, 3.0), (2.0, 2.0)), ((4.0, 2.0), (1.0, 2.0)), ((5.0, 1.0), (2.0, 1.0))]
    e = ConservativeZ()(halves_table(loss_table, [2.0, 4.0], inner))
    gaps = [2.0 - 2.0, 3.0 - 1.5, 3.0 - 1.5]
    se = np.sqrt(sum(g**2 for g in gaps) / (2 * 3))
    assert e.value == 3.0
    assert e.std_error == pytest.approx(se, abs=1e-12)
    assert tuple(e.interval) == pytest.approx((3 - 1.959964 * se, 3 + 1.959964 * se), abs=1e-5)
    assert str(e.target) == "the algorithm trained on 4 rows"
    assert "U009" in [n.code for n in e.notes]


def test_conservative_z_needs_both_halves(loss_table):
    with pytest.raises(InputError, match="both halves of at least one halving"):
        ConservativeZ()(halves_table(loss_table, [2.0, 4.0], [((1.0,), ())]))


def test_five_by_two_by_hand(loss_table):
    means = np.array([[0.30, 0.26], [0.28, 0.30], [0.20, 0.31], [0.22, 0.29], [0.26, 0.24]])
    splits = [Split(np.array([0, 1]), np.array([2, 3]), repeat=r, fold=k) for r in range(5) for k in range(2)]
    e = Cv5x2T()(loss_table(splits, [np.full(2, v) for v in means.ravel()], "5x2cv"))
    variances = [((a - (a + b) / 2) ** 2 + (b - (a + b) / 2) ** 2) for a, b in means]
    se = np.sqrt(sum(variances) / 5)
    assert (e.value, e.std_error, e.df) == pytest.approx((0.30, se, 5.0), abs=1e-12)
    half = stats.t.ppf(0.975, 5) * se
    assert e.interval.high == pytest.approx(0.30 + half, abs=1e-12)


def test_five_by_two_refuses_a_missing_half(loss_table):
    splits = [Split(np.array([0, 1]), np.array([2, 3]), repeat=r, fold=k) for r in range(5) for k in range(2)]
    table = loss_table(splits, [np.full(2, 0.1 + 0.01 * k) for k in range(10)], "5x2cv")
    short = replace(table, test=table.test._keep(np.arange(1, 10)))
    with pytest.raises(InputError, match="needs all ten fits; 1 of them failed"):
        Cv5x2T()(short)


def nested_by_loops(table, k_folds, bias):
    """Return value and standard error the long way: lists and loops, as in the paper's algorithm."""
    plan, losses = table.plan, table.dense()
    repeats = sorted({s.repeat for s in plan})
    a_minus_b, inner_means, outer_means, naive = [], [], [], []
    for r in repeats:
        pooled = []
        for k in range(k_folds):
            (o,) = [j for j, s in enumerate(plan) if (s.repeat, s.part, s.fold) == (r, -1, k)]
            inside = [j for j, s in enumerate(plan) if (s.repeat, s.part) == (r, k)]
            e_out = losses[o][plan.splits[o].test]
            e_in = np.concatenate([losses[j][plan.splits[j].test] for j in inside])
            a_minus_b.append((e_in.mean() - e_out.mean()) ** 2 - e_out.var(ddof=1) / len(e_out))
            inner_means.append(e_in.mean())
            outer_means.append(e_out.mean())
            pooled.extend(e_out)
        naive.append(np.var(pooled, ddof=1) / len(pooled))
    n = plan.n
    se = np.sqrt(np.mean(naive))
    root = np.sqrt(max(0.0, np.mean(a_minus_b)))
    inflation = min(max(root / (se * np.sqrt(n) / np.sqrt(n * (k_folds - 1) / k_folds)), 1.0), np.sqrt(k_folds))
    factor = 1 + ((k_folds - 2) / k_folds) ** (1.0 if bias == "linear" else 1.5)
    value = np.mean(inner_means) - factor * (np.mean(inner_means) - np.mean(outer_means))
    return value, se * inflation


@pytest.mark.parametrize("bias", ["linear", "authors"])
def test_nested_cv_equals_the_loops(bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    for seed in range(3):
        table = unseen.run(
            DecisionTreeClassifier(random_state=0), X, y, design=unseen.designs.Nested(4, 3), random_state=seed
        ).losses()
        e = NestedCv(bias=bias)(table)
        assert (e.value, e.std_error) == pytest.approx(nested_by_loops(table, 4, bias), abs=1e-12)
        assert str(e.target) == "the algorithm trained on 60 rows"


def test_nested_cv_compares_outer_folds_with_inner_ones_of_their_own_repeat(loss_table):
    """Inner errors are shifted apart in every repeat and fold, so that the inflation lies between its bounds."""
    data = as_data(np.zeros((40, 1)), np.arange(40.0))
    plan = unseen.designs.Nested(4, 3).plan(data, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    shift = 0.2 + rng.choice([-0.11, 0.11], (3, 4))
    losses = [rng.random(len(s.test)) + (shift[s.repeat, s.part] if s.part >= 0 else 0.2) for s in plan]
    table = loss_table(plan.splits, losses, "nested", n=40)
    assert 1.05 < NestedCv().inflation(table)[-1] < 1.95
    e = NestedCv()(table)
    assert (e.value, e.std_error) == pytest.approx(nested_by_loops(table, 4, "linear"), abs=1e-12)
    assert NestedCv(bias="none")(table).target.n_train == np.mean([len(s.train) for s in plan if s.part >= 0])


def test_nested_cv_bias_factor_is_exact_for_an_error_linear_in_one_over_n(loss_table):
    """Losses a + b/n_train everywhere: the extrapolated value is a + b/n, whatever the number of folds."""
    a, b = 1.0, 6.0
    for k_folds in (3, 4, 6):
        data = as_data(np.zeros((24, 1)), np.arange(24.0))
        plan = unseen.designs.Nested(k_folds, 2).plan(data, np.random.default_rng(0))
        table = loss_table(plan.splits, [np.full(len(s.test), a + b / len(s.train)) for s in plan], "nested")
        assert NestedCv()(table).value == pytest.approx(a + b / 24, abs=1e-12)
        assert NestedCv(bias="none")(table).value == pytest.approx(a + b / (24 * (k_folds - 2) / k_folds), abs=1e-12)


def test_nested_cv_inflation_stays_in_its_bounds(loss_table):
    data = as_data(np.zeros((20, 1)), np.arange(20.0))
    plan = unseen.designs.Nested(5, 2).plan(data, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    calm = loss_table(plan.splits, [1 + 0.01 * rng.random(len(s.test)) for s in plan], "nested")
    # outer folds far from their inner estimate, with little spread inside: the bound sqrt K must hold
    wild = loss_table(
        plan.splits, [rng.random(len(s.test)) * 1e-3 + (10 * (s.fold % 2) if s.part < 0 else 0) for s in plan], "nested"
    )
    assert np.all(NestedCv().inflation(calm) >= 1)
    assert np.all(NestedCv().inflation(wild) <= np.sqrt(5) + 1e-12)
    assert len(NestedCv().inflation(wild)) == 2


def test_unknown_bias_is_refused():
    with pytest.raises(InputError, match="bias is 'none at all'"):
        NestedCv(bias="none at all")


def test_cv_wald_with_equal_groups_is_the_spread_of_group_means():
    rng = np.random.default_rng(4)
    X, groups = rng.standard_normal((60, 3)), np.repeat(np.arange(20), 3)
    y = X[:, 0] + np.repeat(rng.standard_normal(20), 3)
    table = unseen.run("ols", X, y, design=unseen.designs.KFold(5), random_state=0, groups=groups).losses()
    means = table.by_unit()
    e = CvWald()(table)
    assert e.std_error == pytest.approx(means.std(ddof=1) / np.sqrt(20), rel=1e-12)
    assert e.n_units == 20


class MeanRule:
    """Predicts the mean of its training targets."""

    def fit(self, X, y):
        self.mean = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_leave_one_out_of_the_mean_has_a_closed_form():
    """With normal targets: value n/(n-1) S^2, variance 2 n^2 sigma^4/(n-1)^3 = sigma^2/n + (n-1)/n gamma."""
    n, rng = 12, np.random.default_rng(5)
    y = rng.normal(3.0, 2.0, n)
    table = unseen.run(MeanRule(), np.zeros((n, 1)), y, design="loo", random_state=0, task="regression")
    e = unseen.estimate(table, method="cv-wald")
    assert e.value == pytest.approx(n / (n - 1) * y.var(ddof=1), rel=1e-12)
    draws = rng.normal(0, 1, (200_000, n))
    values = n / (n - 1) * draws.var(axis=1, ddof=1)
    theta = 2 * n**2 / (n - 1) ** 3
    assert values.var() == pytest.approx(theta, rel=0.02)
    sigma2, gamma = 2 * (n / (n - 1)) ** 2, 2 * (n / (n - 1)) ** 4 / n**2
    assert theta == pytest.approx(sigma2 / n + (n - 1) / n * gamma, rel=1e-12)
    # S^2/n of the losses misses their covariance: its mean is sigma2/n - gamma/n, below theta by exactly gamma
    losses = ((n / (n - 1)) * (draws - draws.mean(axis=1, keepdims=True))) ** 2
    naive = losses.var(axis=1, ddof=1).mean() / n
    assert theta - naive == pytest.approx(gamma, rel=0.15)


def test_out_of_bag_influence_is_the_derivative():
    """Move weight to one unit, reweight the bootstrap samples accordingly, and differentiate."""
    rng = np.random.default_rng(6)
    n, replicates = 6, 40
    drawn = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(replicates)]).astype(float)
    losses = rng.random((replicates, n)) * (drawn == 0)

    def estimate(p):
        weight = np.prod((n * p) ** drawn, axis=1)[:, None] * (drawn == 0)
        return p @ ((weight * losses).sum(axis=0) / weight.sum(axis=0))

    _, influence, noise = influences(losses, drawn)
    for i in range(n):
        step = 1e-6
        to, away = ((1 - s) * np.full(n, 1 / n) + s * np.eye(n)[i] for s in (step, -step))
        assert influence[i] == pytest.approx((estimate(to) - estimate(away)) / (2 * step) / n, rel=1e-5, abs=1e-9)
    assert np.all(noise > 0)


def test_out_of_bag_of_fixed_predictions_is_the_plain_standard_error(loss_table):
    """Losses that do not depend on the training sample: only the units' own spread is left."""
    rng = np.random.default_rng(7)
    n, unit = 15, rng.exponential(1.0, 15)
    pairs = []
    while len(pairs) < 200:
        train = rng.integers(0, n, n)
        test = np.setdiff1d(np.arange(n), train)
        if len(test):
            pairs.append((np.sort(train), test))
    e = OutOfBagInterval()(loss_table(pairs, [unit[t] for _, t in pairs], "bootstrap", n=n))
    assert e.value == pytest.approx(unit.mean(), rel=1e-12)
    assert e.std_error == pytest.approx(unit.std(ddof=0) / np.sqrt(n), rel=1e-9)


def test_out_of_bag_refuses_few_replicates():
    X, y = unseen.datasets.load("iris").xy
    with pytest.raises(InputError, match="out-of-bag needs at least 200 bootstrap samples"):
        unseen.estimate(GaussianNB(), X, y, method="out-of-bag", design=unseen.designs.Bootstrap(50), random_state=0)


def test_resampled_t_ignores_the_overlap(loss_table):
    means = np.array([0.2, 0.3, 0.25, 0.4])
    pairs = [(np.arange(5, 20), np.arange(5)) for _ in means]
    e = ResampledT()(loss_table(pairs, [np.full(5, m) for m in means], "monte-carlo"))
    assert e.std_error == pytest.approx(means.std(ddof=1) / 2, rel=1e-12)
    assert [n.code for n in e.notes] == ["U013"]
    assert ResampledT.liberal


@pytest.mark.parametrize(
    ("n", "fits", "spent"),
    [(100, 300, 50), (100, 39, 30), (100, 10, 10), (100, 9, 1), (8, 300, 40), (30_000, 300, 20), (100_001, 300, 10)],
)
def test_auto_chooses_rounds_of_folds_by_size_and_cost(n, fits, spent):
    data = as_data(np.zeros((n, 1)), np.arange(float(n)))
    assert len(Auto(fits=fits).default_design(data).plan(data, np.random.default_rng(0)).fits) == spent


def test_auto_equals_the_method_it_names_and_says_why():
    X, y = unseen.datasets.load("iris").xy
    for design, method in (
        ("kfold", "cv-wald"),
        ("monte-carlo", "corrected-t"),
        ("repeated-kfold", "range-t"),
        ("holdout", "wilson"),
    ):
        table = unseen.run(GaussianNB(), X, y, design=design, random_state=0)
        e, plain = unseen.estimate(table, method="auto"), unseen.estimate(table, method=method)
        assert (e.value, tuple(e.interval)) == (plain.value, tuple(plain.interval))
        assert e.notes[-1].code == "U026"
        assert e.notes[-1].text.startswith(f"{method} for 150 units")


def test_auto_takes_a_difference_on_a_holdout():
    X, y = unseen.datasets.load("iris").xy
    c = unseen.compare(
        GaussianNB(), DecisionTreeClassifier(max_depth=1), X, y, test="auto", design="holdout", random_state=0
    )
    assert "wald" in c.pairs[0].notes[-1].text
    with pytest.raises(InputError, match="at least 1 fit"):
        Auto(fits=0)
