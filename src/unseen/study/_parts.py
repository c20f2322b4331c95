"""The parts of a spec: populations, models, methods, comparisons and the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen.core.errors import MissingExtra

try:
    from pydantic import BaseModel, ConfigDict, Field
except ImportError as error:
    missing = MissingExtra("pydantic", "study", "A study")
    missing.name = "pydantic"
    raise missing from error

__all__ = ["Budget", "ComparisonSpec", "MethodSpec", "ModelSpec", "Part", "PopulationSpec"]


class Part(BaseModel):
    """A table of the spec: no other keys than these, and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class PopulationSpec(Part):
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
        classification or regression, for `data`; guessed where empty.
    drop : list of str
        Columns of a file that are no features.
    options : dict
        Parameters of the population.
    name : str
        What to call it; its id by default.
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
        """What results call it."""
        return self.name or self.id or Path(self.data).name or self.factory


class ModelSpec(Part):
    """A model by name, as on the command line, with parameters in the text or in a table.

    Parameters
    ----------
    model : str
        A name (`unseen models` lists them), such as knn:3, or module:factory of your own.
    parameters : dict
        Parameters of the learner, added to those in the text.
    name : str
        What to call it; the text by default.
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
        """What results call it."""
        return self.name or self.text


class MethodSpec(Part):
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
        What to call it; its id by default.
    """

    id: str
    options: dict[str, Any] = Field(default_factory=dict)
    design: str = ""
    design_options: dict[str, Any] = Field(default_factory=dict)
    name: str = ""

    @property
    def label(self) -> str:
        """What results call it."""
        return self.name or self.id


class ComparisonSpec(Part):
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
        What to call it; the id of the test by default.
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
        """What results call it."""
        return self.name or self.test


class Budget(Part):
    """How much one run may spend before it stops; what is missing runs when the study is resumed.

    Parameters
    ----------
    seconds : float
        Wall-clock seconds of one run; no limit where it is left out.
    """

    seconds: float | None = Field(default=None, gt=0)
