"""What each kind of method declares, with the usual values: a method file states only what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from unseen.core.estimate import Estimate, Target

__all__ = ["DirectMethod", "Method", "PairedTest", "RankTest", "Recipe", "TableMethod"]


class Method:
    """What every method declares; the values here are those of a method that has or needs nothing special.

    Attributes
    ----------
    group : str
        Group that it registers in, also the entry-point group of plug-ins: `unseen.estimators` and so on.
    kind : str
        How it is called: "table", "direct", "recipe", "test" or "ranking".
    id : str
        Name as the papers say it, in kebab-case.
    target : Target or None
        Whose error it estimates: that of one model, or that of the algorithm.
    designs : frozenset of str
        Designs it is valid for; none if it works without splits.
    needs : frozenset of str
        Which predictions it needs, of {test, train, full, predictions}; `full` asks for a fit on all rows.
    parts : tuple of str
        Methods that a recipe is made of.
    linear : bool
        Linear in the losses, so it works on differences of two models.
    point_only : bool
        It gives no standard error, so it is no test either.
    equivariant, centred : bool
        It follows a shift and a scale of the losses; its value lies inside its interval.
    weighted : bool
        It has a weighted form.
    by_split : bool
        It works with one loss per test part too, so with measures such as F1 and AUC.
    liberal : bool
        Its intervals are known to be too narrow; `assess` leaves it out.
    not_recommended : str
        Why its interval should not be relied on: what it covered where it was tried. Empty if it kept the rule of the coverage study:
        no learner below .92 of the data sets at the level .95.
    in_assess : bool
        Whether `assess` runs it beside its headline.
    whole_model : bool
        It trains copies of a trained model or reads its coefficients, so a function or a model from a file will not do.
    own_error : bool
        Its error is no mean of losses: it has `alone(table)` and `set_error(table, multiplicity)`.
    note_codes : frozenset of str
        Codes of the notes that the method may give itself, beyond `shared_note_codes`. Notes that it passes on from its table
        or its parts are not its own.
    shared_note_codes : frozenset of str
        Codes of the notes that every method of the kind may give, because they come from functions that all of them end with;
        the base class of the kind declares them.
    version : int
        Raised when its numbers change.

    Examples
    --------
    >>> from unseen.estimators.corrected_t import CorrectedT
    >>> sorted(CorrectedT.note_codes), sorted(CorrectedT.shared_note_codes)
    (['U009', 'U015', 'U016'], ['U007', 'U010'])
    """

    group: ClassVar[str] = "estimators"
    kind: ClassVar[str] = ""
    id: ClassVar[str] = ""
    target: ClassVar[Target | None] = None
    designs: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[frozenset[str]] = frozenset()
    parts: ClassVar[tuple[str, ...]] = ()
    linear: ClassVar[bool] = False
    point_only: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    centred: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    by_split: ClassVar[bool] = False
    liberal: ClassVar[bool] = False
    not_recommended: ClassVar[str] = ""
    in_assess: ClassVar[bool] = True
    whole_model: ClassVar[bool] = False
    own_error: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset()
    shared_note_codes: ClassVar[frozenset[str]] = frozenset()
    version: ClassVar[int] = 1


class TableMethod(Method):
    """Turns a table of losses into an estimate; usually linear, equivariant, centred, and with a weighted form.

    A file declares at least `id` and `designs`, and gives `default_design` and `__call__`.
    """

    kind: ClassVar[str] = "table"
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    # `finish` cuts an interval at the range of the loss; `t_interval` and `normal_interval` find no spread
    shared_note_codes: ClassVar[frozenset[str]] = frozenset({"U007", "U010"})

    def default_design(self, data: Any) -> Any:
        """Return the design to use if the caller names none."""
        raise NotImplementedError

    def difference_design(self, data: Any) -> Any:
        """Return the design for a difference of two models if the caller names none."""
        return self.default_design(data)

    def __call__(self, table: Any, *, level: float = 0.95) -> Estimate:
        """Return the estimate from a `LossTable`."""
        raise NotImplementedError


class DirectMethod(Method):
    """Needs no split: resubstitution, closed forms, bounds.

    `model` is a `Fitted` if the caller has one, else a `Model` that the method fits once on `data`.
    """

    kind: ClassVar[str] = "direct"
    target: ClassVar[Target] = Target.ALGORITHM

    def __call__(self, model: Any, data: Any, *, rng: Any, level: float = 0.95) -> Estimate:
        """Return the estimate."""
        raise NotImplementedError


class Recipe(Method):
    """Arithmetic on the estimates of other methods, which `parts` names."""

    kind: ClassVar[str] = "recipe"
    target: ClassVar[Target] = Target.MODEL

    def for_model(self, native: Any) -> Self:
        """Return the recipe for a trained model; the same for every model unless a recipe says otherwise."""
        return self

    @property
    def needed(self) -> tuple[str, ...]:
        """Parts that have to be made; all of them unless a recipe says otherwise."""
        return self.parts

    def __call__(self, parts: Mapping[str, Estimate], *, level: float = 0.95, situation: Any = None) -> Estimate:
        """Return the combined estimate; `situation` says for which model and sample, if an interval depends on it."""
        raise NotImplementedError


class PairedTest(Method):
    """Tests the difference of two models from their tables of losses on the same splits; usually has a weighted form."""

    group: ClassVar[str] = "significance"
    kind: ClassVar[str] = "test"
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    weighted: ClassVar[bool] = True
    # `finish` cuts an interval at the range of the difference
    shared_note_codes: ClassVar[frozenset[str]] = frozenset({"U007"})

    def default_design(self, data: Any) -> Any:
        """Return the design to use if the caller names none."""
        raise NotImplementedError

    def difference_design(self, data: Any) -> Any:
        """Return the same design: a test has no other use than a difference."""
        return self.default_design(data)

    def __call__(self, a: Any, b: Any, *, level: float = 0.95) -> Any:
        """Return the `Comparison` of two `LossTable`s."""
        raise NotImplementedError


class RankTest(Method):
    """Ranks several models over many data sets, from their errors alone."""

    group: ClassVar[str] = "significance"
    kind: ClassVar[str] = "ranking"

    def __call__(self, errors: Any, names: Any, *, level: float = 0.95) -> Any:
        """Return the ranking from a matrix of errors, data set by model."""
        raise NotImplementedError
