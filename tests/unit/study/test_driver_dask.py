"""The driver on a real dask cluster of two workers: same numbers, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

import cloudpickle
import dask
import distributed

from unseen.core.errors import InputError
from unseen.core.rng import stream
from unseen.store import TaskResult, TaskRow, open_store
from unseen.study.driver import drive

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def add(store, name="mine", replications=30):
    rows = [TaskRow(f"{c}-{r}", c, r, r) for r in range(replications) for c in range(2)]
    store.add_study(name, "study", {"seed": 1}, [{"k": 0}, {"k": 1}], rows)


def make_runner(seconds, side):
    def runner(spec, cells, rows):
        with open(side, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(seconds * len(rows))
        return [TaskResult(r.id, estimate=stream(1, r.cell, r.replication).random()) for r in rows]

    return runner


def expected(replications=30):
    return [stream(1, c, r).random() for c in range(2) for r in range(replications)]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.db") as made:
        yield made


@pytest.fixture
def client():
    # a killed worker is not forgiven: KilledWorker comes at once and the driver's own retries are at work
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as made:
            yield made


@pytest.mark.slow
@pytest.mark.sample
def test_same_numbers_on_a_cluster_also_when_a_worker_is_killed(store, client, tmp_path):
    add(store)
    side = tmp_path / "side"
    side.touch()

    def kill_one():
        while len(side.read_text().split()) < 3:
            time.sleep(0.02)
        os.kill(int(side.read_text().split()[-1]), signal.SIGKILL)

    thread = threading.Thread(target=kill_one)
    thread.start()
    progress = drive(store, "mine", runner=make_runner(0.05, side), scheduler=client, chunk=4)
    thread.join()
    assert (progress.state, progress.done, progress.failed) == ("done", 60, 0)
    assert store.columns("mine")["estimate"].tolist() == expected()
    assert len(set(side.read_text().split())) >= 3, "no worker took the place of the one that was killed"
    assert client.status == "running", "a client that was lent was closed"

    add(store, "adaptive")
    with client.as_current():
        assert drive(store, "adaptive", runner=make_runner(0.0, side)).state == "done"
    assert str(os.getpid()) not in side.read_text().split(), "the active client was not used"
    assert store.columns("adaptive")["estimate"].tolist() == expected()


@pytest.mark.slow
@pytest.mark.sample
def test_a_task_that_kills_every_worker_is_found_and_recorded(client, tmp_path):
    def deadly(spec, cells, rows):
        if any(row.id == "1-3" for row in rows):
            os.kill(os.getpid(), signal.SIGKILL)
        return [TaskResult(r.id, estimate=stream(1, r.cell, r.replication).random()) for r in rows]

    with open_store(tmp_path / "store.db", max_attempts=1) as store:
        add(store, replications=6)
        progress = drive(store, "mine", runner=deadly, scheduler=client, chunk=4)
        assert (progress.done, progress.failed) == (11, 1)
        assert [(f["cell"], f["replication"]) for f in store.failures("mine")] == [(1, 3)]


def test_a_cluster_of_our_own_is_started_and_ended(store, tmp_path):
    add(store)
    before = set(threading.enumerate())
    assert drive(store, "mine", runner=make_runner(0.0, tmp_path / "side"), scheduler="local:2").state == "done"
    assert store.columns("mine")["estimate"].tolist() == expected()
    assert not [t for t in set(threading.enumerate()) - before if t.name == "unseen-heartbeat"]


def test_a_scheduler_that_does_not_answer_is_told(store, monkeypatch):
    from unseen.engine import where

    monkeypatch.setattr(where, "PATIENCE", "1s")
    add(store)
    with pytest.raises(InputError, match=r"no dask scheduler answers at tcp://127.0.0.1:1"):
        drive(store, "mine", runner=make_runner(0, "side"), scheduler="tcp://127.0.0.1:1")
