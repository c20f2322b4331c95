"""What a study is made of, read from TOML and checked key by key before anything runs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError
from unseen.study._messages import sentences

# the parts say which extra is missing, so they come before pydantic itself
from unseen.study._parts import Budget, ComparisonSpec, MethodSpec, ModelSpec, Part, PopulationSpec  # isort: skip
from pydantic import Field, ValidationError, field_validator, model_validator  # isort: skip

__all__ = ["Budget", "ComparisonSpec", "MethodSpec", "ModelSpec", "PopulationSpec", "StudySpec", "as_spec"]

NAME = re.compile(r"[^\x00-\x1f\x7f]{1,120}")


class StudySpec(Part):
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
    seed: int = Field(default=0, ge=0)
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
        """Refuse truth values where pydantic would read them as the numbers 0 and 1."""
        if isinstance(value, Mapping):
            for key in ("seed", "replications", "level", "n_test", "internal"):
                if isinstance(value.get(key), bool):
                    raise ValueError(f"{key}: {str(value[key]).lower()} was given; a number is needed")
        return value

    @classmethod
    def of(cls, content: Mapping[str, Any], source: str = "the spec", folder: str = "") -> StudySpec:
        """Return the checked spec of a dict, or say by key path what is wrong with it."""
        from unseen.study._check import check_names

        given = {**content, "folder": folder} if folder and isinstance(content, Mapping) else content
        try:
            made = cls.model_validate(given)
        except ValidationError as error:
            text = "; ".join(sentences(error, cls))
            raise InputError(f"{source}: {text}{'' if text.endswith('?') else '.'}") from error
        if not NAME.fullmatch(made.name) or made.name != made.name.strip():
            raise InputError(
                f"{source}: name: {made.name!r} was given; a name is 1 to 120 printable characters without spaces at its ends."
            )
        check_names(made, source)
        return made

    @classmethod
    def read(cls, path: str | PathLike[str]) -> StudySpec:
        """Return the checked spec of a TOML file; file names in it are taken from the file's folder."""
        place = Path(path)
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
        from unseen.study._cells import cells_of

        return cells_of(self)

    def tasks(self) -> Any:
        """Return an iterator over all tasks, replication by replication, so that an unfinished study is balanced."""
        from unseen.study._cells import tasks_of

        return tasks_of(self, self.cells())


def as_spec(spec: Any, name: str = "") -> StudySpec:
    """Return the spec of a path, a dict or a spec, under another name where one is given.

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
