"""Every registered method without retraining keeps the contract."""

from __future__ import annotations

import pytest

from unseen.core.registry import classes_in
from unseen.testing import DIRECT_CHECKS

METHODS = {
    name: cls
    for kind in ("estimators", "resubstitution")
    for name, cls in classes_in(kind).items()
    if cls.kind == "direct"
}


@pytest.mark.parametrize("check", DIRECT_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_direct_method(name, check):
    check(METHODS[name]())
