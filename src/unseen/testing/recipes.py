"""The contract of a recipe: arithmetic on other methods' estimates."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.estimate import Estimate, ResubEstimate, Target
from unseen.core.notes import merge_notes
from unseen.core.registry import classes_in, declare
from unseen.testing._describe import check_described, check_notes, check_record, check_sourced

__all__ = ["RECIPE_CHECKS", "check_recipe"]


def _parts(recipe: Any) -> dict[str, Estimate]:
    """Return one made-up error rate per part, all different."""
    values = np.linspace(0.1, 0.4, len(recipe.parts))
    return {
        name: ResubEstimate(
            value=float(v),
            std_error=None,
            interval=None,
            df=None,
            method=name,
            target=Target.MODEL,
            loss="zero-one",
            n_units=50,
            n_fits=1,
            balanced=float(v) / 2,
        )
        for name, v in zip(recipe.parts, values)
    }


def is_described(recipe: Any) -> None:
    """File, docstring, source, and parts that exist."""
    cls = type(recipe)
    for check in (check_described, check_sourced, check_record):
        check(cls)
    methods = {**classes_in("estimators"), **classes_in("resubstitution")}
    unknown = [name for name in recipe.parts if name not in methods]
    assert not unknown, f"{cls.id} is made of methods that do not exist: {unknown}"
    assert cls.id not in recipe.parts, f"{cls.id} is made of itself"


def result_is_whole(recipe: Any) -> None:
    """The estimate carries the recipe's name, a finite value, and does not depend on the order of its parts."""
    parts = _parts(recipe)
    e = recipe(parts, level=0.95)
    assert e.method == recipe.id, f"{recipe.id}: the estimate is labelled {e.method}"
    assert np.isfinite(e.value), f"{recipe.id}: the value is {e.value}"
    assert e.loss == "zero-one", f"{recipe.id}: the loss is {e.loss}"
    other = recipe(dict(reversed(parts.items())), level=0.95)
    assert other.value == e.value, f"{recipe.id} depends on the order of its parts"


def notes_are_declared(recipe: Any) -> None:
    """The recipe declares every note that does not come from a part."""
    parts = _parts(recipe)
    check_notes(recipe, recipe(parts, level=0.95).notes, merge_notes(*(e.notes for e in parts.values())))


RECIPE_CHECKS = (is_described, result_is_whole, notes_are_declared)


def check_recipe(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a recipe.

    Parameters
    ----------
    cls : type
        A registered method with `parts`.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.core.registry import declare, classes_in
    >>> for method in classes_in("resubstitution").values():
    ...     if method.kind == "recipe":
    ...         check_recipe(method)
    """
    declare(cls)
    for check in RECIPE_CHECKS:
        check(cls(**options))
