"""Memory of dask workers: the most that one holds above its start, in training sets, however the data get there."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import unseen
from benchmarks.timing import Time, row, same_numbers, time_of
from unseen.datasets.read import read

ROWS, COLUMNS, FOLDS, PARTS = 1_000_000, 50, 10, 4
PAGE = os.sysconf("SC_PAGE_SIZE")
WISH = 1.2  # one training set, and some vectors as long as it is: its labels, its row numbers
WAYS = ("sent", "in a mapped file", "read by each from Parquet")


class ReadsAll(ClassifierMixin, BaseEstimator):
    """Reads every training row and keeps one number."""

    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), [X.iloc[:, j].mean() for j in range(X.shape[1])]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Watch(threading.Thread):
    """Watches processes from outside: the most memory of their own, and the most with the pages of files, each 2 ms."""

    def __init__(self, pids: list[int]) -> None:
        super().__init__(daemon=True)
        self.pids, self.over = pids, threading.Event()
        self.own, self.all = dict.fromkeys(pids, 0), dict.fromkeys(pids, 0)

    def run(self) -> None:
        while not self.over.wait(0.002):
            for pid in self.pids:
                resident, own = memory(pid)
                self.own[pid], self.all[pid] = max(self.own[pid], own), max(self.all[pid], resident)


def memory(pid: int) -> tuple[int, int]:
    """Return the bytes a process has in memory, and those of them that no file backs."""
    _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    return int(resident) * PAGE, (int(resident) - int(shared)) * PAGE


@dataclass(frozen=True)
class Growth:
    """How much the worker grew that grew most, in training sets: its own memory, and with pages of files; and the run."""

    own: float
    whole: float
    took: Time
    expected: np.ndarray


def largest(way: str, folder: Path, rows: int = ROWS, columns: int = COLUMNS) -> Growth:
    """Return the growth of the worker that grew most, with the errors of splits that must be found."""
    from distributed import Client, LocalCluster

    os.environ.pop("UNSEEN_SHARED_FOLDER", None)
    if way == "in a mapped file":
        os.environ["UNSEEN_SHARED_FOLDER"] = str(folder)
    data = _sample(way, folder, rows, columns)
    training = rows * (1 - 1 / FOLDS) * columns * 8
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, memory_limit=0) as on,
        Client(on, set_as_default=False) as client,
    ):
        client.run(import_module, "pyarrow.parquet")
        few = data.take(np.arange(300))
        client.run(unseen.run, ReadsAll(), few.X, few.y, cv=2, engine="joblib", duplicates="apart", progress=False)
        pids = sorted(client.run(os.getpid).values())
        before = {pid: memory(pid) for pid in pids}
        watch = Watch(pids)
        watch.start()

        def call() -> Any:
            return unseen.run(ReadsAll(), data, cv=FOLDS, engine=client, duplicates="apart", progress=False)

        took = time_of(call, 1, workers=True)
        watch.over.set()
        watch.join()
    os.environ.pop("UNSEEN_SHARED_FOLDER", None)
    own = max((watch.own[pid] - before[pid][1]) / training for pid in pids)
    whole = max((watch.all[pid] - before[pid][0]) / training for pid in pids)
    labels = np.asarray(data.y)
    expected = np.array([np.mean(labels[s.test] != labels.min()) for s in took.result.plan])
    return Growth(own, whole, took, expected)


def _sample(way: str, folder: Path, rows: int, columns: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(0)
    place = folder / "parts"
    if not place.exists():
        place.mkdir()
        for j in range(PARTS):
            X = rng.standard_normal((rows // PARTS, columns))
            frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(columns)])
            frame.assign(y=rng.integers(0, 2, len(frame))).to_parquet(place / f"{j}.parquet")
    data = read(place, "y")
    return data if way.startswith("read") else data.take(np.arange(data.n))


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        return [_row(way, largest(way, Path(folder))) for way in WAYS]


def _row(way: str, grown: Growth) -> dict:
    found = grown.took.result.losses().split_means()
    return row(
        f"memory of a dask worker, 1e6 x {COLUMNS}, data {way}",
        grown.took,
        other=f"{grown.own:.2f} training sets of its own, {grown.whole:.2f} with pages of files",
        same=same_numbers(found, grown.expected, "errors of splits and counts"),
        target="one training set, and a fifth for vectors of its length",
        met=grown.own <= WISH,
    )
