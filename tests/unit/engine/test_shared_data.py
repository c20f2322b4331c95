"""Data in one file for all workers: what comes back, what is written, and what is said if a worker cannot open it."""

from __future__ import annotations

import gzip
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
from unseen.engine import shared_data
from unseen.engine.shared_data import (
    FOLDER,
    DataByPath,
    DataInPieces,
    FrameForm,
    MappedData,
    Piece,
    SharedData,
    _map_features,
    share_data,
    sharing,
)
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
            assert isinstance(shared, DataByPath if other.X is data.X else DataInPieces)
        assert share_data(data) is data, "no cluster"


def test_workers_that_do_not_reach_the_path(parts, caplog):
    data = data_of(parts, "y", sample_weight="w")
    with sharing(local=False):
        assert isinstance(share_data(data, Workers((), ())), DataInPieces)
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
    other = replace(origin_of(data.X), fingerprint="0" * 16)
    shared = DataByPath(other, data.without_features(), FrameForm.of(data.X))
    with pytest.raises(InputError, match=r"finds another table at .* must reach the same files"):
        shared.read()
    gone = replace(shared, origin=replace(other, path=str(parts / "gone.parquet")))
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


def of_kind(kind):
    """Return features of 3,000 rows in one of the forms they are kept in."""
    data = large("frame" if kind == "mixed" else "sparse" if kind == "sparse" else "array")
    X = data.X
    if kind == "frame":
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)])
    elif kind == "columns":
        X = np.asfortranarray(X)
    elif kind == "mixed":
        X = X.assign(
            count=np.arange(3000), day=pd.date_range("2026-01-01", periods=3000, freq="h"), odd=[0, True] * 1500
        )
    return replace(data, X=X)


@pytest.mark.parametrize("kind", ["array", "columns", "sparse", "frame", "mixed"])
@pytest.mark.parametrize("rows", [[5], [2, 2, 0, 2999], list(range(0, 3000, 2))], ids=["one", "repeats", "many"])
def test_rows_taken_in_strips_are_the_rows(kind, rows, monkeypatch, tmp_path):
    data, rows = of_kind(kind), np.array(rows)
    monkeypatch.setattr(shared_data, "STRIP", 4096)
    mapped = SharedData.write(data, tmp_path / "data").read()
    given_back = []
    monkeypatch.setattr(shared_data, "_give_back", lambda pages: given_back.append(len(pages)))
    taken, wanted = mapped.take(rows), data.take(rows)
    assert type(taken) is unseen.core.data.Data
    assert given_back, "no page was given back"
    assert np.array_equal(taken.y, wanted.y)
    assert np.array_equal(taken.source, wanted.source)
    if kind == "sparse":
        assert (taken.X != wanted.X).nnz == 0
        return
    if kind in ("frame", "mixed"):
        pd.testing.assert_frame_equal(taken.X, wanted.X)
    found, known = (np.asarray(X.select_dtypes("number") if hasattr(X, "iloc") else X) for X in (taken.X, wanted.X))
    assert np.array_equal(found, known, equal_nan=True)
    if len(rows) > 1:  # sums in another layout round otherwise
        assert (found.flags.c_contiguous, found.flags.f_contiguous) == (
            known.flags.c_contiguous,
            known.flags.f_contiguous,
        )


@pytest.mark.parametrize("kind", ["array", "columns", "sparse", "frame", "mixed"])
def test_a_sample_in_pieces_arrives(kind, monkeypatch):
    monkeypatch.setattr(shared_data, "PIECE", 100_001)
    data = of_kind(kind)
    cut = DataInPieces.cut(data)
    assert len(cut.pieces) > 4
    again = pickle.loads(pickle.dumps(cut, protocol=5))
    assert not again.pieces, "they travel on their own"
    buffers = []
    frames = pickle.dumps(cut.pieces[::-1], protocol=5, buffer_callback=buffers.append)
    pieces = pickle.loads(frames, buffers=buffers)
    assert all(piece.values is None for piece in pieces), "the bytes are in a file, not in memory"
    # one worker has it of another
    second = pickle.loads(pickle.dumps(pieces, protocol=5))
    made = again.read(second)
    assert isinstance(made, MappedData)
    assert made is again.read(pieces), "mapped once"
    rows = np.array([7, 2999, 7])
    assert shared_data.mark_of(made) == shared_data.mark_of(data)
    assert shared_data.mark_of(made.take(rows)) == shared_data.mark_of(data.take(rows))


