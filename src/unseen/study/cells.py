"""The cells of a study and its tasks, each with an id that says exactly which number it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.registry import find
from unseen.store import TaskRow

if TYPE_CHECKING:
    from unseen.study.spec import StudySpec

__all__ = ["canonical", "cells_of", "identity", "task_id", "tasks_of", "tasks_over"]

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
    # the canonical JSON of {cell, replication, seed}, put together by hand: a million tasks need a million of them
    text = f'{{"cell":{cell},"replication":{replication},"seed":{seed}}}'
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def cells_of(spec: StudySpec) -> list[dict[str, Any]]:
    """Return every cell, those that share samples and fits beside each other."""
    from unseen.study.populations import source_of

    settings = {"loss": spec.loss, "level": spec.level, "n_test": spec.n_test, "internal": spec.internal}
    texts = {one.label: one.text for one in spec.models}
    cells: list[dict[str, Any]] = []
    for population in spec.populations:
        source = source_of(population, spec.folder)
        loss = spec.loss if spec.loss != "auto" else _loss_of(source, min(spec.sizes))
        for n in spec.sizes:
            shared = {"population": population.label, "n": n, "source": source.key, "settings": settings, "loss": loss}
            for label, text in texts.items():
                for method in spec.methods:
                    how = _how(method.id, method, "estimators", "resubstitution")
                    names = {"kind": "estimate", "model": label, "method": method.label}
                    cells.append({**shared, **names, "models": [text], "how": how})
            for pair in spec.comparisons:
                how = _how(pair.test, pair, "significance", "estimators")
                names = {"kind": "comparison", "model": f"{pair.model_a} - {pair.model_b}", "method": pair.label}
                both = [texts[pair.model_a], texts[pair.model_b]]
                cells.append({**shared, **names, "models": both, "how": how, "equal": pair.equal})
    return cells


def _loss_of(source: Any, n: int) -> str:
    """Return the loss that "auto" stands for, by the task of a sample."""
    data, _ = source.draw(n, np.random.default_rng(0))
    return {"classification": "zero-one", "regression": "squared"}[data.task]


def _how(method_id: str, part: Any, *kinds: str) -> dict[str, Any]:
    made = {"id": method_id, "options": part.options, "version": getattr(find(method_id, *kinds), "version", 1)}
    if part.design:
        version = getattr(find(part.design, "designs"), "version", 1)
        made["design"] = {"id": part.design, "options": part.design_options, "version": version}
    return made


def tasks_of(spec: StudySpec, cells: Sequence[dict[str, Any]]) -> Iterator[TaskRow]:
    """Yield the tasks of a study, replication by replication."""
    return tasks_over(cells, spec.seed, spec.replications)


def tasks_over(cells: Sequence[dict[str, Any]], seed: int, replications: int) -> Iterator[TaskRow]:
    """Yield the tasks of cells; tasks of one replication that share fits have the same group."""
    keys = [canonical(identity(cell)) for cell in cells]
    works: dict[str, int] = {}
    work = [works.setdefault(canonical([c.get("source"), c["n"], c.get("models")]), len(works)) for c in cells]
    for replication in range(replications):
        for index, key in enumerate(keys):
            group = replication * len(works) + work[index]
            yield TaskRow(_hash(key, seed, replication), index, replication, group)
