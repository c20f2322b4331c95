"""Data in one file for all workers: what comes back, what is written, and what is said if a worker cannot open it."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

import unseen
from unseen.core.errors import InputError
from unseen.datasets.read import origin_of, read
from unseen.engine.shared_data import FOLDER, DataByPath, SharedData, _map_features, share_data, sharing
from unseen.request.prepare import data_of


def large(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 50)), np.array(["a", "b"])[rng.integers(0, 2, 3000)]
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X) > 0.1, X, 0.0))
    elif kind == "frame":
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)])
        X["level"] = pd.Categorical(rng.choice(["low", "high"], 3000))
        X.loc[5, "x3"] = np.nan
    return data_of(X, y, sample_weight=np.linspace(1, 2, 3000))


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_what_is_read_is_what_was_written(kind, tmp_path):
    data = large(kind)
    again = SharedData.write(data, tmp_path / "one").read()
    assert np.array_equal(again.y, data.y)
    assert np.array_equal(again.weights, data.weights)
    assert again.fingerprint == data.fingerprint
    if kind == "frame":
        pd.testing.assert_frame_equal(again.X, data.X)
    else:
        first, second = (X.toarray() if kind == "sparse" else X for X in (again.X, data.X))
        assert np.array_equal(first, second)
        values = again.X.data if kind == "sparse" else again.X
        assert not np.asarray(values).flags.writeable
        assert not np.asarray(values).flags.owndata, "a copy, not a map"
    part = again.take(np.array([4, 5, 5]))
    assert part.n == 3
    assert list(part.y) == list(data.y[[4, 5, 5]])


def test_each_sample_is_written_once_and_removed_at_the_end(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    data, other = large("array"), large("array")
    assert share_data(data) is data, "no cluster, no file"
    with sharing(local=False):
        first, second, third = share_data(data), share_data(data), share_data(other)
        assert first is second
        assert isinstance(first, SharedData)
        assert isinstance(third, SharedData)
        assert first.path != third.path
        assert len(list(tmp_path.rglob("*.data"))) == 2
        small = unseen.datasets.load("iris")
        assert share_data(small) is small
    assert not list(tmp_path.iterdir())


def test_without_a_folder_only_workers_of_this_machine_share(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    data = large("array")
    with sharing(local=False):
        assert share_data(data) is data
    with sharing(local=True):
        assert isinstance(share_data(data), SharedData)


def test_a_folder_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path / "none"))
    with pytest.raises(InputError, match="which is no folder; name one that all workers reach"), sharing(local=False):
        pass
    with pytest.raises(InputError, match=f"this worker cannot open .*{FOLDER}"):
        SharedData(str(tmp_path / "gone"), (10,)).read()


class Workers:
    """Stands for a dask client: what its workers say of a path."""

    def __init__(self, *answers):
        self.answers, self.asked = answers, 0

    def run(self, look, on_error):
        self.asked += 1
        return {f"tcp://worker-{k}": look() if a == "same" else a for k, a in enumerate(self.answers)}


@pytest.fixture
def parts(tmp_path):
    """Three parts of one table that is large enough to be shared."""
    data = large("frame")
    frame = data.X.assign(w=data.weights, y=data.y)
    folder = tmp_path / "parts"
    folder.mkdir()
    for j in range(3):
        frame.iloc[1000 * j : 1000 * (j + 1)].to_parquet(folder / f"{j}.parquet")
    return folder


def test_features_are_read_at_their_path(parts):
    data = data_of(parts, "y", sample_weight="w")
    workers = Workers("same", "same")
    with sharing(local=False):
        shared = share_data(data, workers)
        assert isinstance(shared, DataByPath)
        assert shared.rest.X is None, "what travels has no features"
        assert share_data(replace(data, y=data.y[::-1]), workers).read().y[0] == data.y[-1], "the rest is the driver's"
        assert workers.asked == 1, "each call asks once"
    again = pickle.loads(pickle.dumps(shared)).read()
    assert again is not data
    pd.testing.assert_frame_equal(again.X, data.X)
    assert np.array_equal(again.weights, data.weights)
    values = again.X["x4"].to_numpy()
    assert not values.flags.owndata
    assert not values.flags.writeable, "a map, not a copy"
    assert np.array_equal(again.y, data.y)


def test_other_features_than_those_of_the_file_travel(parts):
    data = data_of(parts, "y", sample_weight="w")
    with sharing(local=False):
        for other in (replace(data, X=data.X.copy()), data.take(np.arange(data.n)), data_of(data.X, data.y)):
            shared = share_data(other, Workers("same"))
            # the last has the very features of the file, and reads them
            assert isinstance(shared, DataByPath) == (other.X is data.X)
        assert share_data(data) is data, "no cluster"


def test_workers_that_do_not_reach_the_path(parts, caplog):
    data = data_of(parts, "y", sample_weight="w")
    with sharing(local=False):
        assert share_data(data, Workers((), ())) is data
    assert "no worker reaches" in caplog.text
    with (
        sharing(local=False),
        pytest.raises(InputError, match=r"worker tcp://worker-1 does not reach .*parts, and others"),
    ):
        share_data(data, Workers("same", ()))
    with sharing(local=False), pytest.raises(InputError, match=r"worker tcp://worker-0 finds another table at .*parts"):
        share_data(data, Workers((1, 2, 3), "same"))


def test_a_file_that_has_changed_is_refused_by_the_worker(parts):
    data = data_of(parts, "y", sample_weight="w")
    shared = DataByPath(data.without_features(), replace(origin_of(data.X), fingerprint="0" * 16))
    with pytest.raises(InputError, match=r"finds another table at .* must reach the same files"):
        shared.read()
    gone = DataByPath(shared.rest, replace(shared.origin, path=str(parts / "gone.parquet")))
    with pytest.raises(InputError, match=r"cannot read .*there is no file.*Put it at one path that the driver and all"):
        gone.read()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["assess", "compare"])
def test_workers_that_read_the_path_give_the_same_numbers(distributed, parts, monkeypatch, what):
    monkeypatch.delenv(FOLDER, raising=False)
    asked = {"random_state": 0, "sample_weight": "w", "progress": False}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        made = []
        for engine in ("joblib", client):
            if what == "assess":
                a = unseen.assess("cart", parts, "y", engine=engine, rounds=1, **asked)
                made.append((a.error, tuple(a.interval)))
            else:
                made.append(unseen.compare("cart", "lda", parts, "y", engine=engine, cv=3, **asked).to_dict()["pairs"])
        assert made[0] == made[1]
        kept = client.run(lambda: _map_features.cache_info().currsize)
        assert set(kept.values()) <= {0, 1}, "read once by a worker that had any work"
        assert sum(kept.values()) >= 1
        other = partial(replace, fingerprint="0" * 16)
        monkeypatch.setattr("unseen.engine.shared_data.origin_of", lambda X: other(origin_of(X)))
        with pytest.raises(InputError, match=r"^the worker on .* finds another table at .*parts than the driver"):
            unseen.run("cart", parts, "y", engine=client, sample_weight="w")


class Mean(ClassifierMixin, BaseEstimator):
    """Reads every training row and keeps one."""

    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), [X.iloc[:, j].mean() for j in range(X.shape[1])]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def memory(reset=False):
    """Return megabytes of a process: now, and the most since it was reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(told["VmRSS"].split()[0]) / 1024, int(told["VmHWM"].split()[0]) / 1024


