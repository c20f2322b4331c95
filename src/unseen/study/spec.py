"""What a study is made of, read from TOML and checked key by key before anything runs."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError, MissingExtra, UnknownName, UnseenError, nearest
from unseen.core.registry import build, classes_in, find
from unseen.core.rng import LARGEST_SEED
from unseen.store import TaskRow
from unseen.study.cells import tasks_over
from unseen.study.populations import source_of

__all__ = [
    "Budget",
    "ComparisonSpec",
    "MethodSpec",
    "ModelSpec",
    "PopulationSpec",
    "StudySpec",
    "as_spec",
]

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
except ImportError as error:
    missing = MissingExtra("pydantic", "study", "A study")
    missing.name = "pydantic"
    raise missing from error

NAME = re.compile(r"[^\x00-\x1f\x7f]{1,120}")
MOST_MISTAKES = 5  # more would hide the first, which often causes the others
LEAST_SIZE = 4  # two rows of each of two classes
MOST_TASKS = 50_000_000  # a store of about 10 GB


class SpecTable(BaseModel):
    """A table of the spec: no other keys than these, and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class PopulationSpec(SpecTable):
    """Where samples come from: a registered population, a data set of which n rows are drawn, or a class of yours.

    Parameters
    ----------
    id : str
        A registered population, such as gaussian-blocks.
    data : str
        Instead of `id`: a file or bundled data set; n rows are drawn without replacement and the rest tests.
    factory : str
        Instead of `id`: `module:name` of a class of your own; the study runs that code.
    target : str
        Column to predict, for `data` that is a file.
    task : str
        classification or regression, for `data`; guessed if empty.
    drop : list of str
        Columns of a file that are no features.
    options : dict
        Parameters of the population.
    name : str
        Name in results; its id by default.
    """

    id: str = ""
    data: str = ""
    factory: str = ""
    target: str = ""
    task: str = ""
    drop: list[str] = Field(default_factory=list)
    options: dict[str, Any] = Field(default_factory=dict)
    name: str = ""

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.name or self.id or Path(self.data).name or self.factory


class ModelSpec(SpecTable):
    """A model by name, as on the command line, with parameters in the text or in a table.

    Parameters
    ----------
    model : str
        A name (`unseen models` lists them), such as knn:3, or module:factory of your own.
    parameters : dict
        Parameters of the learner, added to those in the text.
    name : str
        Name in results; the text by default.
    """

    model: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    name: str = ""

    @property
    def text(self) -> str:
        """The model as `unseen.models.named` takes it."""
        if not self.parameters:
            return self.model
        given = ",".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.model}{',' if ':' in self.model else ':'}{given}"

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.name or self.text


class MethodSpec(SpecTable):
    """An estimator by id, with its options and, for those that resample, another design than its own.

    Parameters
    ----------
    id : str
        Id of a method; `unseen methods` lists them.
    options : dict
        Options of the method.
    design : str
        Id of a design instead of the method's own.
    design_options : dict
        Options of that design.
    name : str
        Name in results; its id by default.
    """

    id: str
    options: dict[str, Any] = Field(default_factory=dict)
    design: str = ""
    design_options: dict[str, Any] = Field(default_factory=dict)
    name: str = ""

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.name or self.id


class ComparisonSpec(SpecTable):
    """A test of the difference of two of the study's models, whose size or power is measured.

    Parameters
    ----------
    model_a, model_b : str
        Names of two models of the study.
    test : str
        Id of a test, such as corrected-t or mcnemar.
    options, design, design_options
        As for methods.
    equal : bool
        Say that the two have the same error by construction: rejections then count as size, else as power.
    name : str
        Name in results; the id of the test by default.
    """

    model_a: str
    model_b: str
    test: str = "corrected-t"
    options: dict[str, Any] = Field(default_factory=dict)
    design: str = ""
    design_options: dict[str, Any] = Field(default_factory=dict)
    equal: bool = False
    name: str = ""

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.name or self.test


class Budget(SpecTable):
    """How much one run may spend before it stops; what is missing runs when the study is resumed.

    Parameters
    ----------
    seconds : float
        Wall-clock seconds of one run; no limit by default.
    """

    seconds: float | None = Field(default=None, gt=0)


# the parts say which extra is missing, so they come before pydantic itself


