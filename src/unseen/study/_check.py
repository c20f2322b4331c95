"""Checks of a spec that need the registry: every name, option and pair, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName, UnseenError
from unseen.core.registry import build, find, known

if TYPE_CHECKING:
    from unseen.study._spec import PopulationSpec, StudySpec

__all__ = ["check_names"]

LEAST_SIZE = 4
MOST_TASKS = 50_000_000


def check_names(spec: StudySpec, source: str) -> None:
    """Refuse a spec in which a name, an option or a combination cannot be used; the message has the key path."""
    where = _Where(source)
    if not spec.methods and not spec.comparisons:
        where.refuse("methods", "there is neither a method nor a comparison; give at least one")
    if spec.internal == 1:
        where.refuse("internal", "1 was given; it must be 0, or at least 2 runs to have a variance")
    for k, n in enumerate(spec.sizes):
        if n < LEAST_SIZE:
            where.refuse(f"sizes[{k}]", f"{n} was given; it must be at least {LEAST_SIZE}")
    where.distinct("sizes", spec.sizes)
    _check_count(where, spec)
    for part in ("populations", "models", "methods", "comparisons"):
        for k, one in enumerate(getattr(spec, part)):
            for key in ("options", "parameters", "design_options"):
                _check_plain(where, f"{part}[{k}].{key}", getattr(one, key, {}))
    for part in ("populations", "models", "methods"):
        where.distinct(part, [one.label for one in getattr(spec, part)])
        where.different(part, getattr(spec, part))
    where.distinct("comparisons", [(c.model_a, c.model_b, c.label) for c in spec.comparisons])
    where.different("comparisons", spec.comparisons)
    if spec.loss != "auto":
        where.told("loss", _check_loss, spec.loss)
    samples = [_check_population(where, k, one, spec) for k, one in enumerate(spec.populations)]
    for k, model in enumerate(spec.models):
        for population, sample in zip(spec.populations, samples):
            where.told(f"models[{k}].model", _check_model, model.text, sample, population.label)
    for k, method in enumerate(spec.methods):
        cls = where.told(f"methods[{k}].id", find, method.id, "estimators", "resubstitution")
        where.told(f"methods[{k}].options", build, method.id, "estimators", "resubstitution", options=method.options)
        _check_design(where, f"methods[{k}]", method, cls)
        _check_loss_of(where, f"methods[{k}]", method)
    for k, pair in enumerate(spec.comparisons):
        _check_pair(where, f"comparisons[{k}]", pair, [m.label for m in spec.models])


def _check_count(where: _Where, spec: StudySpec) -> None:
    """Refuse a study that no store could hold."""
    per_size = len(spec.models) * len(spec.methods) + len(spec.comparisons)
    total = spec.replications * len(spec.populations) * len(spec.sizes) * per_size
    if total > MOST_TASKS:
        where.refuse("replications", f"the study would have {total:,} tasks; at most {MOST_TASKS:,} can be kept")


def _check_plain(where: _Where, path: str, value: Any) -> None:
    """Refuse what has no text in JSON, such as dates and NaN: the id of a task is a hash of that text."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check_plain(where, f"{path}.{key}", one)
    elif isinstance(value, (list, tuple)):
        for k, one in enumerate(value):
            _check_plain(where, f"{path}[{k}]", one)
    elif not isinstance(value, (str, bool, int, float)) and value is not None:
        where.refuse(path, f"{value} was given; a number, text, true or false, a list or a table of them is needed")
    elif isinstance(value, float) and not math.isfinite(value):
        where.refuse(path, f"{value} was given; a finite number is needed")


