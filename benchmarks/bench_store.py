"""The store and the driver: cost per task, a summary of a million rows, cost of dask, memory of the driver."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import alternating, cpu_seconds, row
from unseen.store import SqlStore, TaskResult, TaskRow, open_store, schema
from unseen.study.driver import drive

MILLION, CELLS, CHUNK = 1_000_000, 200, 50


def _tasks(count: int, cells: int):
    return (TaskRow(f"{c:08d}{r:024d}", c, r, r) for r in range(count // cells) for c in range(cells))


def _add(store: SqlStore, name: str, count: int, cells: int) -> None:
    store.add_study(name, "study", {"seed": 0}, [{"cell": k} for k in range(cells)], _tasks(count, cells))


def _cost_per_task(folder: Path, count: int = 5000) -> dict:
    """Claim and finish in chunks of 50, beside bare inserts of the same rows, both synced to disk."""
    store, wall = open_store(folder / "cost.db"), []
    number = iter(range(1000))

    def ours():
        name = f"study {next(number)}"
        _add(store, name, count, 50)
        start, cpu = time.perf_counter(), time.process_time()
        while rows := store.claim(name, "me", CHUNK, 60):
            store.finish(
                name,
                "me",
                [
                    TaskResult(
                        r.id, estimate=0.2, truth=0.25, lower=0.1, upper=0.3, spread=0.01, p_value=None, seconds=0.01
                    )
                    for r in rows
                ],
            )
        wall.append(time.perf_counter() - start)
        return time.process_time() - cpu

    def bare():
        base = sqlite3.connect(folder / f"bare {next(number)}.db", isolation_level=None)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        base.execute(
            "CREATE TABLE results (id TEXT PRIMARY KEY, a REAL, b REAL, c REAL, d REAL, e REAL, f REAL, g REAL)"
        )
        start = time.process_time()
        for k in range(0, count, CHUNK):
            base.execute("BEGIN")
            rows = [(f"{r:032d}", 0.2, 0.25, 0.1, 0.3, 0.01, None, 0.01) for r in range(k, k + CHUNK)]
            base.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            base.execute("COMMIT")
        return time.process_time() - start

    own = min(ours() for _ in range(3)) / count
    peer = min(bare() for _ in range(3)) / count
    store.close()
    remark = f"{1000 * own:.3f} ms of processor, {1000 * min(wall) / count:.3f} ms of waiting included"
    return row(
        "store, claim and finish, per task in chunks of 50", own, peer, "bare INSERTs", "under 1 ms", own < 1e-3, remark
    )


def _million(folder: Path) -> SqlStore:
    store = open_store(folder / "million.db")
    draw, per = np.random.default_rng(0), MILLION // CELLS
    _add(store, "big", MILLION, CELLS)
    with store._writing() as connection:
        for cell in range(CELLS):
            truth = draw.uniform(0.1, 0.3, per)
            estimate = truth + draw.normal(0, 0.05, per)
            numbers = np.column_stack([estimate, truth, estimate - 0.1, estimate + 0.1, np.full(per, 0.01)]).tolist()
            rows = [(1, cell, k, *x, None, 0.01) for k, x in enumerate(numbers)]
            connection.exec_driver_sql("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute(schema.tasks.update().values(state=schema.DONE))
    return store


def _summaries(folder: Path) -> list[dict]:
    """Moments and columns of a million results, beside pandas on the same file."""
    import pandas as pd

    store = _million(folder)

    def by_pandas():
        base = sqlite3.connect(folder / "million.db")
        table = pd.read_sql_query("SELECT * FROM results WHERE study = 1", base)
        table["d"] = table.estimate - table.truth
        table["covered"] = (table.lower <= table.truth) & (table.truth <= table.upper)
        table.groupby("cell")[["d", "covered", "estimate", "truth", "seconds"]].agg(["mean", "var", "count"])

    own, peer = alternating(lambda: store.moments("big"), by_pandas, 3)
    columns = cpu_seconds(lambda: store.columns("big"), 3)
    progress = cpu_seconds(lambda: store.progress("big"), 3)
    again = cpu_seconds(lambda: _add(store, "big", MILLION, CELLS), 1)
    store.close()
    extra = f"progress {progress:.2f} s, adding the study again {again:.1f} s"
    return [
        row("store, moments of 1e6 results", own, peer, "pandas, read and group", "under 2 s", own < 2, extra),
        row("store, columns of 1e6 results", columns, peer, "pandas, read and group", "under 2 s", columns < 2),
    ]


def five_milliseconds(spec, cells, rows):
    """Keep a processor busy for 5 ms a task."""
    for _ in rows:
        end = time.process_time() + 0.005
        while time.process_time() < end:
            pass
    return [TaskResult(r.id, estimate=0.5, seconds=0.005) for r in rows]


def _dask(folder: Path, count: int = 1600) -> dict:
    """The same study on two loky workers and on two dask workers, both started beforehand by a small one."""
    from distributed import Client, LocalCluster

    store = open_store(folder / "dask.db")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    seconds: dict[str, list[float]] = {"loky": [], "dask": []}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        for turn in range(3):
            for kind, way in (("loky", {"n_jobs": 2}), ("dask", {"scheduler": client})):
                spent = []
                for size in (2, count):  # the difference leaves out what starting costs
                    name = f"{kind} {turn} {size}"
                    _add(store, name, size, 1)
                    start = time.perf_counter()
                    drive(store, name, runner=five_milliseconds, **way)
                    spent.append(time.perf_counter() - start)
                seconds[kind].append(spent[1] - spent[0])
    store.close()
    own, peer = min(seconds["dask"]), min(seconds["loky"])
    return row(
        "driver, 1,600 tasks of 5 ms on two dask workers",
        own,
        peer,
        "two loky workers",
        "at most 15% over",
        own <= 1.15 * peer,
        f"{own / peer - 1:+.1%}, wall clock",
    )


CACHE = 64  # MiB of SQLite's page cache (unseen.store.opening), which adding tasks fills
FULL = 1.5 * CACHE  # with the headers of its pages; 88 MiB were seen with one million tasks and with two

PEAK = """
import json, sys, threading, time
from benchmarks.bench_store import _add, instant, resident, watched
from unseen.store import open_store
from unseen.study.driver import drive
store = open_store(sys.argv[1])
_add(store, "first", 10, 10)
drive(store, "first", runner=instant)
added = watched(lambda: _add(store, "mine", int(sys.argv[2]), 10))
start = time.process_time()
driven = watched(lambda: drive(store, "mine", runner=instant)) if sys.argv[3] == "drive" else 0.0
print(json.dumps([added, driven, time.process_time() - start]))
"""


def resident() -> float:
    """Return the resident memory of this process now, in MiB; a high-water mark would hide growth below an earlier peak."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def watched(call) -> float:
    """Return by how many MiB the resident memory rose above its start while something ran, sampled every 10 ms."""
    before, highest, done = resident(), [0.0], threading.Event()

    def sample():
        while not done.wait(0.01):
            highest[0] = max(highest[0], resident() - before)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        call()
    finally:
        done.set()
        thread.join()
    return max(highest[0], resident() - before)


