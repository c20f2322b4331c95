"""A fit that ends the process it runs in is a failed row, and every other fit has the numbers of a quiet run."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.core.errors import FitError
from unseen.engine import joblib_
from unseen.engine.run import execute
from unseen.testing._samples import Centroids, sample

HOW = {
    "os._exit": lambda: os._exit(7),
    "segfault": lambda: ctypes.string_at(0),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


class Dying(Centroids):
    """Ends its process if row `row` is not among the training rows; the process of the tests is spared."""

    def __init__(self, how, row=0):
        self.__dict__.update(how=how, row=row, driver=os.getpid())

    def fit(self, data, seed):
        if os.getpid() != self.driver and self.row not in data.ids:
            HOW[self.how]()
        return super().fit(data, seed)


class Patient(Centroids):
    def fit(self, data, seed):
        time.sleep(0.03)
        return super().fit(data, seed)


def is_worker(pid):
    """Say whether a process is a child of this one that loky started as a worker."""
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return parent == os.getpid() and b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture
def folds(monkeypatch):
    monkeypatch.setattr(joblib_, "WORTH_STARTING_WORKERS", 0.0)  # workers from the second fit on
    data = sample()
    data = replace(data, ids=np.arange(data.n))
    return data, unseen.designs.KFold(6).plan(data, np.random.default_rng(3))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("how", HOW)
def test_a_fit_that_ends_its_worker_is_a_failed_row(how, folds):
    data, plan = folds
    row = int(plan.splits[3].test[0])  # the first fit runs in this process
    quiet = execute(Centroids(), data, plan, seed=5)
    table = execute(Dying(how, row), data, plan, seed=5, n_jobs=2)
    (failure,) = table.failures
    assert failure.split == 3
    assert "ended the process" in failure.reason
    kept = quiet.test.split != 3
    assert np.array_equal(table.test.value, quiet.test.value[kept])


@pytest.mark.slow
def test_fits_that_end_every_worker_end_in_a_sentence(folds, monkeypatch):
    data, _ = folds
    plan = unseen.designs.LeaveOut(0.25, 40).plan(data, np.random.default_rng(3))
    monkeypatch.setattr(joblib_, "MOST_KILLERS", 1)
    with pytest.raises(FitError, match="ended the process that ran them"):
        execute(Dying("os._exit", -1), data, plan, seed=5, n_jobs=2)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc")
def test_workers_killed_from_outside_change_no_number(folds):
    """As the system does if memory runs out: their fits run again, and none is called failed."""
    data, _ = folds
    plan = unseen.designs.LeaveOut(0.25, 150).plan(data, np.random.default_rng(3))
    quiet = execute(Patient(), data, plan, seed=5)
    killed = []

    def kill_twice():
        for _ in range(2):
            time.sleep(0.7)
            pids = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and is_worker(int(p.name))]
            for pid in pids[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=kill_twice)
    thread.start()
    table = execute(Patient(), data, plan, seed=5, n_jobs=2)
    thread.join()
    assert killed
    assert not table.failures
    assert np.array_equal(table.test.value, quiet.test.value)
