"""Hold-out, leave-out, Monte-Carlo, bootstrap: sizes, distinctness, uniformity, refusals."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare

from unseen.core.errors import InputError
from unseen.datasets.conversion import as_data
from unseen.designs import Bootstrap, Holdout, LeaveOut, LeavePOut, MonteCarlo


def numbers(n, groups=None):
    return as_data(np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float), task="regression", groups=groups)


def classes(*sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return as_data(np.arange(len(y), dtype=float)[:, None], y, task="classification")


def plan(design, data, seed=0):
    return design.plan(data, np.random.default_rng(seed))


@pytest.mark.parametrize(("n", "fraction", "size"), [(100, 0.1, 10), (101, 0.1, 11), (10, 0.25, 3), (3, 0.01, 1)])
@pytest.mark.parametrize("design", [Holdout, LeaveOut, MonteCarlo])
def test_test_size_is_the_ceiling(design, n, fraction, size):
    options = {} if design is Holdout else {"n_splits": 2}
    splits = plan(design(fraction=fraction, **options), numbers(n)).splits
    assert {(len(s.test), len(s.train)) for s in splits} == {(size, n - size)}


def test_leave_out_never_repeats_and_can_exhaust_all():
    drawn = plan(LeaveOut(0.3, comb(8, 3)), numbers(8))
    assert {tuple(s.test) for s in drawn} == set(combinations(range(8), 3))
    many = plan(LeaveOut(0.1, 3000), numbers(40))
    assert len({tuple(s.test) for s in many}) == 3000


def test_leave_out_refuses_more_than_there_are():
    with pytest.raises(InputError, match="only 56 ways") as error:
        plan(LeaveOut(0.3, 57), numbers(8))
    assert "monte-carlo" in str(error.value)


def test_leave_out_ends_where_only_splits_without_a_class_are_left():
    """24 ones and a single zero: a split that tests the zero cannot train on it, and there are too few others."""
    data = classes(1, 24)
    possible = comb(24, 3)
    assert len(plan(LeaveOut(0.12, possible), data)) == possible
    with pytest.raises(InputError, match="keep leaving a class out"):
        plan(LeaveOut(0.12, possible + 1), data)


@pytest.mark.parametrize("n", [6, 40], ids=["listed", "drawn"])
def test_leave_out_tests_all_units_alike(n):
    data = numbers(n)
    draws = [plan(LeaveOut(0.5 if n == 6 else 0.1, 5), data, seed) for seed in range(400)]
    hits = np.bincount(np.concatenate([s.test for p in draws for s in p]), minlength=n)
    assert chisquare(hits).pvalue > 1e-3


def test_monte_carlo_allows_repeats():
    assert len({tuple(s.test) for s in plan(MonteCarlo(0.3, 100), numbers(4))}) < 100


def test_stratified_draws_keep_proportions():
    data = classes(30, 60)
    for split in plan(MonteCarlo(0.2, 20, stratify=True), data):
        assert np.bincount(data.codes[split.test]).tolist() == [6, 12]
    (split,) = plan(Holdout(1 / 3, stratify=True), data)
    assert np.bincount(data.codes[split.test]).tolist() == [10, 20]


def test_stratify_is_refused_for_numbers_and_groups():
    with pytest.raises(InputError, match="regression"):
        plan(Holdout(0.5, stratify=True), numbers(10))


def test_redrawn_splits_are_noted():
    drawn = plan(MonteCarlo(0.5, 200), classes(2, 18))
    assert [n.code for n in drawn.notes] == ["U011"]
    assert all(np.isin([0, 1], drawn.units[s.train]).any() for s in drawn)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 2, "a", float("nan")])
@pytest.mark.parametrize("design", [Holdout, LeaveOut, MonteCarlo])
def test_bad_fractions_are_refused_by_name(design, fraction):
    with pytest.raises(InputError, match="fraction"):
        plan(design(fraction=fraction), numbers(10))


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "3"])
@pytest.mark.parametrize("design", [LeaveOut, MonteCarlo, Bootstrap, LeavePOut])
def test_bad_counts_are_refused_by_name(design, count):
    with pytest.raises(InputError, match="n_splits"):
        plan(design(n_splits=count), numbers(10))


def test_bootstrap_draws_with_replacement_and_tests_the_rest():
    n = 200
    drawn = plan(Bootstrap(300), numbers(n))
    for split in drawn:
        assert len(split.train) == n
        assert set(split.test) == set(range(n)) - set(split.train)
    left = np.mean([len(s.test) / n for s in drawn])
    sd = np.sqrt(0.368 * (1 - 2 * 0.368) / n / 300)
    assert abs(left - (1 - 1 / n) ** n) < 5 * sd


def test_bootstrap_draws_whole_groups():
    groups = np.repeat(np.arange(12), np.arange(1, 13))
    data = numbers(len(groups), groups)
    for split in plan(Bootstrap(20), data):
        count = np.bincount(split.train, minlength=data.n)
        per_group = [np.unique(count[groups == g]) for g in range(12)]
        assert all(len(times) == 1 for times in per_group)
        assert sum(int(times[0]) for times in per_group) == 12


def drawn_one_by_one(data, size, n_splits, rng, distinct):
    """Return the test units of each split: drawn again if it came before, or if the rest lacks a class."""
    seen, kept, redrawn = set(), [], 0
    while len(kept) < n_splits:
        test = np.sort(rng.permutation(data.n_units)[:size])
        if distinct and tuple(test) in seen:
            continue
        seen.add(tuple(test))
        rest = np.delete(np.arange(data.n_units), test)
        if len(np.unique(data.units)) == data.n and len(np.unique(data.codes[rest])) < len(data.classes):
            redrawn += 1
            continue
        kept.append(test)
    return kept, redrawn


@pytest.mark.parametrize("design", [LeaveOut(0.2, 120), MonteCarlo(0.2, 120)], ids=lambda d: d.id)
@pytest.mark.parametrize("sizes", [(20, 5), (30, 2), (20, 2, 2)])
def test_draws_are_those_made_one_by_one(design, sizes):
    """The same splits, the same number of draws, and the generator left where single draws leave it."""
    data, ours, single = classes(*sizes), np.random.default_rng(3), np.random.default_rng(3)
    made = design.plan(data, ours)
    size = len(made.splits[0].test)
    kept, redrawn = drawn_one_by_one(data, size, 120, single, design.id == "leave-out")
    assert [s.test.tolist() for s in made] == [t.tolist() for t in kept]
    assert [n.text.startswith(f"{redrawn} draws") for n in made.notes] == ([True] if redrawn else [])
    assert ours.bit_generator.state == single.bit_generator.state


def test_a_class_that_draws_keep_missing_is_refused():
    with pytest.raises(InputError, match="keep leaving a class out"):
        plan(MonteCarlo(0.99, 5), classes(1, 400))


def test_splits_of_groups_train_on_all_rows_beside_whole_groups():
    data = numbers(12, groups=np.repeat(np.arange(6), 2))
    for split in plan(LeaveOut(0.4, 8), data):
        assert sorted([*split.train, *split.test]) == list(range(12))
        assert not set(data.groups[split.train]) & set(data.groups[split.test])
