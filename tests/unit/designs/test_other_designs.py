"""Splits given by the user, learning curves, training parts thrown down, and designs on samples of any size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedGroupKFold, StratifiedKFold

import unseen
from unseen.core.errors import InputError, KindError, UnseenError
from unseen.core.registry import classes_in
from unseen.datasets.conversion import as_data
from unseen.designs import LearningCurve, MonteCarlo, Splits
from unseen.designs.splits import as_design


def sample(n, groups=None):
    return as_data(np.zeros((n, 1)), np.linspace(0, 1, n), task="regression", groups=groups, time=np.arange(n))


def plan(design, data, seed=0):
    return design.plan(data, np.random.default_rng(seed))


def test_monte_carlo_can_throw_units_out():
    drawn = plan(MonteCarlo(0.1, 30, train_fraction=0.5), sample(100))
    assert {(len(s.train), len(s.test)) for s in drawn} == {(50, 10)}
    assert all(not set(s.train) & set(s.test) for s in drawn)
    assert len({tuple(s.train) for s in drawn}) == 30
    assert set(np.concatenate([s.train for s in drawn])) == set(range(100))
    with pytest.raises(InputError, match="add up to 1"):
        plan(MonteCarlo(0.5, 2, train_fraction=0.6), sample(100))


def test_splitters_are_used_as_they_are():
    pairs = list(KFold(4, shuffle=True, random_state=3).split(np.zeros((20, 1))))
    drawn = plan(as_design(KFold(4, shuffle=True, random_state=3)), sample(20))
    assert [s.test.tolist() for s in drawn] == [test.tolist() for _, test in pairs]
    assert drawn.design == "splits"


def test_a_splitter_without_a_seed_gets_the_runs():
    a, b, c = (plan(Splits(ShuffleSplit(3)), sample(20), seed).fingerprint for seed in (0, 0, 1))
    assert a == b != c


def test_group_splitters_see_the_groups():
    groups = np.repeat(np.arange(5), 4)
    drawn = plan(Splits(GroupKFold(5)), sample(20, groups))
    assert all(len(np.unique(groups[s.test])) == 1 for s in drawn)
    assert drawn.notes == ()


def test_given_splits_that_overlap_are_noted():
    drawn = plan(Splits([(np.arange(15), np.arange(10, 20))]), sample(20))
    assert [n.code for n in drawn.notes] == ["U002"]


def test_masks_count_as_indices():
    mask = np.arange(20) < 15
    (split,) = plan(Splits([(mask, ~mask)]), sample(20))
    assert (split.train.tolist(), split.test.tolist()) == (list(range(15)), list(range(15, 20)))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "empty"),
        ([(np.arange(5), np.array([25]))], "names the index 25, but the rows have the indices 0 to 19"),
        ([(np.arange(5), np.array([-2, 7]))], "names the index -2"),
        ([(np.arange(5), np.zeros(0, int))], "at least one entry"),
        ([(np.arange(5), np.array([0.5]))], "row indices"),
    ],
)
def test_bad_given_splits_are_refused(pairs, message):
    with pytest.raises(InputError, match=message):
        plan(Splits(pairs), sample(20))


def test_what_counts_as_a_design():
    assert as_design(7).n_folds == 7
    assert as_design("loo").id == "loo"
    assert as_design(MonteCarlo()) == MonteCarlo()
    for bad in (True, 1.5, None):
        with pytest.raises(KindError):
            as_design(bad)
    with pytest.raises(InputError, match="kfold"):
        as_design("kfolds")


def test_learning_curve_parts_are_nested():
    drawn = plan(LearningCurve(4, 3, 0.25), sample(80))
    assert [(s.repeat, s.part, len(s.train)) for s in drawn] == [
        (r, k, 15 * (k + 1)) for r in range(3) for k in range(4)
    ]
    for r in range(3):
        own = [s for s in drawn if s.repeat == r]
        for small, large in pairwise(own):
            assert set(small.train) < set(large.train)
            assert np.array_equal(small.test, large.test)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(set(classes_in("designs")) - {"splits"})),
    st.integers(2, 45),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_any_sample_gives_sound_splits_or_words(name, n, per_group, seed):
    groups = np.arange(n) // per_group if per_group > 1 and n > per_group else None
    data = sample(n, groups)
    try:
        drawn = plan(classes_in("designs")[name](), data, seed)
    except UnseenError:
        return
    for split in drawn:
        assert min(len(split.train), len(split.test)) > 0
        assert not np.intersect1d(data.units[split.train], data.units[split.test]).size


@pytest.mark.parametrize("cv", [unseen.designs.KFold(5), "kfold", unseen.designs.LeaveOneOut(), "loo"])
def test_a_round_of_folds_has_an_interval_whoever_draws_it(cv):
    X, y = unseen.datasets.load("breast-cancer").xy
    e = unseen.estimate("lda", X[:60], y[:60], cv=cv, random_state=0)
    assert e.method in ("corrected-t", "range-t")
    assert e.interval is not None
    c = unseen.compare("lda", "naive-bayes", X[:60], y[:60], cv=cv, random_state=0)
    assert c.test == "corrected-t"


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "cv is 1; folds are at least 2"),
        (0, "cv is 0; folds are at least 2"),
        (True, "cv is True; give a number of folds, a scikit-learn splitter"),
        (2.5, "cv is 2.5; give a number of folds"),
        ({"a": 1}, "cv is a dict; give a number of folds"),
        (StratifiedKFold, r"cv is the class StratifiedKFold; give an object of it, such as StratifiedKFold\(\)"),
        (GroupKFold(5), r"cannot split these data: The 'groups' parameter should not be None. Give groups\."),
        (StratifiedGroupKFold(5), r"number of groups: 1\. Give groups\."),
    ],
)
def test_a_wrong_cv_is_said_by_its_name(cv, words):
    X, y = unseen.datasets.load("breast-cancer").xy
    with pytest.raises(unseen.UnseenError, match=words):
        unseen.estimate("lda", X[:60], y[:60], cv=cv, random_state=0)


def test_a_round_of_folds_by_name_has_no_test_and_says_which_there_are():
    X, y = unseen.datasets.load("breast-cancer").xy
    tables = [unseen.run(name, X[:60], y[:60], random_state=0) for name in ("lda", "naive-bayes")]
    for call in (
        lambda **more: unseen.compare(*tables, **more),
        lambda **more: unseen.compare("lda", "cart", X[:60], y[:60], design=unseen.designs.KFold(5), **more),
    ):
        with pytest.raises(
            unseen.UnseenError, match=r"give cv=10 for folds with the corrected t .* or name a test: mcnemar"
        ):
            call()
        assert call(test="mcnemar").test == "mcnemar"
    again = [unseen.run(name, X[:60], y[:60], cv=5, random_state=0) for name in ("lda", "naive-bayes")]
    assert unseen.compare(*again).test == "corrected-t"
