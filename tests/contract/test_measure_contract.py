"""Every registered measure keeps the contract of measures."""

from __future__ import annotations

import pytest

from unseen.core.registry import classes_in
from unseen.testing import MEASURE_CHECKS


@pytest.mark.parametrize("check", MEASURE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", classes_in("measures"))
def test_measure(name, check):
    check(classes_in("measures")[name]())
