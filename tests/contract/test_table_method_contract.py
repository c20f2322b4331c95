"""Every registered method that reads a table of losses keeps the contract."""

from __future__ import annotations

import pytest

from unseen.core.registry import known
from unseen.testing import TABLE_CHECKS

METHODS = {name: cls for name, cls in known("estimators").items() if cls.kind == "table"}


@pytest.mark.parametrize("check", TABLE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_table_method(name, check):
    check(METHODS[name]())
