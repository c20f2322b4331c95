"""Where a study's samples come from, and the true error of a model fitted on one."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.model import Fitted
from unseen.core.registry import find, options_of
from unseen.datasets.populations import POPULATIONS
from unseen.datasets.read import read
from unseen.engine.chunk import encode

__all__ = ["FinitePopulation", "SimulatedPopulation", "mean_loss", "open_source", "source_of"]

DRAWS = 1000  # a size at which so many samples lack a class is too small for the data
LEAST_REST = 10  # rows left to test on; the true error of fewer would be noise
LEAST_OF_CLASS = 2  # most classifiers and every stratified split need two rows of a class
NO_POPULATION = {"id": "", "data": "", "factory": "", "target": "", "task": "", "drop": [], "options": {}}


def mean_loss(fitted: Fitted, fresh: Data, loss: str) -> float:
    """Return the mean loss of a trained model on rows it has not seen."""
    name = {"classification": "zero-one", "regression": "squared"}[fresh.task] if loss == "auto" else loss
    measure = find(name, "measures")()
    if measure.task not in (fresh.task, "any"):
        raise NotApplicable(f"{name} is a loss for {measure.task}, and this is {fresh.task}.")
    found = fitted.scores(fresh.X) if measure.needs_score else None
    if measure.needs_score and (found is None or found[1] != "probability"):
        raise NotApplicable(f"{name} needs class probabilities, which this model does not give.")
    values = encode(fitted.predict(fresh.X), fresh)
    return float(np.mean(measure.per_example(fresh.target, values, None if found is None else found[0])))


@dataclass(frozen=True)
class SimulatedPopulation:
    """A population that can be drawn from without end.

    `key` says which it is, with its options and version.
    """

    population: Any
    key: Mapping[str, Any]

    def draw(self, n: int, rng: np.random.Generator, least: int = LEAST_OF_CLASS) -> tuple[Data, None]:
        """Return a sample and no rest; the population itself sees to its classes."""
        return self.population.draw(n, rng), None

    def error(self, fitted: Fitted, rest: Data | None, rng: np.random.Generator, loss: str, n_test: int) -> float:
        """Return the true error: exact if the population knows it, else on fresh points."""
        if loss != "auto":
            return mean_loss(fitted, self.population.draw(n_test, rng), loss)
        exact = getattr(self.population, "exact_error", None)
        known = None if exact is None else exact(fitted.predict)
        return float(self.population.true_error(fitted.predict, rng, n_test) if known is None else known)


@dataclass(frozen=True)
class FinitePopulation:
    """A data set taken for the whole population: n rows are drawn without replacement and all others test.

    Every class is drawn `least` times at least, twice by default: a sample that lacks one is drawn again.

    Examples
    --------
    >>> import unseen
    >>> finite = FinitePopulation(unseen.datasets.load("iris"), {})
    >>> sample, rest = finite.draw(30, np.random.default_rng(0))
    >>> sample.n, rest.n
    (30, 120)
    """

    data: Data
    key: Mapping[str, Any]

    def draw(self, n: int, rng: np.random.Generator, least: int = LEAST_OF_CLASS) -> tuple[Data, Data]:
        """Return n rows and the rest."""
        if n > self.data.n - LEAST_REST:
            raise InputError(
                f"a sample of {n} leaves {self.data.n - n} of {self.data.n} rows to test on; at least {LEAST_REST} are needed."
            )
        for _ in range(DRAWS):
            order = rng.permutation(self.data.n)
            rows = order[:n]
            if self.data.classes is None:
                break
            if np.bincount(self.data.codes[rows], minlength=len(self.data.classes)).min() >= least:
                break
        else:
            raise InputError(f"{DRAWS} samples of {n} rows lacked a class each; use a larger size.")
        return self.data.take(rows), self.data.take(np.sort(order[n:]))

    def error(self, fitted: Fitted, rest: Data | None, rng: np.random.Generator, loss: str, n_test: int) -> float:
        """Return the mean loss on the rows that were not drawn."""
        assert rest is not None
        return mean_loss(fitted, rest, loss)


def source_of(population: Mapping[str, Any], folder: str = "") -> SimulatedPopulation | FinitePopulation:
    """Return the source of samples that a table of the spec names.

    Parameters
    ----------
    population : mapping
        Keys of a `PopulationSpec`: id, data or factory, and what belongs to it.
    folder : str
        Folder of the spec, in which files and modules are looked for.
    """
    part = {**NO_POPULATION, **population}
    if part["data"]:
        data = _read_data(part["data"], part["target"], part["task"], tuple(part["drop"]), folder)
        key = {"data": part["data"], "target": part["target"], "task": data.task, "fingerprint": data.fingerprint}
        return FinitePopulation(data, key | ({"drop": part["drop"]} if part["drop"] else {}))
    if part["factory"]:
        found = _build(_import_factory(part["factory"], folder), part["options"], part["factory"])
        version = _version(found, part["factory"])
        return SimulatedPopulation(found, {"factory": part["factory"], "options": part["options"], "version": version})
    if part["id"] not in POPULATIONS:
        raise UnknownName("population", part["id"], POPULATIONS)
    found = _build(POPULATIONS[part["id"]], part["options"], part["id"])
    key = {"id": part["id"], "options": part["options"], "version": _version(found, part["id"])}
    return SimulatedPopulation(found, key)


def open_source(key: Mapping[str, Any], folder: str = "") -> SimulatedPopulation | FinitePopulation:
    """Return the source of a cell's key, and refuse one that has changed since the cell was made."""
    source = source_of({name: key[name] for name in NO_POPULATION if name in key}, folder)
    if dict(source.key) != dict(key):
        what = key.get("data") or key.get("factory") or key.get("id")
        raise InputError(f"{what} is not what it was when the study began (its content or version changed).")
    return source


