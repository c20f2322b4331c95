"""The synthetic experiment as tasks of a study: one per rule, size, estimator and replication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.reproduction.ghane_synthetic.checks import ESTIMATORS
from unseen.store import TaskResult, TaskRow

__all__ = ["cells_of", "run_group", "runs_of"]

VERSION = 1  # raised when the numbers of a replication change


def cells_of(sizes: Sequence[int], rules: Sequence[str], bootstrap: int) -> list[dict[str, Any]]:
    """Return a cell for every rule, size and estimator."""
    return [
        {
            "population": "gaussian-blocks",
            "model": rule,
            "n": n,
            "method": column,
            "kind": "estimate",
            "loss": "zero-one",
            "source": {"experiment": "ghane-synthetic", "version": VERSION},
            "models": [rule],
            "how": {"id": column},
            "settings": {"bootstrap": bootstrap},
        }
        for rule in rules
        for n in sizes
        for column in ESTIMATORS
    ]


def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[TaskRow]) -> list[TaskResult]:
    """Run the replications that rows ask for, each once, and return what was asked."""
    from unseen.reproduction.ghane_synthetic.trial import replications

    trials: dict[tuple[str, int, int, int], dict[str, float]] = {}
    out = []
    for row in rows:
        cell = cells[row.cell]
        key = (cell["model"], cell["n"], row.replication, cell["settings"]["bootstrap"])
        if key not in trials:
            trials[key] = replications(key[0], key[1], range(key[2], key[2] + 1), spec["seed"], key[3])[0]
        found = trials[key]
        seconds = found[f"ms {cell['method']}"] / 1000
        out.append(TaskResult(row.id, estimate=found[cell["method"]], truth=found["true-error"], seconds=seconds))
    return out


def runs_of(cells: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> dict[tuple[str, int], dict[str, Floats]]:
    """Return what the tables are made of: by rule and size, the columns of all replications."""
    runs: dict[tuple[str, int], dict[str, Floats]] = defaultdict(dict)
    edges = np.searchsorted(columns["cell"], np.arange(len(cells) + 1))
    for k, cell in enumerate(cells):
        part = slice(edges[k], edges[k + 1])
        run = runs[cell["model"], cell["n"]]
        run["true-error"] = columns["truth"][part]
        run[cell["method"]] = columns["estimate"][part]
        run[f"ms {cell['method']}"] = 1000 * columns["seconds"][part]
    return dict(runs)
