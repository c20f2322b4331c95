"""Studies: the summary of a million results, and what the driver of a dask cluster spends per chunk and per task."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.bench_store import _add, instant, number_of
from benchmarks.timing import Time, alternating, largest_difference, row, same_numbers, time_of
from unseen.store import open_store
from unseen.study.driver import drive
from unseen.study.summary import TaskCounts, summarize_columns

CELLS, REPLICATIONS = 200, 5000
CHUNKS = ((10, 1000), (200, 10_000))  # tasks per chunk, tasks


def _million():
    rng = np.random.default_rng(0)
    cells = [
        {"population": "p", "model": f"m{k // 50}", "n": 20 * (1 + (k // 10) % 5), "method": f"e{k % 10}"}
        for k in range(CELLS)
    ]
    size = CELLS * REPLICATIONS
    truth = rng.uniform(0.1, 0.3, size)
    estimate = truth + rng.normal(0, 0.05, size)
    columns = {
        "cell": np.repeat(np.arange(CELLS), REPLICATIONS),
        "replication": np.tile(np.arange(REPLICATIONS), CELLS),
        "estimate": estimate,
        "truth": truth,
        "lower": estimate - 0.1,
        "upper": estimate + 0.1,
        "spread": np.full(size, 0.01),
        "p_value": np.full(size, np.nan),
        "seconds": np.full(size, 0.01),
    }
    text = '{"kind": "algorithm", "n1": 18, "target": 0.2123456789}'
    return cells, columns, [(c, r, text) for c in range(CELLS) for r in range(REPLICATIONS)]


def _summary() -> dict:
    """Everything the summary has, paired tests too, beside means and variances by pandas."""
    import pandas as pd

    cells, columns, extras = _million()
    spec, counts = {"replications": REPLICATIONS, "seed": 0}, TaskCounts(CELLS * REPLICATIONS, CELLS * REPLICATIONS, 0)

    def by_pandas():
        table = pd.DataFrame(columns)
        table["d"] = table.estimate - table.truth
        table["covered"] = (table.lower <= table.truth) & (table.truth <= table.upper)
        return table.groupby("cell")[["d", "covered", "estimate", "truth", "seconds"]].agg(["mean", "var", "count"])

    own, peer = alternating(lambda: summarize_columns("s", spec, cells, columns, extras, counts), by_pandas, 3)
    plain = time_of(lambda: summarize_columns("s", spec, cells, columns, [], counts), 3)
    deviations, table = [c.deviation for c in own.result.cells], peer.result["d"]
    return row(
        "study, summary of 1e6 results",
        own,
        peer,
        against="pandas, mean and variance",
        same=largest_difference([[d.bias, d.variance] for d in deviations], table[["mean", "var"]].to_numpy(), 1e-9),
        target="under 2 s",
        met=own.cpu < 2,
        remark=f"with targets of their own; {plain.cpu:.2f} s without; 900 paired tests included",
    )


def _driver(folder: Path) -> dict:
    """Processor time of driver and dask scheduler for tasks that cost nothing, solved for chunk and task."""
    from distributed import Client, LocalCluster

    store, spent, agree = open_store(folder / "d.db"), [], []
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        _add(store, "warm", 2, 1)
        drive(store, "warm", runner=instant, scheduler=client)
        for chunk, count in CHUNKS:
            _add(store, f"by {chunk}", count, 1)
            made = time_of(partial(drive, store, f"by {chunk}", runner=instant, chunk=chunk, scheduler=client), 1)
            spent.append(made.times(chunk / count))
            kept = store.columns(f"by {chunk}")
            expected = np.array([number_of(r) for r in range(count)])
            agree.append(same_numbers(kept["estimate"], expected, f"results by {chunk} and those of one process"))
    store.close()
    few, many = (size for size, _ in CHUNKS)
    per_task = Time((spent[1].cpu - spent[0].cpu) / (many - few), (spent[1].wall - spent[0].wall) / (many - few))
    per_chunk = Time(spent[0].cpu - few * per_task.cpu, spent[0].wall - few * per_task.wall)
    workers = [1 / (per_chunk.cpu + per_task.cpu / seconds) for seconds in (0.005, 0.05, 0.5)]
    remark = (
        f"{1000 * per_chunk.cpu:.1f} ms a chunk, {1000 * per_task.cpu:.3f} ms a task; "
        f"chunks of 1 s keep {workers[0]:.0f}, {workers[1]:.0f}, {workers[2]:.0f} workers busy with tasks of 5, 50, 500 ms"
    )
    return row(
        "study, driver and scheduler per chunk",
        per_chunk,
        same=agree[0].also(agree[1]),
        target="under 2% of the second that a chunk works",
        met=per_chunk.cpu < 0.02,
        remark=remark,
    )


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    with tempfile.TemporaryDirectory() as name:
        return [_summary(), _driver(Path(name))]