class StudySpec(SpecTable):
    """A whole study: populations x models x sizes x methods x replications.

    Parameters
    ----------
    name : str
        Name of the study in its store.
    seed : int
        Every number of the study follows from it.
    replications : int
        Samples drawn per population and size.
    sizes : list of int
        Sample sizes.
    level : float
        Confidence level of intervals; tests reject below 1 - level.
    loss : str
        Id of a loss; "auto" is zero-one for classes and squared error for numbers.
    n_test : int
        Fresh points that simulate a true error that is not known exactly.
    internal : int
        Further runs of each method on the same sample with other random numbers, at least 2, which measure its internal
        variance; 0 takes the Monte-Carlo error a method reports itself.
    populations, models, methods, comparisons : list
        What is crossed; a bare name stands for an entry of that id.
    budget : Budget
        When to stop.

    Examples
    --------
    >>> spec = StudySpec.of({"name": "s", "sizes": [20], "replications": 3, "populations": ["gaussian-blocks"],
    ...     "models": ["knn:3"], "methods": ["resub", {"id": "bolster", "options": {"n_mc": 20}}]})
    >>> [cell["method"] for cell in spec.cells()], sum(1 for _ in spec.tasks())
    (['resub', 'bolster'], 6)
    """

    name: str
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    replications: int = Field(default=100, ge=2, le=10_000_000)
    sizes: list[int] = Field(min_length=1)
    level: float = Field(default=0.95, gt=0, lt=1)
    loss: str = "auto"
    n_test: int = Field(default=5000, ge=10)
    internal: int = Field(default=0, ge=0)
    populations: list[PopulationSpec] = Field(min_length=1)
    models: list[ModelSpec] = Field(min_length=1)
    methods: list[MethodSpec] = Field(default_factory=list)
    comparisons: list[ComparisonSpec] = Field(default_factory=list)
    budget: Budget = Field(default_factory=Budget)
    folder: str = ""

    @field_validator("populations", "methods", mode="before")
    @classmethod
    def _ids(cls, value: Any) -> Any:
        return [{"id": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value

    @field_validator("models", mode="before")
    @classmethod
    def _model_texts(cls, value: Any) -> Any:
        return [{"model": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value

    @model_validator(mode="before")
    @classmethod
    def _true_numbers(cls, value: Any) -> Any:
        """Refuse truth values, which pydantic would read as the numbers 0 and 1."""
        if isinstance(value, Mapping):
            for key in ("seed", "replications", "level", "n_test", "internal"):
                if isinstance(value.get(key), bool):
                    raise ValueError(f"{key}: {str(value[key]).lower()} was given; a number is needed")
        return value

    @classmethod
    def of(cls, content: Mapping[str, Any], source: str = "the spec", folder: str = "") -> StudySpec:
        """Return the checked spec of a dict, or say by key path what is wrong with it."""

        given = {**content, "folder": folder} if folder and isinstance(content, Mapping) else content
        try:
            spec = cls.model_validate(given)
        except ValidationError as error:
            text = "; ".join(_sentences(error, cls))
            raise InputError(f"{source}: {text}{'' if text.endswith('?') else '.'}") from error
        if not NAME.fullmatch(spec.name) or spec.name != spec.name.strip():
            raise InputError(
                f"{source}: name: {spec.name!r} was given; a name is 1 to 120 printable characters without spaces at its ends."
            )
        _check_names(spec, source)
        return spec

    @classmethod
    def read(cls, path: str | PathLike[str]) -> StudySpec:
        """Return the checked spec of a TOML file; file names in it are taken from the file's folder."""
        place = Path(path)
        if place.is_char_device():  # /dev/zero can be read without end
            raise InputError(
                f"{str(path)!r} is a device, no file; `unseen study new study.toml` writes a spec to start from."
            )
        try:
            content = tomllib.loads(place.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise InputError(
                f"there is no file {str(path)!r}; `unseen study new {path}` writes one to start from."
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(f"cannot read {str(path)!r}: {reason}.") from error
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not valid TOML: {error}.") from error
        if "folder" in content:
            raise InputError(f"{path}: folder: unknown key; file names are taken from the folder the spec is in.")
        return cls.of(content, str(path), str(place.resolve().parent))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that make the same spec again."""
        return self.model_dump(mode="json")

    def cells(self) -> list[dict[str, Any]]:
        """Return the cells: population, model, n and method (or test), each with its key and version."""
        return _cells_of(self)

    def tasks(self) -> Iterator[TaskRow]:
        """Return an iterator over all tasks, replication by replication, so that an unfinished study is balanced."""
        return tasks_over(self.cells(), self.seed, self.replications)


def _cells_of(spec: StudySpec) -> list[dict[str, Any]]:
    """Return every cell, those that share samples and fits beside each other."""
    settings = {"loss": spec.loss, "level": spec.level, "n_test": spec.n_test, "internal": spec.internal}
    texts = {one.label: one.text for one in spec.models}
    cells: list[dict[str, Any]] = []
    for population in spec.populations:
        source = source_of(population.model_dump(), spec.folder)
        loss = spec.loss if spec.loss != "auto" else _loss_of(source, min(spec.sizes))
        for n in spec.sizes:
            shared = {"population": population.label, "n": n, "source": source.key, "settings": settings, "loss": loss}
            for label, text in texts.items():
                for method in spec.methods:
                    how = _method_key(method.id, method, "estimators", "resubstitution")
                    names = {"kind": "estimate", "model": label, "method": method.label}
                    cells.append({**shared, **names, "models": [text], "how": how})
            for pair in spec.comparisons:
                how = _method_key(pair.test, pair, "significance", "estimators")
                names = {"kind": "comparison", "model": f"{pair.model_a} - {pair.model_b}", "method": pair.label}
                both = [texts[pair.model_a], texts[pair.model_b]]
                cells.append({**shared, **names, "models": both, "how": how, "equal": pair.equal})
    return cells


def _loss_of(source: Any, n: int) -> str:
    """Return the loss that "auto" means for the task of a sample."""
    data, _ = source.draw(n, np.random.default_rng(0))
    return {"classification": "zero-one", "regression": "squared"}[data.task]


def _method_key(method_id: str, part: Any, *kinds: str) -> dict[str, Any]:
    """Return what determines the numbers of a method: id, options, version, and those of its design."""
    key = {"id": method_id, "options": part.options, "version": find(method_id, *kinds).version}
    if part.design:
        version = find(part.design, "designs").version
        key["design"] = {"id": part.design, "options": part.design_options, "version": version}
    return key


def as_spec(spec: Any, name: str = "") -> StudySpec:
    """Return the spec of a path, a dict or a spec, under another name if one is given.

    Examples
    --------
    >>> as_spec({"sizes": [20], "populations": ["ar-linear"], "models": ["ols"], "methods": ["fpe"]}, "mine").name
    'mine'
    """
    if isinstance(spec, StudySpec):
        return StudySpec.of({**spec.to_dict(), "name": name}) if name not in ("", spec.name) else spec
    if isinstance(spec, Mapping):
        return StudySpec.of({**spec, "name": name or spec.get("name")}, folder=str(Path.cwd()))
    if isinstance(spec, (str, PathLike)):
        return as_spec(StudySpec.read(spec), name)
    raise InputError(f"the spec is a {type(spec).__name__}; give a path to a TOML file, a dict or a StudySpec.")


def _path_of(location: tuple[Any, ...]) -> str:
    """Return a key path as one would write it.

    Examples
    --------
    >>> _path_of(("methods", 1, "options"))
    'methods[1].options'
    """
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text or "the spec"


def _sentences(error: Any, model: type[Any]) -> list[str]:
    """Return one sentence per mistake, the first five."""
    found = error.errors(include_url=False)
    texts = [_sentence(one, model) for one in found[:MOST_MISTAKES]]
    return [*texts, f"and {len(found) - MOST_MISTAKES} more mistakes"] if len(found) > MOST_MISTAKES else texts


def _sentence(one: dict[str, Any], model: type[Any]) -> str:
    place, kind, given = _path_of(one["loc"]), one["type"], one["input"]
    if kind == "extra_forbidden":
        return _unknown_key(one["loc"], place, model)
    if kind == "missing":
        return f"{place}: this key is needed and was not given"
    if kind == "value_error":
        return str(one["ctx"]["error"])
    return f"{place}: {_short(given)} was given; {_requirement(kind, one.get('ctx', {}), one['msg'])}"


def _unknown_key(location: tuple[Any, ...], place: str, model: type[Any]) -> str:
    known = _keys_at(location[:-1], model)
    close = nearest(str(location[-1]), known, 1)
    advice = f"did you mean {close[0]!r}?" if close else f"known keys here: {', '.join(known)}"
    return f"{place}: unknown key; {advice}"


def _keys_at(location: tuple[Any, ...], model: type[Any]) -> list[str]:
    """Return the keys of the table at a place in the spec."""
    here: Any = model
    for part in location:
        if isinstance(part, str) and part in getattr(here, "model_fields", {}):
            kind = here.model_fields[part].annotation
            here = next((a for a in get_args(kind) if hasattr(a, "model_fields")), kind)
    return [name for name in getattr(here, "model_fields", {}) if name != "folder"]


def _requirement(kind: str, limits: dict[str, Any], message: str) -> str:
    if kind.startswith("int"):
        return "a whole number is needed"
    if kind.startswith("float"):
        return "a number is needed"
    if kind.startswith("bool"):
        return "true or false is needed"
    if kind.startswith("string"):
        return "text in quotation marks is needed"
    if kind == "list_type":
        return "a list is needed"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return "a table of keys is needed"
    if kind == "too_short":
        return "at least one entry is needed"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    ranges = [f"{words[k]} {limits[k]:g}" for k in words if k in limits]
    return f"it must be {' and '.join(ranges)}" if ranges else message[:1].lower() + message[1:]


def _short(value: Any) -> str:
    """Return a value as TOML writes it, at most 60 characters."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_names(spec: StudySpec, source: str) -> None:
    """Refuse a spec in which a name, an option or a combination cannot be used; the message has the key path."""
    checker = _Checker(source)
    if not spec.methods and not spec.comparisons:
        checker.refuse("methods", "there is neither a method nor a comparison; give at least one")
    if spec.internal == 1:
        checker.refuse("internal", "1 was given; it must be 0, or at least 2 runs to have a variance")
    for k, n in enumerate(spec.sizes):
        if n < LEAST_SIZE:
            checker.refuse(f"sizes[{k}]", f"{n} was given; it must be at least {LEAST_SIZE}")
    checker.distinct("sizes", spec.sizes)
    _check_count(checker, spec)
    for part in ("populations", "models", "methods", "comparisons"):
        for k, one in enumerate(getattr(spec, part)):
            for key in ("options", "parameters", "design_options"):
                _check_plain(checker, f"{part}[{k}].{key}", getattr(one, key, {}))
    for part in ("populations", "models", "methods"):
        checker.distinct(part, [one.label for one in getattr(spec, part)])
        checker.different(part, getattr(spec, part))
    checker.distinct("comparisons", [(c.model_a, c.model_b, c.label) for c in spec.comparisons])
    checker.different("comparisons", spec.comparisons)
    if spec.loss != "auto":
        checker.run("loss", _check_loss, spec.loss)
    samples = [_check_population(checker, k, one, spec) for k, one in enumerate(spec.populations)]
    for k, model in enumerate(spec.models):
        for population, sample in zip(spec.populations, samples):
            checker.run(f"models[{k}].model", _check_model, model.text, sample, population.label)
    for k, method in enumerate(spec.methods):
        cls = checker.run(f"methods[{k}].id", find, method.id, "estimators", "resubstitution")
        checker.run(f"methods[{k}].options", build, method.id, "estimators", "resubstitution", options=method.options)
        _check_design(checker, f"methods[{k}]", method, cls)
        _check_loss_of(checker, f"methods[{k}]", method)
    for k, pair in enumerate(spec.comparisons):
        _check_pair(checker, f"comparisons[{k}]", pair, [m.label for m in spec.models])


def _check_count(checker: _Checker, spec: StudySpec) -> None:
    """Refuse a study that no store could hold."""
    per_size = len(spec.models) * len(spec.methods) + len(spec.comparisons)
    total = spec.replications * len(spec.populations) * len(spec.sizes) * per_size
    if total > MOST_TASKS:
        checker.refuse("replications", f"the study would have {total:,} tasks; at most {MOST_TASKS:,} can be kept")


def _check_plain(checker: _Checker, path: str, value: Any) -> None:
    """Refuse what has no text in JSON, such as dates and NaN: the id of a task is a hash of that text."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check_plain(checker, f"{path}.{key}", one)
    elif isinstance(value, (list, tuple)):
        for k, one in enumerate(value):
            _check_plain(checker, f"{path}[{k}]", one)
    elif not isinstance(value, (str, bool, int, float)) and value is not None:
        checker.refuse(path, f"{value} was given; a number, text, true or false, a list or a table of them is needed")
    elif isinstance(value, float) and not math.isfinite(value):
        checker.refuse(path, f"{value} was given; a finite number is needed")


class _Checker:
    """Turns a mistake into a sentence that begins with the file and the key path."""

    def __init__(self, source: str) -> None:
        self.source = source

    def refuse(self, path: str, text: str) -> None:
        """Raise a sentence about one key."""
        raise InputError(f"{self.source}: {path}: {text}.")

    def run(self, path: str, check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Run a check; a refusal begins with the key path."""
        try:
            return check(*arguments, **options)
        except UnseenError as error:
            raise InputError(f"{self.source}: {path}: {error}") from error

    def distinct(self, path: str, values: Sequence[Any]) -> None:
        """Refuse two entries with one name."""
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
        names = [name for name, one in classes_in("measures").items() if one.kind == "loss"]
        raise InputError(f"{loss} is no mean over cases; a study takes one of: {', '.join(names)}.")


def _check_population(checker: _Checker, k: int, part: PopulationSpec, spec: StudySpec) -> Any:
    path = f"populations[{k}]"
    given = [name for name in ("id", "data", "factory") if getattr(part, name)]
    if len(given) != 1:
        checker.refuse(
            path, f"{' and '.join(given) or 'none'} was given; exactly one of id, data and factory is needed"
        )
    if part.task not in ("", "classification", "regression"):
        checker.refuse(f"{path}.task", f"{part.task!r} was given; it is classification or regression")
    if not part.data and (part.target or part.task or part.drop):
        checker.refuse(path, "target, task and drop belong to populations given by data")
    if part.data and part.options:
        checker.refuse(f"{path}.options", "a population given by data has no options")
    found = checker.run(f"{path}.{given[0]}", source_of, part.model_dump(), spec.folder)
    checker.run(path, _draw_sample, found, max(spec.sizes))
    return checker.run(path, _draw_sample, found, min(spec.sizes))


def _draw_sample(source: Any, n: int) -> Any:
    """Return a sample, or say why the population gave none."""
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


def _check_design(checker: _Checker, path: str, part: Any, method: Any) -> None:
    if not part.design:
        if part.design_options:
            checker.refuse(f"{path}.design_options", "they were given without a design")
        return
    if not method.designs:
        checker.refuse(f"{path}.design", f"{method.id} does not resample, so it has no design")
    if part.design not in classes_in("designs"):
        checker.run(f"{path}.design", _refuse_name, "design", part.design, classes_in("designs"))
    if part.design not in method.designs:
        checker.refuse(
            f"{path}.design", f"{part.design!r} was given; {method.id} takes {', '.join(sorted(method.designs))}"
        )
    checker.run(f"{path}.design_options", build, part.design, "designs", options=part.design_options)


def _check_loss_of(checker: _Checker, path: str, part: Any) -> None:
    """Refuse a loss of one method's own: its estimates would be compared with the truth of another loss."""
    for key in ("loss", "measure"):
        if key in part.options:
            checker.refuse(
                f"{path}.options.{key}", "all methods of a study have one loss; set `loss` of the spec instead"
            )


def _refuse_name(what: str, name: str, names: Iterable[str]) -> None:
    raise UnknownName(what, name, names)


def _check_pair(checker: _Checker, path: str, pair: Any, models: list[str]) -> None:
    for key in ("model_a", "model_b"):
        if getattr(pair, key) not in models:
            checker.run(f"{path}.{key}", _refuse_name, "model of this study", getattr(pair, key), models)
    if pair.model_a == pair.model_b:
        checker.refuse(f"{path}.model_b", f"{pair.model_b!r} cannot be compared with itself")
    cls = checker.run(f"{path}.test", find, pair.test, "significance", "estimators")
    if cls.kind != "test" and not cls.linear:
        checker.refuse(f"{path}.test", f"{pair.test} is no test of the difference of two models on one sample")
    if cls.id == "delong":
        checker.refuse(
            f"{path}.test", "delong compares areas under curves, and a study knows the true values of losses only"
        )
    checker.run(f"{path}.options", build, pair.test, "significance", "estimators", options=pair.options)
    _check_design(checker, path, pair, cls)
    _check_loss_of(checker, path, pair)
