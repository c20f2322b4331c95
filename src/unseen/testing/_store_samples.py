"""Small studies on which stores are checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from unseen.core.errors import UnseenError
from unseen.store import SqlStore, TaskResult, TaskRow

__all__ = ["SPEC", "Open", "cells_of", "filled", "number_of", "refused", "results_of", "tasks_of"]

Open = Callable[..., SqlStore]
SPEC = {"seed": 7, "replications": 10}


def cells_of(count: int) -> list[dict[str, Any]]:
    """Return cells that differ in their method."""
    return [{"method": f"m{k}", "version": 1} for k in range(count)]


def tasks_of(cells: int, replications: int, version: int = 1) -> list[TaskRow]:
    """Return the tasks of every cell and replication, one group per replication."""
    return [TaskRow(f"v{version}-{c}-{r}", c, r, r) for r in range(replications) for c in range(cells)]


def filled(again: Open, cells: int = 3, replications: int = 10, **options: Any) -> SqlStore:
    """Open the store and add a study to it."""
    store = again(**options)
    store.add_study("mine", "study", SPEC, cells_of(cells), tasks_of(cells, replications))
    return store


def number_of(row: TaskRow) -> float:
    """Return a number that follows from the task."""
    return math.sin(1000 * row.cell + row.replication)


def results_of(rows: list[TaskRow]) -> list[TaskResult]:
    """Return good results of tasks."""
    return [TaskResult(row.id, estimate=number_of(row), truth=0.25, seconds=0.5) for row in rows]


def refused(call: Callable[[], Any], *words: str) -> None:
    """Check that a call raises a sentence with these words."""
    try:
        call()
    except UnseenError as error:
        for word in words:
            assert word in str(error), f"the message does not say {word!r}: {error}"
    else:
        raise AssertionError(f"nothing was raised where {words} was expected")
