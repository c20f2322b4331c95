"""Time-ordered design: the past trains, the future is tested."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.datasets.conversion import as_data
from unseen.designs import TimeOrdered


def sample(time, y=None, groups=None):
    y = np.linspace(0, 1, len(time)) if y is None else np.asarray(y)
    task = "classification" if y.dtype.kind == "i" else "regression"
    return as_data(np.zeros((len(y), 1)), y, task=task, time=time, groups=groups)


def plan(design, data):
    return design.plan(data, np.random.default_rng(0))


def test_training_always_precedes_testing_whatever_the_order_of_rows():
    time = np.random.default_rng(0).permutation(100)
    drawn = plan(TimeOrdered(5), sample(time))
    assert [len(s.test) for s in drawn] == [10] * 5
    assert [len(s.train) for s in drawn] == [50, 60, 70, 80, 90]
    for s in drawn:
        assert time[s.train].max() < time[s.test].min()
    assert sorted(time[np.concatenate([s.test for s in drawn])]) == list(range(50, 100))


def test_the_same_time_is_never_on_both_sides():
    time = np.repeat(np.arange(20), 7)
    drawn = plan(TimeOrdered(6, start=0.45), sample(time))
    assert len(drawn) == 6
    for s in drawn:
        assert time[s.train].max() < time[s.test].min()


def test_gap_is_left_out():
    drawn = plan(TimeOrdered(4, gap=3), sample(np.arange(80)))
    for s in drawn:
        assert s.test.min() - s.train.max() == 4


def test_dates_work_as_times():
    time = np.datetime64("2020-01-01") + np.arange(40)
    drawn = plan(TimeOrdered(4), sample(time))
    assert [len(s.train) for s in drawn] == [20, 25, 30, 35]


def test_testing_waits_until_every_class_has_been_seen():
    y = np.zeros(60, dtype=int)
    y[[40, 50]] = 1
    drawn = plan(TimeOrdered(3), sample(np.arange(60), y))
    assert [n.code for n in drawn.notes] == ["U020"]
    assert len(drawn.splits[0].train) == 41
    assert all(len(np.unique(y[s.train])) == 2 for s in drawn)


def test_whole_groups_are_ordered_by_their_first_row():
    groups = np.repeat(["b", "a", "d", "c"], 5)
    drawn = plan(TimeOrdered(2), sample(np.arange(20), groups=groups))
    assert [sorted(set(groups[s.train])) for s in drawn] == [["a", "b"], ["a", "b", "d"]]
    assert drawn.notes == ()
    mixed = plan(TimeOrdered(2), sample(np.tile(np.arange(5), 4) * 4 + np.repeat(range(4), 5), groups=groups))
    assert [n.code for n in mixed.notes] == ["U006"]


@pytest.mark.parametrize(
    ("design", "time", "message"),
    [
        (TimeOrdered(), None, "time="),
        (TimeOrdered(start=1.0), np.arange(40), "start"),
        (TimeOrdered(gap=-1), np.arange(40), "gap"),
        (TimeOrdered(10), np.arange(12), "distinct times"),
        (TimeOrdered(3), np.zeros(40), "distinct times"),
        (TimeOrdered(3, gap=40), np.arange(40), "distinct times"),
    ],
)
def test_refusals(design, time, message):
    data = as_data(np.zeros((40, 1)), np.linspace(0, 1, 40), task="regression") if time is None else sample(time)
    with pytest.raises(InputError, match=message):
        plan(design, data)
