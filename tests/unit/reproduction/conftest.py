"""A made-up experiment, registered for one test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

import unseen.core.registry as registry


@dataclass(frozen=True)
class ToyExperiment:
    """What every experiment has; a test adds its options and `run`."""

    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "toy"
    title: ClassVar[str] = "Toy"
    source: ClassVar[str] = "Nobody (1900)"
    replications: ClassVar[int] = 7
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 0.1


@pytest.fixture
def toys(monkeypatch):
    """Return the base of toy experiments, and what makes one known under its id."""

    def register(cls):
        registry.classes_in("reproduction")
        monkeypatch.setitem(registry.GROUPS["reproduction"]._things, cls.id, cls)
        return cls

    return ToyExperiment, register