def test_no_room_for_pieces_is_said(monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    sent = pickle.dumps(Piece("nowhere", 4, 0, b"abcd"), protocol=5)
    monkeypatch.setattr(shared_data, "_place_of", full)
    with pytest.raises(
        InputError, match=r"cannot be kept on .*: No space left on device in .*; set TMPDIR to a folder"
    ):
        pickle.loads(sent)


def odd_parts(folder):
    """Write two parts whose columns are of every kind; a value is missing in one part only."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    for j in range(2):
        n = 1500
        frame = pd.DataFrame(rng.standard_normal((n, 50)), columns=[f"x{k}" for k in range(50)])
        frame["level"] = pd.Categorical(rng.choice(["low", "high", "middle"][: 2 + j], n))
        frame["word"] = rng.choice(["b", "a"] if j else ["c", None], n)
        frame["count"] = rng.integers(0, 9, n)
        frame["day"] = pd.date_range("2026-01-01", periods=n, freq="h")
        frame["yes"] = rng.integers(0, 2, n).astype(bool)
        frame["some"] = pd.array(rng.integers(0, 9, n), dtype="Int64")
        if j:
            frame.loc[3, "some"] = pd.NA
        frame["y"] = rng.integers(0, 2, n)
        frame.to_parquet(folder / f"{j}.parquet", row_group_size=400)
    return folder


@pytest.mark.parametrize("alike", [True, False])
def test_columns_go_into_a_file_some_at_a_time(tmp_path, monkeypatch, alike):
    folder = odd_parts(tmp_path / "odd")
    monkeypatch.setattr("unseen.datasets.parquet.AT_ONCE", 2000)
    data = read(folder, "y", drop=("level", "word", "count", "day", "yes", "some") if alike else ())
    with sharing(local=False):
        shared = share_data(data, Workers("same"))
    monkeypatch.setattr(shared_data, "_read_whole", lambda origin: pytest.fail("the table was read whole"))
    again = shared.read()
    pd.testing.assert_frame_equal(again.X, data.X)
    assert shared_data.mark_of(again) == data.fingerprint
    assert shared.form.alike == alike
    rows = np.array([2999, 4, 4])
    pd.testing.assert_frame_equal(again.take(rows).X, data.take(rows).X)


def test_columns_that_a_file_has_otherwise_are_read_whole(tmp_path):
    folder = odd_parts(tmp_path / "odd")
    data = read(folder, "y")
    with sharing(local=False):
        shared = share_data(data, Workers("same"))
    # a form that is not that of the driver gives another table, or none
    for form in (
        replace(shared.form, kinds=(np.dtype("int8"), *shared.form.kinds[1:])),
        replace(shared.form, names=("z",) * 56),
    ):
        _map_features.cache_clear()
        again = replace(shared, form=form).read()
        pd.testing.assert_frame_equal(again.X, data.X)
    _map_features.cache_clear()


@pytest.mark.parametrize("how", ["csv", "dropped rows", "some rows", "gzipped"])
def test_what_is_no_whole_parquet_file_goes_in_pieces(tmp_path, how):
    frame = of_kind("frame").X.assign(y=np.arange(3000) % 2)
    if how == "csv":
        frame.to_csv(path := tmp_path / "table.csv", index=False)
    else:
        frame["y"] = frame["y"].where(frame.index != 4) if how == "dropped rows" else frame["y"]
        frame.to_parquet(path := tmp_path / "table.parquet")
    if how == "gzipped":
        path.with_suffix(".parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = path.with_suffix(".parquet.gz")
    data = read(path, "y", n=2900 if how == "some rows" else None)
    workers = Workers("same")
    with sharing(local=False):
        shared = share_data(data, workers)
        assert isinstance(shared, DataInPieces)
        assert share_data(data, workers) is shared, "cut once, however many runs the call has"
        assert workers.asked == 0


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


# training sets of memory, the pages of files counted too: one training set, its labels and row numbers, and strips of the file; 86 MB each
LARGEST_SHARE = 1.9


@pytest.mark.slow
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux's /proc")
@pytest.mark.parametrize("way", ["sent", "file", "path"])
def test_a_worker_holds_one_training_set(distributed, tmp_path, monkeypatch, way):
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
        few = data.take(np.arange(200))
        client.run(unseen.run, Mean(), few.X, few.y, cv=2, engine="joblib", duplicates="apart", progress=False)
        before = client.run(memory, reset=True)
        unseen.run(Mean(), data, cv=10, engine=client, duplicates="apart", progress=False)
        after = client.run(memory)
    shares = [(after[worker][1] - before[worker][0]) / training for worker in before]
    assert max(shares) < LARGEST_SHARE, shares
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
