"""Shortcuts in the engine: switched off, doubted, shared by splits, and refused if scikit-learn computes something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import unseen
from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.engine.chunk import distinct
from unseen.engine.run import execute
from unseen.models.exact import learner
from unseen.models.exact.lda import LinearDiscriminant
from unseen.models.sklearn import as_model
from unseen.testing.shortcuts import check_equal_to_refitting, sample_for_shortcuts


def test_off_means_that_every_part_is_fitted():
    data = sample_for_shortcuts(True)
    quick, slow = (unseen.run(GaussianNB(), data, design=3, random_state=0, shortcuts=s) for s in (True, False))
    assert not quick.seconds.any()
    assert (slow.seconds > 0).all()
    assert np.array_equal(quick.test.value, slow.test.value)
    values = [
        unseen.estimate(GaussianNB(), data, method="kfold", random_state=0, shortcuts=s).value for s in (True, False)
    ]
    assert values[0] == values[1]


def test_a_tie_is_refitted_and_nothing_else():
    # row 4 is as far from the mean of one class as from that of the other
    X = np.array([[-3.0], [-1.0], [1.0], [3.0], [0.0], [-2.5]])
    data = Data(X, np.array([0, 0, 1, 1, 1, 0]), "classification", np.array([0, 1]))
    parts = (
        Split(np.arange(4), np.array([4])),
        Split(np.arange(4), np.array([5]), repeat=1),
        Split(np.arange(1, 5), np.array([5]), repeat=2),
    )
    table = execute(as_model(NearestCentroid()), data, Plan("splits", parts, data.units), seed=0, train=False)
    assert (table.seconds > 0).tolist() == [True, False, False]
    check_equal_to_refitting(NearestCentroid(), data, Plan("splits", parts, data.units))


def test_neighbours_at_the_same_distance_are_refitted_if_their_classes_differ():
    X = np.array([[0.0], [1.0], [-1.0], [5.0], [-5.0], [7.0]])
    same = Data(X, np.array([0, 1, 1, 0, 0, 1]), "classification", np.array([0, 1]))
    plan = Plan(
        "splits", (Split(np.arange(1, 6), np.array([0])), Split(np.arange(5), np.array([5]), repeat=1)), same.units
    )
    assert not execute(as_model(KNeighborsClassifier(1)), same, plan, seed=0, train=False).seconds.any()
    other = replace(same, y=np.array([0, 1, 0, 0, 0, 1]))
    assert (execute(as_model(KNeighborsClassifier(1)), other, plan, seed=0, train=False).seconds > 0).tolist() == [
        True,
        False,
    ]


def test_splits_that_share_a_fit():
    data = sample_for_shortcuts(True, n=24)
    plan = unseen.designs.Nested(3, 1).plan(data, np.random.default_rng(0))
    assert len(plan.fits) < len(plan)
    check_equal_to_refitting(GaussianNB(), data, plan)


def test_another_scikit_learn_gets_no_shortcut(monkeypatch):
    right = LinearDiscriminant.answer

    def off(self, scalers, final, sample, fits):
        made = right(self, scalers, final, sample, fits)
        return replace(made, scores=made.scores**1.01)

    monkeypatch.setattr(LinearDiscriminant, "answer", off)
    monkeypatch.setattr(learner, "_proved", {})
    table = unseen.run(LinearDiscriminantAnalysis(), sample_for_shortcuts(True), design=3, random_state=0)
    assert (table.seconds > 0).all()


def test_folds_say_that_they_leave_out_what_they_test():
    data = sample_for_shortcuts(True)
    for design in (
        unseen.designs.KFold(4),
        unseen.designs.LeaveOneOut(),
        unseen.designs.RepeatedKFold(4, 2),
        unseen.designs.LeaveOut(0.3, 5),
    ):
        plan = design.plan(data, np.random.default_rng(0))
        assert plan.complementary
        for split in plan:
            assert np.array_equal(split.train, np.setdiff1d(np.arange(data.n), split.test))


@pytest.mark.parametrize("rows", [[4, 0, 4, 2], [7], [100_000, 3, 3], []])
def test_distinct_rows(rows):
    assert np.array_equal(distinct(np.array(rows, dtype=np.int64)), np.unique(np.array(rows, dtype=np.int64)))


def test_logistic_regression_is_refitted_where_its_solver_leaves_the_class_open():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    quick, slow = (
        unseen.run(LogisticRegression(), X, y, design="loo", train=False, shortcuts=s) for s in (True, False)
    )
    assert np.array_equal(quick.test.value, slow.test.value)
    assert (quick.seconds > 0).mean() < 0.1
