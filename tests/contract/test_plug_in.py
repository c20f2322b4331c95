"""A method from outside the package (a median over splits) registers, runs and is held to the same contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import unseen
from unseen.core.errors import UnseenError
from unseen.core.estimate import Estimate, Target
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import FAMILIES, register
from unseen.designs import MonteCarlo
from unseen.testing import check_table_method

__all__ = ["MedianSplit"]


@dataclass(frozen=True)
class MedianSplit:
    """Median of the splits' mean losses.

    References
    ----------
    None but this test.

    Examples
    --------
    >>> MedianSplit().id
    'median-split'
    """

    kind: ClassVar[str] = "estimators"
    id: ClassVar[str] = "median-split"
    designs: ClassVar[frozenset[str]] = frozenset({"monte-carlo"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data):
        return MonteCarlo(0.2, 15)

    def __call__(self, table, *, level=0.95) -> Estimate:
        check_table(self, table, level)
        return point_estimate(self, table, float(np.median(table.split_means())))


@pytest.fixture
def plugged_in():
    register(MedianSplit)
    yield MedianSplit
    FAMILIES["estimators"].remove("median-split")


def test_a_plug_in_keeps_the_contract():
    check_table_method(MedianSplit)


def test_a_plug_in_is_found_by_its_id(plugged_in):
    from sklearn.naive_bayes import GaussianNB

    e = unseen.estimate(GaussianNB(), unseen.datasets.load("iris"), method="median-split", random_state=0)
    assert (e.method, e.n_fits) == ("median-split", 15)


def test_a_plug_in_must_say_its_kind():
    class Kindless:
        id = "kindless"

    with pytest.raises(UnseenError, match="`kind`"):
        register(Kindless)
