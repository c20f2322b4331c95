"""The Nadeau-Bengio study as tasks in a store: a chunk of data sets each, what it gave kept as arrays."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.engine.events import Reporter
from unseen.reproduction._nadeau_bengio_judged import J
from unseen.reproduction._nadeau_bengio_problems import Letter, Regressions
from unseen.reproduction._nadeau_bengio_stats import Raw
from unseen.reproduction._nadeau_bengio_variance import VarianceRun, variance_run
from unseen.store import TaskResult, TaskRow

__all__ = ["StoredTasks", "packed", "run_group", "unpacked"]

VERSION = 1  # raised when the numbers of a data set change
SUMS = ("products", "means", "one_split")


def packed(arrays: Mapping[str, Floats]) -> str:
    """Return arrays as JSON text that gives them back bit for bit.

    Examples
    --------
    >>> unpacked(packed({"a": np.array([[0.1, 0.2]])}))["a"].tolist()
    [[0.1, 0.2]]
    """
    little = {name: np.ascontiguousarray(values, dtype="<f8") for name, values in arrays.items()}
    return json.dumps(
        {name: [list(a.shape), base64.b64encode(a.tobytes()).decode("ascii")] for name, a in little.items()}
    )


def unpacked(text: str) -> dict[str, Floats]:
    """Return the arrays of a text."""
    content = json.loads(text)
    return {
        name: np.frombuffer(base64.b64decode(data), dtype="<f8").astype(float).reshape(shape)
        for name, (shape, data) in content.items()
    }


@lru_cache(maxsize=4)
def _problem(text: str) -> Any:
    given = json.loads(text)
    kind = given.pop("kind")
    return Letter(**given) if kind == "letter" else Regressions(**given)


def _described(problem: Any) -> dict[str, Any]:
    kept = {f.name: getattr(problem, f.name) for f in fields(problem)}
    return {"kind": "letter" if isinstance(problem, Letter) else "regressions", **kept}


def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[TaskRow]) -> list[TaskResult]:
    """Run chunks of data sets; the replication of a task is the number of its chunk."""
    from unseen.reproduction.nadeau_bengio import raw_sets

    out = []
    for row in rows:
        how, seed = cells[row.cell]["how"], spec["seed"]
        problem = _problem(json.dumps(cells[row.cell]["source"]["problem"], sort_keys=True))
        first = row.replication * how["chunk"]
        sets = range(first, min(first + how["chunk"], how["count"]))
        start = time.perf_counter()
        if how["id"] == "raw":
            raw = Raw.stacked(raw_sets(problem, sets, how["splits"][0], how["splits"][1], seed))
            arrays = {f.name: getattr(raw, f.name) for f in fields(Raw)}
            value = float(raw.wide[:, 0].mean())
        else:
            runs = variance_run(problem, sets, how["splits"][0], seed)
            arrays = {f"{name}|{part}": getattr(run, part) for name, run in runs.items() for part in SUMS}
            value = float(next(iter(runs.values())).means[:, 0].mean())
        out.append(TaskResult(row.id, estimate=value, seconds=time.perf_counter() - start, extra=packed(arrays)))
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
        from unseen.reproduction._stored import driven
        from unseen.reproduction.nadeau_bengio import CHUNK
        from unseen.study.cells import tasks_over

        cell = {
            "population": problem.name,
            "model": "both algorithms",
            "n": problem.n,
            "method": call,
            "kind": "chunk",
            "source": {"problem": _described(problem), "version": VERSION},
            "how": {"id": call, "chunk": CHUNK, "count": count, "splits": list(splits)},
        }
        chunks = -(-count // CHUNK)
        name = driven(
            self.store,
            self.experiment,
            [cell],
            tasks_over([cell], seed, chunks),
            self.replications,
            seed,
            self.reporter,
            self.n_jobs,
            part=f"{call} of {problem.name}",
        )
        return [unpacked(text) for _, _, text in sorted(self.store.extras(name))]

    def raw(self, problem: Any, count: int, n_splits: int, n_halvings: int, seed: int) -> Raw:
        """Return the errors of every split on every data set."""
        parts = self._chunks("raw", problem, count, (n_splits, n_halvings), seed)
        return Raw(**{f.name: np.concatenate([part[f.name] for part in parts]) for f in fields(Raw)})

    def variance(self, problem: Regressions, count: int, seed: int) -> dict[str, VarianceRun]:
        """Return the sums behind the variance ratios."""
        from unseen.reproduction._nadeau_bengio_variance import SETTINGS

        parts = self._chunks("variance", problem, count, (J,), seed)
        out = {}
        for name, shares in SETTINGS.items():
            n1, n2 = (round(share * problem.n) for share in shares)
            joined = {part: np.concatenate([p[f"{name}|{part}"] for p in parts]) for part in SUMS}
            out[name] = VarianceRun(n_train=n1, n_test=n2, expected=problem.expected(n1), **joined)
        return out
