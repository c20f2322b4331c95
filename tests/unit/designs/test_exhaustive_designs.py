"""k-fold, repeated k-fold, 5x2, leave-one-out, leave-p-out: partitions, and agreement with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection as sk

from unseen.core.errors import InputError
from unseen.datasets.conversion import as_data
from unseen.designs import Cv5x2, KFold, LeaveOneOut, LeavePOut, RepeatedKFold


def sample(y, groups=None):
    y = np.asarray(y)
    task = "classification" if y.dtype.kind == "i" else "regression"
    return as_data(np.zeros((len(y), 1)), y, task=task, groups=groups)


def plan(design, data, seed=0):
    return design.plan(data, np.random.default_rng(seed))


def assert_same(splits, pairs):
    assert len(splits) == len(pairs)
    for split, (train, test) in zip(splits, pairs):
        assert np.array_equal(split.train, train)
        assert np.array_equal(split.test, test)


def test_loo_and_leave_p_out_are_scikit_learns():
    data = sample(np.linspace(0, 1, 9))
    assert_same(plan(LeaveOneOut(), data).splits, list(sk.LeaveOneOut().split(data.X)))
    for p in (1, 2, 3):
        assert_same(plan(LeavePOut(p), data).splits, list(sk.LeavePOut(p).split(data.X)))


def test_grouped_loo_and_leave_p_out_are_scikit_learns():
    groups = np.array([3, 3, 1, 1, 1, 2, 9, 9])
    data = sample(np.linspace(0, 1, 8), groups)
    assert_same(plan(LeaveOneOut(), data).splits, list(sk.LeaveOneGroupOut().split(data.X, groups=groups)))
    assert_same(plan(LeavePOut(2), data).splits, list(sk.LeavePGroupsOut(2).split(data.X, groups=groups)))


def test_leave_p_out_draws_a_stated_number_of_distinct_splits():
    drawn = plan(LeavePOut(3, 500), sample(np.linspace(0, 1, 30)))
    assert len({tuple(s.test) for s in drawn}) == 500
    assert {len(s.test) for s in drawn} == {3}


def test_leave_p_out_refuses_what_cannot_be():
    with pytest.raises(InputError, match="161700 ways"):
        plan(LeavePOut(3), sample(np.linspace(0, 1, 100)))
    with pytest.raises(InputError, match="nothing to train on"):
        plan(LeavePOut(5), sample(np.linspace(0, 1, 5)))
    with pytest.raises(InputError, match="only 10 ways"):
        plan(LeavePOut(2, 11), sample(np.linspace(0, 1, 5)))


@pytest.mark.parametrize("n", [20, 23])
def test_folds_partition_the_units(n):
    for split_set in (plan(KFold(5), sample(np.linspace(0, 1, n))).splits,):
        tested = np.concatenate([s.test for s in split_set])
        assert sorted(tested) == list(range(n))
        assert max(len(s.test) for s in split_set) - min(len(s.test) for s in split_set) <= 1


def test_stratified_folds_spread_classes_evenly():
    data = sample(np.repeat([0, 1, 2], [50, 31, 9]))
    for split in plan(KFold(10), data):
        counts = np.bincount(data.codes[split.test], minlength=3)
        assert np.all(np.abs(counts - [5, 3.1, 0.9]) <= 1)


def test_repeats_are_shuffled_anew():
    drawn = plan(RepeatedKFold(5, 3), sample(np.linspace(0, 1, 50)))
    firsts = [tuple(s.test) for s in drawn if s.fold == 0]
    assert len(set(firsts)) == 3
    assert [s.repeat for s in drawn] == np.repeat(range(3), 5).tolist()


def test_class_sorted_rows_are_shuffled():
    data = sample(np.repeat([0, 1], 25))
    for split in plan(KFold(5, stratify=False), data):
        assert 0 < np.mean(data.codes[split.test]) < 1


@pytest.mark.parametrize("n", [40, 41])
def test_5x2_halves_swap_roles(n):
    drawn = plan(Cv5x2(), sample(np.linspace(0, 1, n)))
    assert [(s.repeat, s.fold) for s in drawn] == [(r, f) for r in range(5) for f in range(2)]
    for first, second in zip(drawn.splits[::2], drawn.splits[1::2]):
        assert np.array_equal(first.train, second.test)
        assert np.array_equal(first.test, second.train)
        assert abs(len(first.train) - len(first.test)) <= 1
    assert len({tuple(s.test) for s in drawn.splits[::2]}) == 5


def test_grouped_folds_are_shuffled_again_until_every_class_is_trained():
    """Six groups, the rare class in two of them only: some shuffles into three folds test both at once."""
    groups = np.repeat(np.arange(6), 5)
    y = np.where(groups < 2, np.arange(30) % 2, 0)
    data = sample(y, groups)
    for seed in range(30):
        for split in plan(KFold(3), data, seed):
            assert len(np.unique(y[split.train])) == 2


def test_a_class_of_one_is_noted():
    drawn = plan(KFold(5), sample(np.repeat([0, 1], [1, 19])))
    assert [n.code for n in drawn.notes] == ["U020"]
    assert [n.code for n in plan(LeaveOneOut(), sample(np.repeat([0, 1], [1, 19]))).notes] == ["U020"]


@pytest.mark.parametrize(
    ("design", "message"), [(KFold(1), "n_folds"), (KFold(11), "only 10 units"), (RepeatedKFold(5, 0), "n_repeats")]
)
def test_bad_fold_numbers_are_refused(design, message):
    with pytest.raises(InputError, match=message):
        plan(design, sample(np.linspace(0, 1, 10)))
