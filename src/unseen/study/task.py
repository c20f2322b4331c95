"""Tasks of a study, run in any process: the same cells, seed and replication give the same numbers, whoever asks."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from unseen.core.registry import find
from unseen.engine.threads import limited_threads
from unseen.store import TaskResult, TaskRow

__all__ = ["run_group"]

LONGEST_REASON = 500  # characters; a store may keep a million of them


def run_group(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[TaskRow]) -> list[TaskResult]:
    """Run tasks, one result each in the order given; samples, fits and true errors are shared between neighbours.

    A spec with an `experiment` belongs to a reproduction, whose own `run_group` is called. A task that fails gives a
    result with the reason. Every fit runs with one BLAS thread.

    Parameters
    ----------
    spec : dict
        The study's spec as the store keeps it; only its seed and folder matter here.
    cells : list of dict
        The study's cells.
    rows : list of TaskRow
        The tasks.
    """
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spec.get("experiment"):
            return list(find(spec["experiment"], "reproduction").run_group(spec, cells, rows))
        return _run(spec, cells, rows)


def _failure(row: TaskRow, error: BaseException, seconds: float = 0.0) -> TaskResult:
    """Return the result of a task that raised."""
    text = " ".join(str(error).split())
    reason = text if type(error).__module__.startswith("unseen.") and text else f"{type(error).__name__}: {text}"
    return TaskResult(
        row.id,
        estimate=None,
        truth=None,
        lower=None,
        upper=None,
        spread=None,
        p_value=None,
        seconds=seconds,
        extra="",
        reason=reason[:LONGEST_REASON],
    )


def _run(spec: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], rows: Sequence[TaskRow]) -> list[TaskResult]:
    from unseen.study.populations import open_source
    from unseen.study.trial import TrialSample

    out: dict[str, TaskResult] = {}
    current: tuple[Any, ...] = ()
    sample: Any = None
    # neighbours share a sample; sorting makes neighbours of whatever came
    for row in sorted(rows, key=lambda r: (r.replication, r.group, r.cell)):
        cell = cells[row.cell]
        wanted = (json.dumps(cell["source"], sort_keys=True), cell["n"], row.replication, str(cell["settings"]))
        try:
            if wanted != current:
                current, sample = (), None
                source = open_source(cell["source"], spec.get("folder", ""))
                sample = TrialSample(
                    source=source,
                    n=cell["n"],
                    seed=spec["seed"],
                    replication=row.replication,
                    settings=cell["settings"],
                )
                current = wanted
            out[row.id] = _result(row, cell, sample)
        except Exception as error:  # a user's model or population may raise anything; the reason is kept
            out[row.id] = _failure(row, error)
    return [out[row.id] for row in rows]


def _result(row: TaskRow, cell: Mapping[str, Any], sample: Any) -> TaskResult:
    start = time.perf_counter()
    models = [sample.model(text) for text in cell["models"]]
    try:
        if cell["kind"] == "comparison":
            answer = models[0].compare(models[1], cell["how"])
            truth = models[0].truth - models[1].truth
        else:
            answer, truth = models[0].estimate(cell["how"]), models[0].truth
    except Exception as error:  # a user's model may raise anything; the reason is kept
        return _failure(row, error, time.perf_counter() - start)
    more: dict[str, Any] = {}
    target = answer.target
    if target.kind != "model" or target.value is not None:
        more = {"kind": target.kind, "n1": target.n1}
    if target.value is not None:
        more["target"] = target.value
    return TaskResult(
        row.id,
        estimate=answer.value,
        truth=truth,
        lower=answer.lower,
        upper=answer.upper,
        spread=answer.spread,
        p_value=answer.p_value,
        seconds=answer.seconds,
        extra=json.dumps(more) if more else "",
    )