def instant(spec, cells, rows):
    """Answer at once."""
    return [TaskResult(r.id, estimate=0.5, seconds=0.0) for r in rows]


def _memory(folder: Path) -> list[dict]:
    """Growth of the driver's memory while tasks that cost nothing are driven, and while a study of a million is added."""

    def grown(count: int, what: str) -> list[float]:
        command = [sys.executable, "-c", PEAK, str(folder / f"memory {count}.db"), str(count), what]
        found: list[float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return found

    few, many, million = grown(1000, "drive"), grown(100_000, "drive"), grown(MILLION, "add")
    more = many[1] - few[1]
    driven = f"{few[1]:.1f} MiB for 1e3 tasks, {many[1]:.1f} MiB for 1e5; seconds are those of the two runs"
    return [
        row("driver, memory", many[2], few[2], "a hundredth of the tasks", "at most 20 MiB more", more < 20, driven),
        row(
            "store, memory while adding 1e6 tasks (MiB, not seconds)",
            million[0],
            many[0],
            "1e5 tasks",
            f"at most {FULL:g}",
            million[0] < FULL,
            f"SQLite's page cache of {CACHE} MiB fills, and then stays",
        ),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [_cost_per_task(folder), *_summaries(folder), _dask(folder), *_memory(folder)]
