"""Every registered measure of generalization keeps the contract."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="measures of generalization need torch")

from unseen.nets import known_measures
from unseen.testing import NET_MEASURE_CHECKS

MEASURES = known_measures()


@pytest.mark.parametrize("check", NET_MEASURE_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", MEASURES)
def test_net_measure(name, check):
    check(MEASURES[name]())
