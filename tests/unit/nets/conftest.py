"""Tests of deep nets skip themselves where torch is absent; where CI requires it, that is an error. Nets trained by hand have one thread."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

if find_spec("torch") is None and "torch" in os.environ.get("UNSEEN_REQUIRE", "").split(","):
    raise pytest.UsageError("torch is required by UNSEEN_REQUIRE, but it is not installed")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Two threads that wait for each other take minutes on a busy machine where one takes a second."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
