"""The corrected t interval against Nadeau and Bengio's formula worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeRegressor

import unseen
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.plan import Plan, Split
from unseen.designs import KFold, LeaveOut, MonteCarlo, RepeatedKFold
from unseen.estimators.corrected_t import CorrectedT


def table_of(errors, n=10, units=None):
    """One split per error count: 2 of n rows are tested, and that many predictions are wrong."""
    rng = np.random.default_rng(0)
    splits, rows, values = [], [], []
    for j, wrong in enumerate(errors):
        test = np.sort(rng.permutation(n)[:2])
        splits.append(Split(np.setdiff1d(np.arange(n), test), test, repeat=j))
        rows.append(test)
        values.append(np.array([1] * wrong + [0] * (2 - wrong)))
    units = np.arange(n) if units is None else units
    plan = Plan("monte-carlo", tuple(splits), units)
    data = Data(None, np.zeros(n, dtype=int), "classification", np.array([0, 1]), groups=None)
    test = Predictions(
        split=np.repeat(np.arange(len(errors)), 2), row=np.concatenate(rows), value=np.concatenate(values)
    )
    return PredictionTable(plan=plan, data=data, test=test, seconds=np.zeros(len(errors)))


def test_four_splits_by_hand():
    """Split errors 0, 1/2, 1/2, 1: mean 1/2, S^2 = (1/4 + 0 + 0 + 1/4)/3 = 1/6, factor 1/4 + 2/8 = 1/2."""
    e = CorrectedT()(table_of([0, 1, 1, 2]).losses(), level=0.5)
    assert e.value == 0.5
    assert e.std_error == pytest.approx(np.sqrt(1 / 12), rel=1e-14)
    assert e.df == 3
    t = 0.7648923284043453  # upper quartile of t with 3 degrees of freedom
    assert tuple(e.interval) == pytest.approx((0.5 - t * np.sqrt(1 / 12), 0.5 + t * np.sqrt(1 / 12)), rel=1e-9)
    assert e.target.n_train == 8


def test_on_a_real_run_for_each_design():
    data = unseen.datasets.load("diabetes").take(np.arange(90))
    for design in (MonteCarlo(0.1, 12), LeaveOut(0.2, 15), RepeatedKFold(9, 2)):
        table = unseen.run(DecisionTreeRegressor(random_state=0), data, design=design, random_state=0)
        residuals = np.square(data.y[table.test.row] - table.test.value)
        means = np.array([residuals[table.test.split == j].mean() for j in range(len(table.plan))])
        n2 = len(table.plan.splits[0].test)
        se = np.sqrt((1 / len(means) + n2 / (90 - n2)) * means.var(ddof=1))
        low, high = stats.t.interval(0.9, len(means) - 1, means.mean(), se)
        e = unseen.estimate(table, method="corrected-t", level=0.9)
        assert e.std_error == pytest.approx(se, rel=1e-12)
        assert tuple(e.interval) == pytest.approx((max(low, 0), high), rel=1e-10)


def test_groups_are_counted_not_rows():
    """Twelve groups of unequal size; the ratio n2/n1 is 3 groups to 9, whatever the rows."""
    groups = np.repeat(np.arange(12), [1, 9, 2, 8, 3, 7, 4, 6, 5, 5, 10, 2])
    data = unseen.datasets.load("diabetes").take(np.arange(len(groups)))
    table = unseen.run(
        DecisionTreeRegressor(random_state=0),
        data.X,
        data.y,
        design=MonteCarlo(0.25, 10),
        random_state=0,
        groups=groups,
    )
    residuals = np.square(data.y[table.test.row] - table.test.value)
    means = np.array([residuals[table.test.split == j].mean() for j in range(10)])
    rows = np.array([np.sum(table.test.split == j) for j in range(10)])
    assert len(set(rows)) > 1
    e = unseen.estimate(table, method="corrected-t")
    assert e.std_error == pytest.approx(means.std(ddof=1) * np.sqrt(1 / 10 + 3 / 9), rel=1e-12)
    assert e.value == pytest.approx(means.mean(), rel=1e-12)
    assert (e.target.n_train, e.n_units) == (9.0, 12)


def test_difference_is_the_corrected_test():
    data = unseen.datasets.load("diabetes").take(np.arange(80))
    a, b = (
        unseen.run(DecisionTreeRegressor(max_depth=d, random_state=0), data, design=MonteCarlo(0.1, 20), random_state=3)
        for d in (1, 4)
    )
    gap = a.losses().split_means() - b.losses().split_means()
    e = CorrectedT()(a.losses().minus(b.losses()))
    assert e.value == pytest.approx(gap.mean())
    assert e.std_error == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 20 + 8 / 72))


def test_weak_spots_are_noted():
    large = table_of([0, 1, 1, 2], n=6).losses()
    assert [n.code for n in CorrectedT()(large).notes] == ["U015", "U009", "U007"]
    same = CorrectedT()(table_of([0, 0, 0]).losses())
    assert [n.code for n in same.notes] == ["U010"]
    tested = len(np.unique(table_of([0, 0, 0]).test.row))
    assert same.interval.high == pytest.approx(1 - 0.025 ** (1 / tested))


def test_a_rate_from_few_errors_and_a_difference_from_small_parts_are_noted():
    from unseen.estimators.corrected_t import few_errors

    def run(rate, share=0.1):
        rng = np.random.default_rng(0)
        y = np.r_[np.zeros(200 - int(200 * rate), int), np.ones(int(200 * rate), int)]
        design = unseen.designs.MonteCarlo(share, 60)
        return unseen.run("dummy", rng.normal(size=(200, 1)), y, design=design, random_state=0)

    few, many = run(0.04).losses(), run(0.1).losses()
    seen = np.isfinite(few.by_unit())
    wrong = few.by_unit()[seen].sum()
    assert CorrectedT()(few).notes[0].text.startswith(f"about {wrong:.2g} of {seen.sum()} tested rows were wrong")
    assert few_errors(many) == ()
    assert [n.code for n in CorrectedT()(few.minus(few)).notes] == ["U016", "U010"]
    wide = run(0.1, 0.2).losses()
    assert [n.code for n in CorrectedT()(wide.minus(wide)).notes] == ["U010"]


@pytest.mark.slow
def test_intervals_of_rates_from_few_errors_cover_as_the_note_says():
    """Losses of a fixed model, four errors to expect among 200: .884 of 1,500 in the first run of this."""
    rng = np.random.default_rng(1)
    y, hits = np.zeros(200, int), 0
    y[0] = 1
    for k in range(600):
        wrong = rng.random(200) < 0.02
        X = np.where(wrong, 1.0 - y, y)[:, None]
        table = unseen.run(AsItIs(), X, y, design=unseen.designs.MonteCarlo(0.1, 25), random_state=k)
        hits += 0.02 in CorrectedT()(table.losses()).interval
    assert 0.85 < hits / 600 < 0.93


class AsItIs:
    """Predicts the first feature."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


