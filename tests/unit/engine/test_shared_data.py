"""Data in one file for all workers: what comes back, what is written, and what is said if a worker cannot open it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import unseen
from unseen.core.errors import InputError
from unseen.engine.shared_data import FOLDER, SharedData, share_data, sharing
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
