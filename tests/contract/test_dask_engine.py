"""A dask cluster of two local workers keeps the contract of engines and loses nothing when one of them is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError, KindError
from unseen.engine.run import execute
from unseen.engine.where import current_client, using
from unseen.testing import ENGINE_CHECKS
from unseen.testing._samples import Centroids, sample


@pytest.fixture(scope="module")
def cluster(distributed):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=":0", silence_logs=50, memory_limit=0
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


def on(client, *args, **options):
    with using(client):
        return execute(*args, **options)


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda c: c.__name__)
def test_contract(check, cluster):
    check(partial(on, cluster))


class Slow(Centroids):
    """Takes its time, and leaves its process number where it ran."""

    def fit(self, data, seed):
        time.sleep(0.02)
        return super().fit(data, seed)


class Deadly(Centroids):
    """Kills the worker that fits the split without row 0; the driver's own process is spared."""

    def __init__(self, driver):
        object.__setattr__(self, "driver", driver)

    def fit(self, data, seed):
        if 0 not in data.ids and os.getpid() != self.driver:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(data, seed)


def plan_of(n_splits=120):
    from dataclasses import replace

    data = sample()
    data = replace(data, ids=np.arange(data.n))
    return data, unseen.designs.LeaveOut(0.25, n_splits).plan(data, np.random.default_rng(3))


def values(table):
    return table.test.split, table.test.row, table.test.value, table.train.value


@pytest.mark.slow
@pytest.mark.sample
def test_a_killed_worker_changes_no_number(cluster):
    data, plan = plan_of()
    quiet = values(execute(Slow(), data, plan, seed=5, train=True))
    victim = next(iter(cluster.run(os.getpid).values()))
    timer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    timer.start()
    disturbed = on(cluster, Slow(), data, plan, seed=5, train=True)
    timer.join()
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)
    assert not disturbed.failures
    for one, other in zip(quiet, values(disturbed)):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_a_fit_that_kills_every_worker_is_a_failed_row(distributed):
    data, _ = plan_of()
    plan = unseen.designs.KFold(6).plan(data, np.random.default_rng(3))
    with using("local:2"):
        table = execute(Deadly(os.getpid()), data, plan, seed=5)
    (failure,) = table.failures
    assert "killed every worker" in failure.reason
    assert 0 in plan.splits[failure.split].test


def test_active_client_is_used_and_joblib_can_be_named(cluster):
    assert current_client() is None
    with cluster.as_current():
        assert current_client() is cluster
        with using("joblib"):
            assert current_client() is None
        with using("dask"):
            assert current_client() is cluster


@pytest.mark.slow
@pytest.mark.sample
def test_assess_and_compare_give_the_same_numbers(cluster):
    X, y = unseen.datasets.load("iris").xy
    options = {"random_state": 4, "effort": "quick"}
    here, there = (unseen.assess("cart", X, y, engine=e, **options) for e in ("joblib", cluster))
    assert here.error == there.error
    assert here.interval == there.interval
    pairs = [unseen.compare("cart", "lda", X, y, random_state=4, engine=e) for e in ("joblib", cluster)]
    assert pairs[0].frame().equals(pairs[1].frame())


@pytest.mark.parametrize(
    ("engine", "kind", "word"),
    [
        ("local:none", InputError, "^engine is 'local:none'; after .* number of workers"),
        ("local:0", InputError, "number of workers"),
        ("dask", InputError, "active client"),
        ("ray", InputError, "^engine is 'ray'; .*local:4"),
        (3, KindError, "^engine is a int"),
    ],
)
def test_bad_engines(engine, kind, word):
    with pytest.raises(kind, match=word), using(engine):
        pass


def test_a_scheduler_that_is_not_there(monkeypatch, distributed):
    monkeypatch.setattr("unseen.engine.where.PATIENCE", "1s")
    with pytest.raises(InputError, match="no dask scheduler answers at tcp://127"), using("tcp://127.0.0.1:9"):
        pass
