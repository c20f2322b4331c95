"""What training sets add to the variance of a mean of left-out losses: by definition, in closed form, and where they add nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeRegressor

import unseen
from unseen.estimators import training_sets
from unseen.estimators.training_sets import split_deviations, training_moves, variance_of_roles, variance_of_sets


class HalfMean(RegressorMixin, BaseEstimator):
    """Predicts half the mean of the training targets."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ / 2)


def difference(a, b, X, y, design, **options):
    one, two = (
        unseen.run(m, X, y, design=design, random_state=0, duplicates="apart", **options).losses() for m in (a, b)
    )
    return one.minus(two)


@pytest.mark.parametrize("splits", [5, 12])
def test_the_variance_of_sets_by_its_definition(splits):
    """Products of different test cases: in different splits by the overlap of their training sets, in one split as they are."""
    rng = np.random.default_rng(splits)
    moves, deviations = rng.standard_normal((splits, 8)), rng.standard_normal((splits, 8))
    expected = sum(
        (1.0 if b == c else moves[b] @ moves[c]) * deviations[b, i] * deviations[c, j]
        for b in range(splits)
        for c in range(splits)
        for i in range(8)
        for j in range(8)
        if i != j
    )
    found = variance_of_sets(moves, deviations)
    assert found.value == pytest.approx(expected)
    products = [
        (moves[b] @ moves[c]) * (deviations[b].sum() * deviations[c].sum() - deviations[b] @ deviations[c])
        for b in range(splits)
        for c in range(splits)
        if b != c
    ]
    assert found.noise == pytest.approx(2 * np.square(products).sum())


def test_blocks_of_splits_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    moves, deviations = rng.standard_normal((23, 8)), rng.standard_normal((23, 8))
    whole = variance_of_sets(moves, deviations)
    monkeypatch.setattr(training_sets, "BLOCK", 5)
    parts = variance_of_sets(moves, deviations)
    assert [parts.value, parts.noise] == pytest.approx([whole.value, whole.noise])


def test_the_noise_is_the_variance_over_other_splits_of_the_same_data():
    """A training set adds a number of its own to all losses, which no single unit explains: other splits show other influences."""
    rng = np.random.default_rng(11)
    n, splits = 40, 60
    effect, hardness = rng.standard_normal((n, n)), rng.standard_normal(n)
    own = (hardness - hardness.mean()) / n
    roles, sets = [], []
    for _ in range(600):
        drawn = (rng.random((splits, n)).argsort(axis=1) < 25).astype(float)
        moves, out = (drawn - 25 / n) / (1 - 25 / n), drawn == 0

        def deviations(loss, out=out):
            return out * (loss - (loss * out).sum(axis=0) / out.sum(axis=0)) / out.sum(axis=0) / n

        roles.append(variance_of_roles(moves, deviations(drawn @ effect), own))
        sets.append(variance_of_sets(moves, deviations(np.tile(rng.standard_normal((splits, 1)), n))))
    for parts in (roles, sets):
        seen = np.var([p.value for p in parts])
        assert np.mean([p.noise for p in parts]) == pytest.approx(seen, rel=0.2)  # its own chance is .06 of 600


def test_a_shrunken_mean_has_the_variance_that_algebra_gives():
    """Half the mean of y against 0 has the difference m^2 / 4 - y m, where m is the mean over the training set.

    A unit enters it as a test case by -m and as a training case by m / 2 - m = -m / 2, times its distance from the mean over n. So
    the variance is (1 + 1/2)^2 that of the test cases alone: 1 of these, 2 / 2 of both roles, 1 / 4 of training sets.
    """
    n, shares = 100, []
    for seed in range(20):
        y = np.random.default_rng(seed).normal(3.0, 1.0, n)
        table = difference(
            HalfMean(),
            DummyRegressor(strategy="constant", constant=0.0),
            y[:, None],
            y,
            unseen.designs.MonteCarlo(0.368, 200),
        )
        moves, deviations, each = training_moves(table), split_deviations(table, np.ones(n)), table.by_row()
        own = (each - each.mean()) / n
        direct = y.mean() ** 2 * y.var() / n
        roles, sets = variance_of_roles(moves, deviations, own), variance_of_sets(moves, deviations)
        parts = np.square(own).sum(), roles.value, sets.value
        shares.append(np.array(parts) / direct)
    # chance of 200 splits; the square of a mean is not quite a line
    assert np.mean(shares, axis=0) == pytest.approx([1.0, 1.0, 0.25], rel=0.1)


def test_what_a_training_case_does_to_one_test_case_only_is_no_variance_of_sets():
    """Each training case moves each test case by a number of its own: the variance over test cases holds it all already."""
    rng = np.random.default_rng(0)
    n, splits, found, twice = 40, 200, [], []
    for _ in range(150):
        drawn = (rng.random((splits, n)).argsort(axis=1) < 25).astype(float)
        moves = (drawn - 25 / n) / (1 - 25 / n)
        out = drawn == 0
        loss = drawn @ rng.standard_normal((n, n))
        each = (loss * out).sum(axis=0) / out.sum(axis=0)
        deviations = out * (loss - each) / out.sum(axis=0) / n
        own = (each - each.mean()) / n
        direct = np.square(own).sum()
        products = moves * deviations.sum(axis=1)[:, None]
        jackknife = np.square(own + products.sum(axis=0)).sum() - splits * products.var(axis=0, ddof=1).sum()
        roles, sets = variance_of_roles(moves, deviations, own), variance_of_sets(moves, deviations)
        found.append((roles.value + sets.value) / direct)
        twice.append(jackknife / direct)
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))
    assert np.mean(twice) > 1.5  # the jackknife counts it once more


def test_moves_are_copies_less_one_for_a_bootstrap_and_sum_to_nothing_in_any_split():
    y = np.random.default_rng(1).standard_normal(30)
    models = DummyRegressor(), DecisionTreeRegressor(max_depth=1)
    table = difference(*models, y[:, None], y, unseen.designs.Bootstrap(20))
    moves = training_moves(table)
    copies = np.array([np.bincount(s.train, minlength=30) for s in table.plan.splits])
    assert moves == pytest.approx(copies - 1)
    apart = training_moves(difference(*models, y[:, None], y, unseen.designs.MonteCarlo(0.4, 20)))
    assert apart.sum(axis=1) == pytest.approx(np.zeros(20))
    assert np.unique(apart.round(9)).tolist() == [-1.5, 1.0]  # 18 of 30 are drawn: 1, and -.6 / .4


def test_deviations_of_groups_are_those_of_their_rows_together_and_sum_to_nothing_over_splits():
    rng = np.random.default_rng(2)
    y, group, weight = rng.standard_normal(40), np.repeat(np.arange(10), 4), rng.random(40)
    models = DummyRegressor(), DecisionTreeRegressor(max_depth=1)
    table = difference(*models, y[:, None], y, unseen.designs.MonteCarlo(0.3, 15), groups=group)
    made = split_deviations(table, weight)
    assert made.shape == (15, 10)
    assert made.sum(axis=0) == pytest.approx(np.zeros(10), abs=1e-15)
    dense = table.dense()
    tested = np.isfinite(dense).any(axis=0)
    expected = (
        weight
        * np.nan_to_num(dense - table.by_row())
        / np.maximum(np.isfinite(dense).sum(axis=0), 1)
        / weight[tested].sum()
    )
    assert made == pytest.approx(expected.reshape(15, 10, 4).sum(axis=2))
