"""Chunks of data sets, run by worker processes or as tasks of a store; both give the same numbers."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.rng import stream
from unseen.engine.events import Reporter
from unseen.engine.threads import limited_threads, worker_count
from unseen.reproduction.nadeau_bengio.checks import J
from unseen.reproduction.nadeau_bengio.problems import Letter, Regressions
from unseen.reproduction.nadeau_bengio.statistics import Raw, draw_split_orders, raw_of
from unseen.reproduction.nadeau_bengio.variance import SETTINGS, VarianceRun, join, variance_run
from unseen.store import TaskResult, TaskRow

__all__ = ["StoredTasks", "WorkerTasks", "pack", "raw_sets", "run_group", "unpack"]

VERSION = 1  # raised when the numbers of a data set change
INNER = 15  # splits inside each half of a halving, as published
CHUNK = 25  # data sets of a task: a second or two of work
SUMS = ("products", "means", "one_split")


def pack(arrays: Mapping[str, Floats]) -> str:
    """Return arrays as JSON text that gives them back bit for bit.

    Examples
    --------
    >>> unpack(pack({"a": np.array([[0.1, 0.2]])}))["a"].tolist()
    [[0.1, 0.2]]
    """
    little = {name: np.ascontiguousarray(values, dtype="<f8") for name, values in arrays.items()}
    return json.dumps(
        {name: [list(a.shape), base64.b64encode(a.tobytes()).decode("ascii")] for name, a in little.items()}
    )


def unpack(text: str) -> dict[str, Floats]:
    """Return the arrays of a text."""
    content = json.loads(text)
    return {
        name: np.frombuffer(base64.b64decode(data), dtype="<f8").astype(float).reshape(shape)
        for name, (shape, data) in content.items()
    }


def raw_sets(problem: Any, sets: Iterable[int], n_splits: int, n_halvings: int, seed: int) -> list[Raw]:
    """Run every fit on some data sets; each has a random stream of its own."""
    out = []
    for k in sets:
        rng = stream(seed, "nadeau-bengio", problem.name, k)
        losses = problem.losses(rng)
        out.append(raw_of(losses, draw_split_orders(problem.n, n_splits, n_halvings, INNER, rng)))
    return out


@dataclass(frozen=True)
class WorkerTasks:
    """Data sets in chunks over worker processes; the numbers do not depend on how many."""

    n_jobs: int | None
    reporter: Reporter

    def _over(self, call: Any, problem: Any, count: int, *rest: Any) -> list[Any]:
        from joblib import Parallel, delayed

        chunks = [range(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]
        pool = Parallel(n_jobs=worker_count(-1 if self.n_jobs is None else self.n_jobs), return_as="generator")
        out = []
        for chunk, part in zip(chunks, pool(delayed(_one_thread)(call, problem, chunk, *rest) for chunk in chunks)):
            out.append(part)
            self.reporter.advance(len(chunk))
        return out

    def raw(self, problem: Any, count: int, n_splits: int, n_halvings: int, seed: int) -> Raw:
        """Return the errors of every split on every data set."""
        parts = self._over(raw_sets, problem, count, n_splits, n_halvings, seed)
        return Raw.stack([one for part in parts for one in part])

    def variance(self, problem: Regressions, count: int, seed: int) -> dict[str, VarianceRun]:
        """Return the sums behind the variance ratios."""
        parts = self._over(variance_run, problem, count, J, seed)
        return {name: join([part[name] for part in parts]) for name in parts[0]}


def _one_thread(call: Any, *rest: Any) -> Any:
    with limited_threads(1):
        return call(*rest)


@lru_cache(maxsize=4)
def _problem(text: str) -> Any:
    given = json.loads(text)
    kind = given.pop("kind")
    return Letter(**given) if kind == "letter" else Regressions(**given)


def _fields_of(problem: Any) -> dict[str, Any]:
    own = {f.name: getattr(problem, f.name) for f in fields(problem)}
    return {"kind": "letter" if isinstance(problem, Letter) else "regressions", **own}


def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[TaskRow]) -> list[TaskResult]:
    """Run chunks of data sets; the replication of a task is the number of its chunk."""
    out = []
    for row in rows:
        how, seed = cells[row.cell]["how"], spec["seed"]
        problem = _problem(json.dumps(cells[row.cell]["source"]["problem"], sort_keys=True))
        first = row.replication * how["chunk"]
        sets = range(first, min(first + how["chunk"], how["count"]))
        start = time.perf_counter()
        if how["id"] == "raw":
            raw = Raw.stack(raw_sets(problem, sets, how["splits"][0], how["splits"][1], seed))
            arrays = {f.name: getattr(raw, f.name) for f in fields(Raw)}
            value = float(raw.wide[:, 0].mean())
        else:
            runs = variance_run(problem, sets, how["splits"][0], seed)
            arrays = {f"{name}|{part}": getattr(run, part) for name, run in runs.items() for part in SUMS}
            value = float(next(iter(runs.values())).means[:, 0].mean())
        out.append(TaskResult(row.id, estimate=value, seconds=time.perf_counter() - start, extra=pack(arrays)))
    return out


@dataclass(frozen=True, kw_only=True)
class StoredTasks:
    """Data sets in chunks, each a task of a study; the numbers are those of a run without a store."""

    store: Any
    experiment: Any
    replications: int
    n_jobs: int | None
    reporter: Reporter

    def _chunks(self, call: str, problem: Any, count: int, splits: Sequence[int], seed: int) -> list[dict[str, Floats]]:
        from unseen.reproduction.stored import run_tasks
        from unseen.study import tasks_over

        cell = {
            "population": problem.name,
            "model": "both algorithms",
            "n": problem.n,
            "method": call,
            "kind": "chunk",
            "source": {"problem": _fields_of(problem), "version": VERSION},
            "how": {"id": call, "chunk": CHUNK, "count": count, "splits": list(splits)},
        }
        chunks = -(-count // CHUNK)
        name = run_tasks(
            self.store,
            self.experiment,
            [cell],
            tasks_over([cell], seed, chunks),
            replications=self.replications,
            seed=seed,
            reporter=self.reporter,
            n_jobs=self.n_jobs,
            part=f"{call} of {problem.name}",
        )
        return [unpack(text) for _, _, text in sorted(self.store.extras(name))]

    def raw(self, problem: Any, count: int, n_splits: int, n_halvings: int, seed: int) -> Raw:
        """Return the errors of every split on every data set."""
        parts = self._chunks("raw", problem, count, (n_splits, n_halvings), seed)
        return Raw(**{f.name: np.concatenate([part[f.name] for part in parts]) for f in fields(Raw)})

    def variance(self, problem: Regressions, count: int, seed: int) -> dict[str, VarianceRun]:
        """Return the sums behind the variance ratios."""
        parts = self._chunks("variance", problem, count, (J,), seed)
        out = {}
        for name, shares in SETTINGS.items():
            n1, n2 = (round(share * problem.n) for share in shares)
            joined = {part: np.concatenate([p[f"{name}|{part}"] for p in parts]) for part in SUMS}
            out[name] = VarianceRun(n_train=n1, n_test=n2, expected=problem.expectation(n1), **joined)
        return out