# training sets of memory: the data or their map, one training set and what pandas needs to take it; reading adds the table as it is in the file
LARGEST_SHARES = {"sent": 3.0, "file": 3.0, "path": 4.5}


@pytest.mark.slow
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux's /proc")
@pytest.mark.parametrize("way", LARGEST_SHARES)
def test_a_worker_holds_a_few_training_sets(distributed, tmp_path, monkeypatch, way):
    monkeypatch.delenv(FOLDER, raising=False)
    if way == "file":
        monkeypatch.setenv(FOLDER, str(tmp_path))
    rng = np.random.default_rng(0)
    for j in range(4):
        frame = pd.DataFrame(rng.standard_normal((62_500, 50)), columns=[f"x{k}" for k in range(50)])
        frame.assign(y=rng.integers(0, 2, 62_500)).to_parquet(tmp_path / f"{j}.parquet")
    data = read(tmp_path, "y")
    if way == "sent":
        data = replace(data, X=data.X.copy())
    training = 0.9 * 250_000 * 50 * 8 / 2**20  # 86 MB, ten folds
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, memory_limit=0
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        client.run(import_module, "pyarrow.parquet")
        unseen.run(Mean(), data.X[:200], data.y[:200], cv=2, engine=client, duplicates="apart")
        before = client.run(memory, reset=True)
        unseen.run(Mean(), data, cv=10, engine=client, duplicates="apart", progress=False)
        after = client.run(memory)
    shares = [(after[worker][1] - before[worker][0]) / training for worker in before]
    assert max(shares) < LARGEST_SHARES[way], shares
    assert max(shares) > 1, "no worker had any work"


@pytest.mark.slow
def test_workers_that_share_a_file_give_the_same_numbers(distributed, monkeypatch):
    data, written = large("frame"), []
    write = SharedData.write.__func__
    monkeypatch.setattr(SharedData, "write", classmethod(lambda cls, *given: written.append(1) or write(cls, *given)))
    effort = {"repeats": 1, "folds": 3, "bootstrap": 2, "leave_out": 2, "curve": 0, "direct": 0}
    here, there = (
        unseen.assess("cart", data, random_state=0, effort=effort, engine=engine) for engine in ("joblib", "local:2")
    )
    assert written == [1], "one file for all designs; guessing has no features to share"
    for name, table in here.tables.items():
        assert np.array_equal(table.source[0].test.value, there.tables[name].source[0].test.value)
    assert here.error == there.error
