"""Hints name packages that are on the index, as pyproject.toml asks for them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from unseen.core.errors import REQUIREMENTS, MissingExtra, install_line

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_hints_are_the_extras_of_the_project():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert {name: list(needed) for name, needed in REQUIREMENTS.items()} == extras


@pytest.mark.parametrize("extra", REQUIREMENTS)
def test_no_hint_names_this_package(extra):
    assert "unseen" not in install_line(extra)
    assert install_line(extra) in str(MissingExtra("p", extra, "This"))
