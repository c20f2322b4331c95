"""Fixtures shared by all tests, and the rule about required parts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

REQUIRED = set(filter(None, os.environ.get("UNSEEN_REQUIRE", "").split(",")))
SHARED = Path(__file__).resolve().parents[2] / "shared"


def absent(part: str, reason: str) -> None:
    """Skip a test whose part is absent here, or fail where CI requires the part."""
    if part in REQUIRED:
        pytest.fail(f"{part} is required by UNSEEN_REQUIRE, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the shared data sets; skips where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the shared data sets are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a chromium; skips where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        absent("browser", "no chromium is installed")
    return str(path)
