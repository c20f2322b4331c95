"""What an experiment is, and the functions that list them and run one by its id."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

from unseen.core.errors import InputError, MissingExtra
from unseen.core.registry import build, classes_in, find, options_of
from unseen.core.rng import RandomState, root_seed
from unseen.engine.events import Reporter, reporter_for
from unseen.engine.interrupts import name_file_on_interrupt
from unseen.reproduction.record import Reproduction
from unseen.reproduction.verification import recorded_runs

__all__ = ["Experiment", "experiments", "need_torch", "parse_options", "reproduce"]


class Experiment(Protocol):
    """One published experiment: a frozen dataclass, decorated with `unseen.core.registry.register`.

    Its fields are its options, each with a default. Class attributes: `id`; `title`; `source`; `replications`, the default
    number; `extra`, the optional dependency that `run` needs ("" for none); `minutes`, about how long the default run takes
    on two cores. Import slow packages inside `run`, so that listing stays quick and needs no extras.

    An experiment that can be resumed has `run_stored(replications, seed, reporter, n_jobs, store)`, which keeps every
    task in a store, and a static `run_group(spec, cells, rows)`, which runs tasks in any process.

    Each lives in the folder of its publication: `experiment.py` runs it, `checks.py` compares it with the publication, `figures.py` and
    `sections.py` show it, `published/` holds published numbers and `columns.xz` a finished run.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    replications: ClassVar[int]
    extra: ClassVar[str]
    minutes: ClassVar[float]

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> Reproduction:
        """Run the experiment; the same seed gives the same numbers whatever `n_jobs`."""
        ...


def experiments() -> list[dict[str, Any]]:
    """Return one row per experiment: id, title, source, default replications, minutes, extra, options, and what it passed.

    `checks` is how many of its checks held in the run that is recorded with the package, `cells` how many published
    numbers agreed within three Monte-Carlo errors, `run` the size and date of that run.

    Examples
    --------
    >>> [row["experiment"] for row in experiments() if row["experiment"].startswith("ghane-s")]
    ['ghane-synthetic']
    """
    return [
        {
            "experiment": cls.id,
            **_outcome_in_words(cls.id),
            "title": cls.title,
            "replications": cls.replications,
            "minutes": cls.minutes,
            "extra": cls.extra,
            "options": ", ".join(options_of(cls)),
            "source": cls.source,
        }
        for cls in classes_in("reproduction").values()
    ]


def _outcome_in_words(name: str) -> dict[str, Any]:
    """Return what the recorded run passed, and when and how large it was."""
    row = recorded_runs().get(name)
    if row is None:
        return {"checks": "not rerun", "cells": None, "run": None}
    cells = f"{row['agreeing']} of {row['judged']} agree" if row["judged"] else None
    run = f"{row['date']}, {row['replications']} replications, seed {row['seed']}, version {row['version']}"
    return {"checks": f"{row['passed']} of {row['checks']} passed", "cells": cells, "run": run}


def reproduce(
    name: str,
    *,
    replications: int | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: Any = None,
    store: Any = None,
    **options: Any,
) -> Reproduction:
    """Run a published experiment again and set its numbers beside the published ones.

    Parameters
    ----------
    name : str
        Id of an experiment; `unseen reproduce --list` names them.
    replications : int, optional
        Number of replications; the publication's by default.
    random_state : int, Generator or None
        Same seed, same numbers.
    n_jobs : int, optional
        Worker processes, as in joblib.
    progress : bool, optional
        Progress bar on stderr; by default if that is a terminal.
    store : str or path, optional
        Store that keeps the result; ghane-synthetic and nadeau-bengio keep every task there too, so that a run that was
        killed goes on where it stopped.
    **options
        Options of the experiment.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> r = reproduce("ghane-synthetic", replications=2, sizes=(20,), rules=("3nn",))
    >>> r.cells[0].table, r.cells[0].published
    ('2.1 true error', 0.329)
    """
    experiment = build(name, "reproduction", options=options)
    count = experiment.replications if replications is None else replications
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InputError(f"replications is {replications!r}; it must be a whole number of at least 2.")
    start = time.perf_counter()
    reporter = reporter_for(progress)
    try:
        with name_file_on_interrupt(getattr(experiment, "out", "") or None):
            result = _run(experiment, count, root_seed(random_state), reporter, n_jobs, store)
    finally:
        reporter.close()
    result = replace(result, seconds=time.perf_counter() - start)
    if store is not None:
        from unseen.store import open_store

        with open_store(store) as opened:
            opened.keep("reproduction", name, result.to_dict())
    return result


def _run(experiment: Any, count: int, seed: int, reporter: Reporter, n_jobs: int | None, store: Any) -> Reproduction:
    """Run an experiment, task by task in a store if one is given and the experiment can do so."""
    if store is None or not hasattr(experiment, "run_stored"):
        result: Reproduction = experiment.run(count, seed, reporter, n_jobs)
        return result
    from unseen.store import open_store

    with open_store(store) as opened:
        stored: Reproduction = experiment.run_stored(count, seed, reporter, n_jobs, opened)
        return stored


def need_torch(name: str) -> None:
    """Refuse to run an experiment if torch is missing, with the command that installs it."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch", f"the experiment {name}")


def parse_options(name: str, given: dict[str, str]) -> dict[str, Any]:
    """Turn texts from a command line into the kinds an experiment's options have by default.

    Examples
    --------
    >>> parse_options("ghane-synthetic", {"sizes": "20,40"})
    {'sizes': (20, 40)}
    """
    defaults = options_of(find(name, "reproduction"))
    return {key: _value_like(defaults.get(key), key, text) for key, text in given.items()}


def _value_like(default: Any, key: str, text: str) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if isinstance(default, (int, float)):
            return type(default)(text)
        if isinstance(default, tuple):
            kind = type(default[0]) if default else str
            return tuple(kind(part) for part in text.split(",") if part)
    except (ValueError, KeyError) as error:
        raise InputError(f"option {key} is {text!r}; it needs a value like {default!r}.") from error
    return text
