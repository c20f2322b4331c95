"""Splits with the same training rows share one fit, and every number is that of separate fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.plan import Plan, Split
from unseen.engine.run import execute
from unseen.request.prepare import data_of, model_of, plan_of

FITS: list[int] = []


class Counted(DecisionTreeClassifier):
    def fit(self, X, y, **rest):
        FITS.append(len(X))
        return super().fit(X, y, **rest)


class FailsOn(ClassifierMixin, BaseEstimator):
    """Fails whenever the marked row (a huge value) is in the training part."""

    def fit(self, X, y):
        if np.any(X[:, 0] > 1e6):
            raise RuntimeError("poison")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, (X[:, 0] + rng.standard_normal(60) > 0).astype(int)


def separately(model, data, plan, seed):
    """Return the table of a plan that gives every split a repetition, and so a fit, of its own."""
    apart = tuple(Split(s.train, s.test, repeat=j, fold=s.fold, part=s.part) for j, s in enumerate(plan))
    return execute(model, data, Plan(plan.design, apart, plan.units), seed=seed, train=True, scores=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_nested_predictions_are_those_of_separate_fits(sample, jobs):
    data = data_of(*sample)
    model = model_of(DecisionTreeClassifier(max_features=None, random_state=0), data)
    plan = plan_of(unseen.designs.Nested(4, 2), data, 5)
    one = execute(model, data, plan, seed=5, train=True, scores=True, full=True, n_jobs=jobs)
    many = separately(model, data, plan, 5)
    assert (len(plan.fits), one.n_fits) == (2 * (4 + 6), 21)
    assert many.n_fits == len(plan) == 32
    for part in ("test", "train"):
        a, b = getattr(one, part), getattr(many, part)
        for name in ("split", "row", "value", "score"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), (part, name)
    assert (one.seconds[: len(plan)] > 0).sum() == 20, "the time of a fit is counted once"


def test_pairs_of_nested_folds_are_fitted_once(sample):
    FITS.clear()
    e = unseen.estimate(Counted(), *sample, method="nested-cv", design=unseen.designs.Nested(5, 2), random_state=0)
    assert len(FITS) == e.n_fits == 2 * (5 + 10)
    assert sorted(set(FITS)) == [36, 48]


def test_a_random_learner_gives_one_model_to_both_splits_of_a_pair(sample):
    data = data_of(*sample)
    model = model_of(DecisionTreeClassifier(max_features=1, max_depth=2), data)
    plan = plan_of(unseen.designs.Nested(4, 1), data, 1)
    kept = {"tree": lambda fitted, train, test: fitted.native.tree_.threshold}
    plain, probed = execute(model, data, plan, seed=1), execute(model, data, plan, seed=1, probes=kept)
    assert np.array_equal(plain.test.value, probed.test.value), "a probe changes no prediction"
    for fit in plan.fits:
        first, *rest = (probed.probe("tree")[j] for j in fit)
        assert all(np.array_equal(first, other) for other in rest)


def test_only_other_test_rows_of_one_repetition_share():
    train, test = np.arange(4), np.array([4, 5])
    splits = (
        Split(train, test),
        Split(train, test),  # drawn twice: fitted twice
        Split(train, np.array([6])),
        Split(train, np.array([6]), repeat=1),
        Split(np.array([0, 1, 1, 4]), test),  # as many rows and the same sum
    )
    assert Plan("splits", splits, np.arange(7)).fits == ((0, 2), (1,), (3,), (4,))


def test_a_failed_pair_fails_both_its_splits(sample):
    X, y = sample
    X = X.copy()
    X[0, 0] = 1e9
    t = unseen.run(FailsOn(), X, y, design=unseen.designs.Nested(4, 1), random_state=0)
    failed = {f.split for f in t.failures}
    assert failed == {j for j, s in enumerate(t.plan) if 0 in s.train}
    assert t.notes[-1].text.startswith(f"{len(failed)} of 16 fits failed")
