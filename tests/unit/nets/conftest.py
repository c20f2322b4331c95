"""Tests of deep nets skip themselves where torch is absent; where CI requires it, that is an error."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

if find_spec("torch") is None and "torch" in os.environ.get("UNSEEN_REQUIRE", "").split(","):
    raise pytest.UsageError("torch is required by UNSEEN_REQUIRE, but it is not installed")
