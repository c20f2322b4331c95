"""Cross-validation means equal scikit-learn's on the same splits; weights, groups and gaps are handled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unseen
from unseen.core.losses import Failure
from unseen.designs import Holdout, KFold, LeaveOneOut, LeaveOut, LeavePOut, MonteCarlo, RepeatedKFold

DESIGNS = {
    "holdout": Holdout(0.3),
    "kfold": KFold(7),
    "repeated-kfold": RepeatedKFold(6, 3),
    "loo": LeaveOneOut(),
    "leave-p-out": LeavePOut(2, 60),
    "leave-out": LeaveOut(0.25, 30),
    "monte-carlo": MonteCarlo(0.2, 30),
}
TREE = DecisionTreeClassifier(max_depth=1, random_state=0)


def iris(n=80):
    data = unseen.datasets.load("iris")
    rows = np.random.default_rng(0).permutation(150)[:n]
    return data.X[rows], data.y[rows]


def scores(model, X, y, plan, scoring):
    pairs = [(s.train, s.test) for s in plan]
    return cross_val_score(model, X, y, cv=pairs, scoring=scoring), [len(s.test) for s in plan]


@pytest.mark.parametrize("name", DESIGNS)
def test_classification_means_are_scikit_learns(name):
    X, y = iris()
    table = unseen.run(TREE, X, y, design=DESIGNS[name], random_state=1)
    accuracy, sizes = scores(TREE, X, y, table.plan, "accuracy")
    value = unseen.estimate(table, method=name).value
    assert abs(value - (1 - np.average(accuracy, weights=sizes))) < 1e-12
    assert 0.02 < value < 0.5


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize(
    ("loss", "scoring"), [("squared", "neg_mean_squared_error"), ("absolute", "neg_mean_absolute_error")]
)
def test_regression_means_are_scikit_learns(name, loss, scoring):
    data = unseen.datasets.load("diabetes").take(np.arange(70))
    model = Ridge(0.5)
    table = unseen.run(model, data, design=DESIGNS[name], random_state=1)
    negative, sizes = scores(model, data.X, data.y, table.plan, scoring)
    value = unseen.estimate(table, method=name, loss=loss).value
    assert value == pytest.approx(-np.average(negative, weights=sizes), rel=1e-12)


@pytest.mark.parametrize("design", [KFold(8), RepeatedKFold(10, 2), LeaveOneOut(), LeavePOut(2, 40)])
def test_equal_folds_give_scikit_learns_mean_of_scores(design):
    X, y = iris()
    table = unseen.run(TREE, X, y, design=design, random_state=2)
    accuracy, _ = scores(TREE, X, y, table.plan, "accuracy")
    assert abs(unseen.estimate(table, method=design.id).value - (1 - accuracy.mean())) < 1e-12


def test_a_scikit_learn_splitter_can_be_averaged():
    X, y = iris()
    cv = ShuffleSplit(9, test_size=0.2, random_state=4)
    table = unseen.run(TREE, X, y, design=cv, random_state=1)
    wanted = 1 - cross_val_score(TREE, X, y, cv=cv).mean()
    assert abs(unseen.estimate(table, method="monte-carlo").value - wanted) < 1e-12


def test_weights_enter_every_mean():
    X, y = iris()
    weights = np.random.default_rng(3).uniform(0.1, 4, 80)
    table = unseen.run(TREE, X, y, design=KFold(5), random_state=1, sample_weight=weights)
    wrong = np.zeros(80)
    wrong[table.test.row] = table.data.codes[table.test.row] != table.test.value
    assert unseen.estimate(table, method="kfold").value == pytest.approx(wrong @ weights / weights.sum(), rel=1e-12)
    spread = unseen.run(TREE, X, y, design=MonteCarlo(0.2, 4), random_state=1, sample_weight=weights)
    by_hand = []
    for j in range(4):
        rows = spread.test.row[spread.test.split == j]
        miss = spread.data.codes[rows] != spread.test.value[spread.test.split == j]
        by_hand.append(np.average(miss, weights=weights[rows]))
    assert unseen.estimate(spread, method="monte-carlo").value == pytest.approx(np.mean(by_hand), rel=1e-12)


def test_units_that_a_failed_split_left_untested_are_noted():
    X, y = iris()
    table = unseen.run(TREE, X, y, design=KFold(5), random_state=1)
    kept = replace(table, test=table.test.where(table.test.split != 2), failures=(Failure(2, "out of memory"),))
    e = unseen.estimate(kept, method="kfold")
    assert [n.code for n in e.notes] == ["U008", "U012"]
    assert "16 of 80" in e.notes[1].text


def test_targets_say_what_was_trained():
    X, y = iris()
    holdout = unseen.estimate(TREE, X, y, method="holdout", random_state=0)
    assert (holdout.target.kind, holdout.target.n_train) == ("model", 53.0)
    loo = unseen.estimate(DecisionTreeRegressor(), X, X[:, 0], method="loo", random_state=0)
    assert (loo.target.kind, loo.target.n_train) == ("algorithm", 79.0)


def test_default_designs_fit_small_samples():
    X, _y = iris(12)
    for name in DESIGNS:
        assert np.isfinite(unseen.estimate(Ridge(), X, X[:, 0], method=name, random_state=0, task="regression").value)
