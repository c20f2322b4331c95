"""An experiment as a study in a store: killed half way, the same command goes on where it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from unseen.core.errors import FitError, PartialRun
from unseen.engine.events import Reporter

__all__ = ["driven", "study_name"]

KIND = "reproduction"


def study_name(experiment: Any, replications: int, seed: int) -> str:
    """Return the name of an experiment's study: another run, another name.

    Examples
    --------
    >>> from unseen.reproduction.ghane_synthetic import GhaneSynthetic
    >>> study_name(GhaneSynthetic(sizes=(20, 40)), 50, 0)
    'ghane-synthetic, 50 replications, seed 0, sizes 20 40'
    """
    parts = [experiment.id, f"{replications} replications", f"seed {seed}"]
    for one in fields(experiment):
        value = getattr(experiment, one.name)
        if value != one.default:
            text = " ".join(map(str, value)) if isinstance(value, tuple) else value
            parts.append(f"{one.name} {text}")
    return ", ".join(parts)


def driven(
    store: Any,
    experiment: Any,
    cells: Sequence[dict[str, Any]],
    tasks: Any,
    replications: int,
    seed: int,
    reporter: Reporter,
    n_jobs: int | None,
    part: str = "",
) -> str:
    """Run what is missing of an experiment's study and return its name; every task is done then.

    Parameters
    ----------
    store : SqlStore
        Open store.
    experiment : object
        The experiment; its class has `run_group(spec, cells, rows)`.
    cells, tasks
        As in `SqlStore.add_study`.
    replications, seed, reporter, n_jobs
        As in `Experiment.run`.
    part : str
        Which part of the experiment this is, for experiments of several studies.
    """
    from unseen.study.driver import drive

    name = study_name(experiment, replications, seed) + (f", {part}" if part else "")
    spec = {"experiment": experiment.id, "seed": seed, "replications": replications}
    store.add_study(name, KIND, spec, list(cells), tasks)
    store.reopen(name)
    end = drive(store, name, n_jobs=-1 if n_jobs is None else n_jobs, reporter=reporter)
    if end.failed:
        reason = store.failures(name)[0]["reason"]
        raise FitError(f"{end.failed} of {end.total} tasks of {name!r} failed; the first says: {reason}")
    if end.missing:
        raise PartialRun(f"{name!r} has {end.done} of {end.total} tasks done; the same command goes on.")
    return name
