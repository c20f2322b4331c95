"""The pytest plug-in: `unseen_assert` fails a test unless the interval says that the model is good enough."""

from __future__ import annotations

from typing import Any

import pytest

from unseen.testing.gates import assert_model

__all__ = ["unseen_assert"]


@pytest.fixture
def unseen_assert() -> Any:
    """Return `unseen.testing.assert_model`: `unseen_assert(model, X, y, error_below=0.1, level=0.95)`."""
    return assert_model
