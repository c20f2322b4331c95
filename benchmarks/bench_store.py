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
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.timing import (
    Agreement,
    Time,
    alternating,
    faster,
    largest_difference,
    row,
    same_numbers,
    same_value,
    time_of,
)
from unseen.store import SqlStore, TaskResult, TaskRow, open_store, schema
from unseen.study.driver import drive

MILLION, CELLS, CHUNK = 1_000_000, 200, 50
SUMS = "COUNT(*), SUM(estimate), SUM(truth), SUM(lower), SUM(upper), SUM(spread), SUM(seconds)"


def _tasks(count: int, cells: int):
    return (TaskRow(f"{c:08d}{r:024d}", c, r, r) for r in range(count // cells) for c in range(cells))


def _add(store: SqlStore, name: str, count: int, cells: int) -> None:
    store.add_study(name, "study", {"seed": 0}, [{"cell": k} for k in range(cells)], _tasks(count, cells))


def _cost_per_task(folder: Path, count: int = 5000) -> dict:
    """Claim and finish in chunks of 50, beside bare inserts of the same rows, both synced; making the study is not timed."""
    file = folder / "cost.db"
    store = open_store(file)
    number = iter(range(1000))
    values = {
        "estimate": 0.2,
        "truth": 0.25,
        "lower": 0.1,
        "upper": 0.3,
        "spread": 0.01,
        "p_value": None,
        "seconds": 0.01,
    }

    def work(name: str) -> str:
        while rows := store.claim(name, "me", CHUNK, 60):
            store.finish(name, "me", [TaskResult(r.id, **values) for r in rows])
        return name

    def ours() -> Time:
        name = f"study {next(number)}"
        _add(store, name, count, 50)
        return time_of(lambda: work(name), 1)

    def insert(base: sqlite3.Connection) -> list:
        for k in range(0, count, CHUNK):
            base.execute("BEGIN")
            rows = [(f"{r:032d}", *values.values()) for r in range(k, k + CHUNK)]
            base.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            base.execute("COMMIT")
        return base.execute(f"SELECT {SUMS} FROM results").fetchone()

    def bare() -> Time:
        base = sqlite3.connect(folder / f"bare {next(number)}.db", isolation_level=None)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        base.execute(
            "CREATE TABLE results (id TEXT PRIMARY KEY, estimate REAL, truth REAL, lower REAL, upper REAL, "
            "spread REAL, p_value REAL, seconds REAL)"
        )
        return time_of(lambda: insert(base), 1)

    own, peer = ours(), bare()
    for _ in range(2):
        own, peer = faster(own, ours()), faster(peer, bare())
    store.close()
    with closing(sqlite3.connect(file)) as base:
        kept = base.execute(
            f"SELECT {SUMS} FROM results WHERE study = (SELECT id FROM studies WHERE name = ?)", [own.result]
        ).fetchone()
    own, peer = own.times(1 / count), peer.times(1 / count)
    remark = f"{1000 * own.cpu:.3f} ms of processor, {1000 * own.wall:.3f} ms of waiting included"
    return row(
        "store, claim and finish, per task in chunks of 50",
        own,
        peer,
        against="bare INSERTs",
        same=same_numbers(kept, peer.result, "counts and sums by SQL"),
        target="under 1 ms",
        met=own.cpu < 1e-3,
        remark=remark,
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
        return table.groupby("cell")[["d", "covered", "estimate", "truth", "seconds"]].agg(["mean", "var", "count"])

    own, peer = alternating(lambda: store.moments("big"), by_pandas, 3)
    columns = time_of(lambda: store.columns("big"), 3)
    progress = time_of(lambda: store.progress("big"), 3)
    again = time_of(lambda: _add(store, "big", MILLION, CELLS), 1)
    store.close()
    found, table = own.result, peer.result
    moments = largest_difference(
        np.concatenate(
            [found["deviation"], found["deviation_variance"], found["covered"] / found["n_intervals"], found["n_pairs"]]
        ),
        np.concatenate(
            [table["d"]["mean"], table["d"]["var"], table["covered"]["mean"], table["estimate"]["count"].astype(float)]
        ),
        1e-9,
    )
    read = [columns.result[name].mean() for name in ("estimate", "truth", "lower", "upper", "seconds")]
    weights = table["estimate"]["count"]
    means = [float(np.average(table[name]["mean"], weights=weights)) for name in ("estimate", "truth")]
    with closing(sqlite3.connect(folder / "million.db")) as base:
        means += base.execute("SELECT AVG(lower), AVG(upper), AVG(seconds) FROM results").fetchone()
    return [
        row(
            "store, moments of 1e6 results",
            own,
            peer,
            against="pandas, read and group",
            same=moments,
            target="under 2 s",
            met=own.cpu < 2,
            remark=f"progress {progress.cpu:.2f} s, adding the study again {again.cpu:.1f} s",
        ),
        row(
            "store, columns of 1e6 results",
            columns,
            peer,
            against="pandas, read and group",
            same=largest_difference(read, means, 1e-9, "means of columns"),
            target="under 2 s",
            met=columns.cpu < 2,
        ),
    ]


def number_of(replication: int) -> float:
    """Return a number that tells a task from others."""
    return (replication * 0.618034) % 1.0


def five_milliseconds(spec, cells, rows):
    """Keep a processor busy for 5 ms a task."""
    for _ in rows:
        end = time.process_time() + 0.005
        while time.process_time() < end:
            pass
    return [TaskResult(r.id, estimate=number_of(r.replication), seconds=0.005) for r in rows]


def _dask(folder: Path, count: int = 1600) -> dict:
    """The same study on two loky workers and on two dask workers, both started beforehand by a small one."""
    from distributed import Client, LocalCluster

    store = open_store(folder / "dask.db")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    best: dict[str, Time] = {}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        for turn in range(3):
            for kind, way in (("loky", {"n_jobs": 2}), ("dask", {"scheduler": client})):
                spent = []
                for size in (2, count):  # the difference leaves out what starting costs
                    name = f"{kind} {turn} {size}"
                    _add(store, name, size, 1)
                    drive_all = partial(drive, store, name, runner=five_milliseconds, **way)
                    spent.append(time_of(drive_all, 1, workers=True))
                few, many = spent
                once = Time(many.cpu - few.cpu, many.wall - few.wall, store.columns(name))
                best[kind] = faster(best.get(kind, once), once)
    store.close()
    own, peer = best["dask"], best["loky"]
    names = ("replication", "estimate", "seconds")
    same = same_numbers(*([kind.result[k] for k in names] for kind in (own, peer)), "stored numbers")
    sums = [len(own.result["estimate"]), own.result["estimate"].sum()]
    expected = [count, sum(number_of(r) for r in range(count))]
    return row(
        "driver, 1,600 tasks of 5 ms on two dask workers",
        own,
        peer,
        against="two loky workers",
        same=same.also(same_numbers(sums, expected, "sums and those of one process")),
        target="at most 15% over on the clock",
        met=own.wall <= 1.15 * peer.wall,
        remark=f"{own.wall / peer.wall - 1:+.1%} on the clock",
    )


CACHE = 64  # MiB of SQLite's page cache (unseen.store.opening), which adding tasks fills
FULL = 1.5 * CACHE  # with the headers of its pages; 88 MiB were seen with one million tasks and with two

PEAK = """
import json, sys
from benchmarks.bench_store import _add, instant, watched
from benchmarks.timing import time_of
from unseen.store import open_store
from unseen.study.driver import drive
store = open_store(sys.argv[1])
_add(store, "first", 10, 10)
drive(store, "first", runner=instant)
adding = time_of(lambda: watched(lambda: _add(store, "mine", int(sys.argv[2]), 10)), 1)
drives = sys.argv[3] == "drive"
driving = time_of(lambda: watched(lambda: drive(store, "mine", runner=instant)) if drives else 0.0, 1)
print(json.dumps([[each.cpu, each.wall, each.result] for each in (adding, driving)]))
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
    return [TaskResult(r.id, estimate=number_of(r.replication), seconds=0.0) for r in rows]


def _memory(folder: Path) -> list[dict]:
    """Growth of the driver's memory while tasks that cost nothing are driven, and while a study of a million is added."""

    def grown(count: int, what: str) -> tuple[Time, Time]:
        """Return the time of adding and of driving so many tasks, each with the MiB it took."""
        command = [sys.executable, "-c", PEAK, str(folder / f"memory {count}.db"), str(count), what]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        adding, driving = (Time(*each) for each in found)
        return adding, driving

    def counted(count: int, table: str) -> Agreement:
        with closing(sqlite3.connect(folder / f"memory {count}.db")) as base:
            where = f"SELECT COUNT(*) FROM {table} WHERE study = (SELECT id FROM studies WHERE name = 'mine')"
            return same_value(f"{table} by SQL and asked for", base.execute(where).fetchone()[0], count)

    (_, few), (fewer, many), (added, _) = grown(1000, "drive"), grown(100_000, "drive"), grown(MILLION, "add")
    more = many.result - few.result
    return [
        row(
            "driver, memory",
            many,
            few,
            against="a hundredth of the tasks",
            other=f"{many.result:.1f} MiB for 1e5 tasks, {few.result:.1f} MiB for 1e3",
            same=counted(100_000, "results").also(counted(1000, "results")),
            target="at most 20 MiB more",
            met=more < 20,
        ),
        row(
            "store, memory while adding 1e6 tasks",
            added,
            fewer,
            against="1e5 tasks",
            other=f"{added.result:.1f} MiB for 1e6 tasks, {fewer.result:.1f} MiB for 1e5",
            same=counted(MILLION, "tasks"),
            target=f"at most {FULL:g} MiB",
            met=added.result < FULL,
            remark=f"SQLite's page cache of {CACHE} MiB fills, and then stays",
        ),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [_cost_per_task(folder), *_summaries(folder), _dask(folder), *_memory(folder)]
