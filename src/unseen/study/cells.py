"""Ids of tasks: a cell, a seed and a replication determine a number, and so does the id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from unseen.store import TaskRow

__all__ = ["canonical", "identity", "task_id", "tasks_over"]

# keys of a cell that determine its numbers; names given by the user are not among them
IDENTITY = ("source", "n", "models", "how", "settings")


def canonical(value: Any) -> str:
    """Return JSON text that is the same for equal content.

    Examples
    --------
    >>> canonical({"b": 1, "a": [0.5]})
    '{"a":[0.5],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def identity(cell: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a cell's numbers what they are; names given by the user are left out."""
    return {key: cell[key] for key in IDENTITY if key in cell}


def task_id(cell: dict[str, Any], seed: int, replication: int) -> str:
    """Return the id of a task: a hash of its cell with all versions, the study's seed and the replication.

    Examples
    --------
    >>> task_id({"n": 20}, 0, 1) == task_id({"n": 20, "method": "any name"}, 0, 1) != task_id({"n": 20}, 1, 1)
    True
    """
    return _hash(canonical(identity(cell)), seed, replication)


def _hash(cell: str, seed: int, replication: int) -> str:
    # the canonical JSON of {cell, replication, seed} as a template, since a study may have a million tasks
    text = f'{{"cell":{cell},"replication":{replication},"seed":{seed}}}'
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def tasks_over(cells: Sequence[dict[str, Any]], seed: int, replications: int) -> Iterator[TaskRow]:
    """Yield the tasks of cells; tasks of one replication that share fits have the same group.

    Parameters
    ----------
    cells : sequence of dict
        What is computed, one dict of plain values each; `n` is needed. Cells with the same `source`, `n` and `models` share fits.
    seed : int
        Seed of the study.
    replications : int
        Tasks of each cell.

    Yields
    ------
    TaskRow
        One for each replication and cell.

    Examples
    --------
    >>> cells = [{"n": 20, "how": "loo"}, {"n": 20, "how": "resub"}, {"n": 40, "how": "loo"}]
    >>> [(task.cell, task.replication, task.group) for task in tasks_over(cells, 0, 2)]
    [(0, 0, 0), (1, 0, 0), (2, 0, 1), (0, 1, 2), (1, 1, 2), (2, 1, 3)]
    """
    keys = [canonical(identity(cell)) for cell in cells]
    works: dict[str, int] = {}
    work = [works.setdefault(canonical([c.get("source"), c["n"], c.get("models")]), len(works)) for c in cells]
    for replication in range(replications):
        for index, key in enumerate(keys):
            group = replication * len(works) + work[index]
            yield TaskRow(_hash(key, seed, replication), index, replication, group)
