"""Split-halves and nested designs: which split lives in which part, and that parts are kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.datasets.conversion import as_data
from unseen.designs import Nested, SplitHalves


def sample(n, groups=None):
    return as_data(np.zeros((n, 1)), np.linspace(0, 1, n), task="regression", groups=groups)


def plan(design, data, seed=0):
    return design.plan(data, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [100, 101])
def test_split_halves_sizes(n):
    drawn = plan(SplitHalves(fraction=0.2, n_splits=7, n_halvings=4, inner_fraction=0.1, inner_splits=3), sample(n))
    outer = [s for s in drawn if s.part == -1]
    inner = [s for s in drawn if s.part >= 0]
    assert [s.fold for s in outer] == list(range(7))
    assert {(len(s.train), len(s.test)) for s in outer} == {(n - -(-n // 5), -(-n // 5))}
    assert [(s.repeat, s.part, s.fold) for s in inner] == [
        (m, h, j) for m in range(4) for h in range(2) for j in range(3)
    ]
    n2 = -(-n // 10)
    assert {(len(s.train), len(s.test)) for s in inner} == {(n // 2 - n2, n2)}


def test_halves_share_nothing_and_differ_between_halvings():
    drawn = plan(SplitHalves(), sample(61))
    halves = {}
    for s in drawn:
        if s.part >= 0:
            halves.setdefault((s.repeat, s.part), set()).update(s.train, s.test)
    assert len(halves) == 20
    for m in range(10):
        assert not halves[m, 0] & halves[m, 1]
        assert len(halves[m, 0]) == len(halves[m, 1]) == 30
    assert len({frozenset(halves[m, 0]) for m in range(10)}) == 10


def test_every_inner_split_is_a_new_draw():
    drawn = plan(SplitHalves(n_halvings=1, inner_splits=20), sample(100))
    tests = {tuple(s.test) for s in drawn if s.part == 0}
    assert len(tests) == 20


def test_outer_training_part_can_be_thrown_down_to_half():
    """Seed 001's study: n1 = n/2, n2 = n/10 and 40% thrown out."""
    drawn = plan(SplitHalves(fraction=0.1, train_fraction=0.5, n_halvings=1, inner_splits=1), sample(200))
    assert {(len(s.train), len(s.test)) for s in drawn if s.part == -1} == {(100, 20)}
    assert {(len(s.train), len(s.test)) for s in drawn if s.part == 0} == {(80, 20)}


def test_split_halves_count_groups():
    groups = np.repeat(np.arange(40), 3)
    data = sample(120, groups)
    for s in plan(SplitHalves(), data):
        n_train, n_test = (len(np.unique(groups[rows])) for rows in (s.train, s.test))
        assert (n_train, n_test) == ((36, 4) if s.part == -1 else (16, 4))


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (SplitHalves(inner_fraction=0.5), "inner_fraction"),
        (SplitHalves(inner_fraction=0), "inner_fraction"),
        (SplitHalves(train_fraction=0.95), "add up to 1"),
        (SplitHalves(n_halvings=0), "n_halvings"),
        (SplitHalves(inner_splits=0), "inner_splits"),
        (Nested(2), "n_folds"),
        (Nested(41), "only 40 units"),
        (Nested(5, 0), "n_repeats"),
    ],
)
def test_layered_refusals(design, message):
    with pytest.raises(InputError, match=message):
        plan(design, sample(40))


def test_halves_need_every_class():
    y = np.repeat([0, 1], [1, 39])
    data = as_data(np.zeros((40, 1)), y, task="classification")
    with pytest.raises(InputError, match="class sizes 0: 1, 1: 39"):
        plan(SplitHalves(), data)


@pytest.mark.parametrize("n", [30, 32])
def test_nested_leaves_the_outer_fold_out_of_everything(n):
    drawn = plan(Nested(5, 3), sample(n))
    assert len(drawn) == 3 * (5 + 20)
    for r in range(3):
        outer = {s.fold: s for s in drawn if s.repeat == r and s.part == -1}
        assert sorted(np.concatenate([s.test for s in outer.values()])) == list(range(n))
        inner = [s for s in drawn if s.repeat == r and s.part >= 0]
        assert sorted((s.part, s.fold) for s in inner) == [(k, f) for k in range(5) for f in range(5) if f != k]
        for s in inner:
            held = set(outer[s.part].test)
            assert not held & (set(s.train) | set(s.test))
            assert np.array_equal(s.test, outer[s.fold].test)
            assert set(s.train) == set(range(n)) - held - set(s.test)
    assert len({tuple(s.test) for s in drawn if s.part == -1 and s.fold == 0}) == 3