class _Where:
    """Turns a mistake into a sentence that begins with the file and the key path."""

    def __init__(self, source: str) -> None:
        self.source = source

    def refuse(self, path: str, text: str) -> None:
        raise InputError(f"{self.source}: {path}: {text}.")

    def told(self, path: str, check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return check(*arguments, **options)
        except UnseenError as error:
            raise InputError(f"{self.source}: {path}: {error}") from error

    def distinct(self, path: str, values: Sequence[Any]) -> None:
        for k, value in enumerate(values):
            if value in values[:k]:
                what = " ".join(map(str, value)) if isinstance(value, tuple) else value
                self.refuse(f"{path}[{k}]", f"{what!r} is there twice; give one of them another `name`")

    def different(self, path: str, parts: Sequence[Any]) -> None:
        """Refuse two entries that differ in nothing but their names: their numbers would be the same."""
        contents = [{k: v for k, v in one.model_dump().items() if k != "name"} for one in parts]
        for k, content in enumerate(contents):
            if content in contents[:k]:
                self.refuse(f"{path}[{k}]", f"it differs from {path}[{contents.index(content)}] in its name only")


def _check_loss(loss: str) -> None:
    cls = type(build(loss, "measures"))
    if cls.kind != "loss":
        names = [name for name, one in known("measures").items() if one.kind == "loss"]
        raise InputError(f"{loss} is no mean over cases; a study takes one of: {', '.join(names)}.")


def _check_population(where: _Where, k: int, part: PopulationSpec, spec: StudySpec) -> Any:
    from unseen.study._populations import source_of

    path = f"populations[{k}]"
    given = [name for name in ("id", "data", "factory") if getattr(part, name)]
    if len(given) != 1:
        where.refuse(path, f"{' and '.join(given) or 'none'} was given; exactly one of id, data and factory is needed")
    if part.task not in ("", "classification", "regression"):
        where.refuse(f"{path}.task", f"{part.task!r} was given; it is classification or regression")
    if not part.data and (part.target or part.task or part.drop):
        where.refuse(path, "target, task and drop belong to populations given by data")
    if part.data and part.options:
        where.refuse(f"{path}.options", "a population given by data has no options")
    found = where.told(f"{path}.{given[0]}", source_of, part, spec.folder)
    where.told(path, _drawn, found, max(spec.sizes))
    return where.told(path, _drawn, found, min(spec.sizes))


def _drawn(source: Any, n: int) -> Any:
    try:
        data = source.draw(n, np.random.default_rng(0))[0]
    except UnseenError:
        raise
    except Exception as error:  # a user's population may raise anything
        raise InputError(f"drawing {n} rows failed: {type(error).__name__}: {error}.") from error
    if not isinstance(data, Data) or data.n != n:
        raise InputError(
            f"drawing {n} rows gave {type(data).__name__}; draw must return unseen.datasets.as_data of {n} rows."
        )
    return data


def _check_model(text: str, sample: Data, population: str) -> None:
    from unseen.request.prepare import model_of

    try:
        model_of(text, sample)
    except UnseenError as error:
        raise InputError(f"{error} (population {population})") from error


def _check_design(where: _Where, path: str, part: Any, method: Any) -> None:
    if not part.design:
        if part.design_options:
            where.refuse(f"{path}.design_options", "they were given without a design")
        return
    if not method.designs:
        where.refuse(f"{path}.design", f"{method.id} does not resample, so it has no design")
    if part.design not in known("designs"):
        where.told(f"{path}.design", _unknown, "design", part.design, known("designs"))
    if part.design not in method.designs:
        where.refuse(
            f"{path}.design", f"{part.design!r} was given; {method.id} takes {', '.join(sorted(method.designs))}"
        )
    where.told(f"{path}.design_options", build, part.design, "designs", options=part.design_options)


def _check_loss_of(where: _Where, path: str, part: Any) -> None:
    """Refuse a loss of one method's own: its estimates would be held against the truth of another loss."""
    for key in ("loss", "measure"):
        if key in part.options:
            where.refuse(
                f"{path}.options.{key}", "all methods of a study have one loss; set `loss` of the spec instead"
            )


def _unknown(what: str, name: str, names: Iterable[str]) -> None:
    raise UnknownName(what, name, names)


def _check_pair(where: _Where, path: str, pair: Any, models: list[str]) -> None:
    for key in ("model_a", "model_b"):
        if getattr(pair, key) not in models:
            where.told(f"{path}.{key}", _unknown, "model of this study", getattr(pair, key), models)
    if pair.model_a == pair.model_b:
        where.refuse(f"{path}.model_b", f"{pair.model_b!r} cannot be compared with itself")
    cls = where.told(f"{path}.test", find, pair.test, "significance", "estimators")
    if cls.kind != "test" and not cls.linear:
        where.refuse(f"{path}.test", f"{pair.test} is no test of the difference of two models on one sample")
    if cls.id == "delong":
        where.refuse(
            f"{path}.test", "delong compares areas under curves, and a study knows the true values of losses only"
        )
    where.told(f"{path}.options", build, pair.test, "significance", "estimators", options=pair.options)
    _check_design(where, path, pair, cls)
    _check_loss_of(where, path, pair)
