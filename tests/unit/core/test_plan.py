"""Splits that are made on demand: the same plan as splits that are listed."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from unseen.core.plan import Plan, Rests, RowParts, Split
from unseen.datasets.conversion import as_data
from unseen.designs import KFold, LeaveOneOut, LeaveOut, MonteCarlo, RepeatedKFold


def sample(groups=None):
    return as_data(np.arange(23.0)[:, None], np.arange(23.0), task="regression", groups=groups)


@pytest.mark.parametrize(
    "design", [LeaveOneOut(), KFold(4), RepeatedKFold(5, 3), LeaveOut(0.3, 11), MonteCarlo(0.2, 6)]
)
@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(12), 2)[:23]])
def test_splits_made_on_demand_are_a_plan_like_any_other(design, groups):
    plan = design.plan(sample(groups), np.random.default_rng(0))
    assert isinstance(plan.splits, Rests)
    listed = tuple(Split(s.train, s.test, repeat=s.repeat, fold=s.fold) for s in plan)
    other = replace(plan, splits=listed)
    assert plan.fingerprint == other.fingerprint
    assert plan.fits == other.fits == replace(other, complementary=False).fits
    assert plan.n_fits == other.n_fits == len(plan.fits)
    assert np.array_equal(plan.sizes, other.sizes)
    assert np.array_equal(plan.train_sizes, other.train_sizes)
    assert np.array_equal(plan.tests.row, other.tests.row)
    assert np.array_equal(plan.tests.starts, other.tests.starts)
    assert pickle.loads(pickle.dumps(plan)).fingerprint == plan.fingerprint
    some, few = plan.splits[1:5], listed[1:5]
    assert [s.test.tolist() for s in some] == [s.test.tolist() for s in few]
    assert Plan("splits", some, plan.units).fingerprint == Plan("splits", few, plan.units).fingerprint
    assert plan.splits[-1].train.tolist() == listed[-1].train.tolist()
    assert all(s.train.dtype == s.test.dtype == np.int64 for s in plan)


def test_lists_of_one_length_come_together_and_in_pieces():
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 99, size) for size in (3, 0, 2, 3, 3, 2, 3)]
    parts = RowParts.of(lists)
    for most in (None, 1, 6, 100):
        found = {}
        for which, lines in parts.of_one_length(most):
            assert most is None or lines.size <= max(most, lines.shape[1])
            found |= {int(j): line.tolist() for j, line in zip(which, lines)}
        assert found == {j: one.tolist() for j, one in enumerate(lists)}
    assert [one.tolist() for one in parts] == [one.tolist() for one in lists]
    assert len(RowParts.of([])) == 0
