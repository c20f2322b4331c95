"""A clock that is set back locks no task for longer than a lease, and stores no result twice."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.core.errors import InputError
from unseen.store import TaskResult, TaskRow, claims, open_store
from unseen.study.driver import drive


@pytest.fixture
def clock(monkeypatch):
    now = {"time": 1_000_000.0}
    monkeypatch.setattr(claims.time, "time", lambda: now["time"])
    return now


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "s.db") as made:
        made.add_study("mine", "study", {"seed": 1}, [{"n": 20}], [TaskRow(f"t{k}", 0, k, k) for k in range(4)])
        yield made


@pytest.mark.parametrize("back", [300.0, 7_200.0, 86_400.0])
def test_tasks_of_a_dead_driver_are_free_though_its_lease_ends_in_the_future(clock, store, back):
    held = store.claim("mine", "dead", 2, 60)
    clock["time"] -= back
    taken = [row.id for _ in range(4) for row in store.claim("mine", "heir", 10, 60)]
    assert sorted(taken) == ["t0", "t1", "t2", "t3"]
    assert store.finish("mine", "heir", [TaskResult(id, estimate=1.0) for id in taken]) == 4
    assert store.finish("mine", "dead", [TaskResult(row.id, estimate=2.0) for row in held]) == 0
    assert store.columns("mine")["estimate"].tolist() == [1.0] * 4


def test_a_driver_that_lives_keeps_its_tasks(clock, store):
    store.claim("mine", "alive", 2, 60)
    clock["time"] -= 7_200
    assert store.heartbeat("mine", "alive", 60)  # it renews its lease every two seconds
    assert len(store.claim("mine", "other", 10, 60)) == 2
    assert store.claim("mine", "other", 10, 60) == []


def test_a_clock_set_forward_costs_a_lease_and_no_number(clock, store):
    held = store.claim("mine", "slow", 2, 60)
    clock["time"] += 86_400
    taken = [row.id for _ in range(4) for row in store.claim("mine", "heir", 10, 60)]
    assert sorted(taken) == ["t0", "t1", "t2", "t3"]
    assert store.finish("mine", "slow", [TaskResult(row.id, estimate=2.0) for row in held]) == 2
    assert store.finish("mine", "heir", [TaskResult(id, estimate=2.0) for id in taken]) == 2


def test_a_lease_longer_than_the_longest_is_refused(store):
    with pytest.raises(InputError, match="at most 3600 seconds"):
        drive(store, "mine", lease_seconds=7_200)
