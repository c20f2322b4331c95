"""The engine keeps the contract of engines, with worker processes really started."""

from __future__ import annotations

import pytest

import unseen.engine.joblib_ as joblib_engine
from unseen.engine.run import execute
from unseen.testing import ENGINE_CHECKS


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda c: c.__name__)
def test_engine(check, monkeypatch):
    monkeypatch.setattr(joblib_engine, "WORTH_STARTING_WORKERS", 0.0)
    check(execute)