@lru_cache(maxsize=8)
def _read_data(path: str, target: str, task: str, drop: tuple[str, ...], folder: str) -> Data:
    beside = Path(folder) / path
    place = str(beside) if folder and not Path(path).is_absolute() and beside.exists() else path
    return read(place, target or None, task=task or None, drop=drop)  # type: ignore[arg-type]


def _import_factory(text: str, folder: str) -> Any:
    """Return the object at `module:name`, looked for beside the spec and in the current folder too."""
    module, colon, name = text.partition(":")
    if not (colon and name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise InputError(f"{text!r} is not module:name.")
    for place in (folder, os.getcwd()):
        if place and place not in sys.path:
            sys.path.append(place)
    try:
        found = importlib.import_module(module)
    except Exception as error:  # a user's module may raise anything
        raise InputError(f"importing {module!r} failed: {type(error).__name__}: {error}.") from error
    if not hasattr(found, name):
        raise UnknownName(f"name in {module!r}", name, [n for n in vars(found) if not n.startswith("_")])
    return getattr(found, name)


def _build(factory: Any, options: dict[str, Any], name: str) -> Any:
    allowed = options_of(factory) if isinstance(factory, type) else {}
    for key in options:
        if allowed and key not in allowed:
            raise UnknownName(f"option of {name!r}", key, allowed)
    try:
        made = factory(**options)
    except Exception as error:  # a user's class may raise anything
        raise InputError(
            f"{name} cannot be made with the options {options}: {type(error).__name__}: {error}."
        ) from error
    missing = [m for m in ("draw", "true_error") if not callable(getattr(made, m, None))]
    if missing:
        raise InputError(
            f"{name} made a {type(made).__name__} without {' and '.join(missing)}, so it is no population."
        )
    return made


def _version(made: Any, name: str) -> int:
    version = getattr(made, "version", 1)
    if isinstance(version, bool) or not isinstance(version, int):
        raise InputError(
            f"{name}: its version is {version!r}; it must be a whole number, raised when the draws change."
        )
    return version
