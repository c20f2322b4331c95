"""Every registered measure keeps the contract of measures."""

from __future__ import annotations

import pytest

from unseen.core.registry import known
from unseen.testing import MEASURE_CHECKS


@pytest.mark.parametrize("check", MEASURE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", known("measures"))
def test_measure(name, check):
    check(known("measures")[name]())
