"""Every registered test of two tables keeps the contract, and the contract catches breaches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from unseen.core.registry import classes_in
from unseen.significance.mcnemar import McNemar
from unseen.testing import PAIR_CHECKS, pair_tests

TESTS = {name: cls for name, cls in classes_in("significance").items() if cls.kind == "test"}


@pytest.mark.parametrize("check", PAIR_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", TESTS)
def test_pair_test(name, check):
    check(TESTS[name]())


@dataclass(frozen=True)
class OneSided(McNemar):
    """Halves the p-value when the first is ahead."""

    def __call__(self, a, b, *, level=0.95):
        c = super().__call__(a, b, level=level)
        return replace(c, p=c.p / 2 if c.difference < 0 else c.p)


@dataclass(frozen=True)
class Careless(McNemar):
    """Takes the first table twice, whatever the second is."""

    def __call__(self, a, b, *, level=0.95):
        return super().__call__(a, a, level=level)


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (OneSided, pair_tests.names_may_be_swapped),
        (Careless, pair_tests.foreign_tables_are_refused),
        (OneSided, pair_tests.is_described),
    ],
)
def test_breaches_are_caught(cls, check):
    with pytest.raises(AssertionError):
        check(cls())
    check(McNemar())
