"""Every registered recipe keeps the contract of recipes."""

from __future__ import annotations

import pytest

from unseen.core.registry import classes_in
from unseen.testing import RECIPE_CHECKS

RECIPES = {
    name: cls
    for kind in ("estimators", "resubstitution")
    for name, cls in classes_in(kind).items()
    if cls.kind == "recipe"
}


@pytest.mark.parametrize("check", RECIPE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", RECIPES)
def test_recipe(name, check):
    check(RECIPES[name]())