def test_one_split_or_a_foreign_design_is_refused():
    with pytest.raises(InputError, match="at least 2 completed splits"):
        CorrectedT()(table_of([1]).losses())
    table = unseen.run(DecisionTreeRegressor(), unseen.datasets.load("diabetes").take(np.arange(30)), design=KFold(3))
    with pytest.raises(InputError, match="corrected-t is not valid for the design 'kfold'"):
        unseen.estimate(table, method="corrected-t")


def test_splits_of_few_groups_have_no_more_degrees_of_freedom_than_groups():
    """Six groups, 25 splits, normal losses: at 24 degrees of freedom .90 of intervals cover, at 5 they cover .95."""
    groups = np.repeat(np.arange(6), 4)
    covered = 0
    for seed in range(250):
        rng = np.random.default_rng([9, seed])
        y = np.repeat(rng.normal(2.0, 0.5, 6), 4)  # the loss of predicting 0 is |y|, the same within a group
        table = unseen.run(
            Nought(),
            y[:, None],
            y,
            design=unseen.designs.MonteCarlo(0.1, 25),
            groups=groups,
            task="regression",
            random_state=seed,
        )
        e = CorrectedT()(table.losses("absolute"))
        assert e.df == 5
        assert e.interval.high - e.value == pytest.approx(stats.t.ppf(0.975, e.df) * e.std_error)
        covered += 2.0 in e.interval
    assert covered / 250 == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 250))


class Nought:
    """Predicts nothing."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(("positive", "told"), [(12, True), (18, False)])
def test_f1_of_a_rare_class_carries_the_note_that_its_interval_covers_less(positive, told):
    from sklearn.naive_bayes import GaussianNB

    y = np.arange(60) < positive
    X = np.random.default_rng(0).standard_normal((60, 3)) + y[:, None]
    effort = {"splits": 10, "repeats": 0, "bootstrap": 0, "leave_out": 0, "curve": 0}
    noted = {}
    for measure in ("f1", "auc", None):
        a = unseen.assess(
            GaussianNB(), X, y.astype(int), measure=measure, random_state=0, effort=effort, target="algorithm"
        )
        assert a.headline.method == "corrected-t"
        noted[measure] = any("covered .78 to .86" in n.text for n in a.headline.notes)
    assert noted == {"f1": told, "auc": False, None: False}
