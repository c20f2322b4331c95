"""Every registered method that reads a table of losses keeps the contract."""

from __future__ import annotations

import pytest

from unseen.core.registry import classes_in
from unseen.estimators.auto import BY_DESIGN
from unseen.testing import TABLE_CHECKS

METHODS = {name: cls for name, cls in classes_in("estimators").items() if cls.kind == "table"}


@pytest.mark.parametrize("check", TABLE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_table_method(name, check):
    check(METHODS[name]())


def test_auto_declares_the_notes_of_every_method_it_may_choose():
    chosen = {"wald", "wilson", *(name for name, _ in BY_DESIGN.values())}
    assert METHODS["auto"].note_codes == {"U026"}.union(*(METHODS[name].note_codes for name in chosen))
