"""Methods and measures from outside the package register, run and keep the same contract, with or without its base classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import unseen
from unseen.core.errors import UnseenError
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import TableMethod
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import GROUPS, register
from unseen.designs import MonteCarlo
from unseen.testing import check_measure, check_table_method

__all__ = ["Cubed", "LowestSplit", "MedianSplit"]


@dataclass(frozen=True)
class MedianSplit(TableMethod):
    """Median of the splits' mean losses.

    References
    ----------
    None but this test.

    Examples
    --------
    >>> MedianSplit().id
    'median-split'
    """

    id: ClassVar[str] = "median-split"
    designs: ClassVar[frozenset[str]] = frozenset({"monte-carlo"})
    linear: ClassVar[bool] = False

    def default_design(self, data):
        return MonteCarlo(0.2, 15)

    def __call__(self, table, *, level=0.95) -> Estimate:
        check_table(self, table, level)
        return point_estimate(self, table, float(np.median(table.split_means())))


@dataclass(frozen=True)
class LowestSplit:
    """Smallest of the splits' mean losses, by a class that inherits nothing.

    References
    ----------
    None but this test.

    Examples
    --------
    >>> LowestSplit().id
    'lowest-split'
    """

    group: ClassVar[str] = "estimators"
    kind: ClassVar[str] = "table"
    id: ClassVar[str] = "lowest-split"
    designs: ClassVar[frozenset[str]] = frozenset({"monte-carlo"})
    target: ClassVar[Target] = Target.ALGORITHM
    linear: ClassVar[bool] = False

    def default_design(self, data):
        return MonteCarlo(0.2, 15)

    def __call__(self, table, *, level=0.95) -> Estimate:
        check_table(self, table, level)
        return point_estimate(self, table, float(np.min(table.split_means())))


@dataclass(frozen=True)
class Cubed:
    """Absolute error to the power of three, by a class that inherits nothing.

    Examples
    --------
    >>> Cubed().per_example(np.array([0.0]), np.array([2.0])).tolist()
    [8.0]
    """

    group: ClassVar[str] = "measures"
    kind: ClassVar[str] = "loss"
    id: ClassVar[str] = "cubed"
    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def per_example(self, y, value, score=None):
        return np.abs(y - value) ** 3


@pytest.fixture
def plugged_in(request):
    register(request.param)
    yield request.param
    GROUPS[request.param.group].remove(request.param.id)


@pytest.mark.parametrize("cls", [MedianSplit, LowestSplit])
def test_a_plug_in_keeps_the_contract(cls):
    check_table_method(cls)


def test_a_loss_from_outside_keeps_the_contract():
    check_measure(Cubed)


@pytest.mark.parametrize("plugged_in", [MedianSplit, LowestSplit], indirect=True)
def test_a_plug_in_is_found_by_its_id(plugged_in):
    from sklearn.naive_bayes import GaussianNB

    e = unseen.estimate(GaussianNB(), unseen.datasets.load("iris"), method=plugged_in.id, random_state=0)
    assert (e.method, e.n_fits) == (plugged_in.id, 15)


@pytest.mark.parametrize("plugged_in", [LowestSplit], indirect=True)
def test_assess_runs_a_plug_in_beside_its_headline(plugged_in):
    from sklearn.naive_bayes import GaussianNB

    found = unseen.assess(GaussianNB(), unseen.datasets.load("iris"), effort="splits=5", random_state=0)
    assert "lowest-split" in found.estimates


def test_a_method_that_never_registered_runs_too():
    from sklearn.linear_model import LinearRegression

    table = unseen.run(LinearRegression(), unseen.datasets.load("diabetes"), design=MonteCarlo(0.2, 5), random_state=0)
    assert unseen.estimate(table, method=LowestSplit(), loss=Cubed()).value == table.losses(Cubed()).split_means().min()


def test_a_measure_that_does_not_say_what_it_is_is_refused():
    from sklearn.linear_model import LinearRegression

    class Silent:
        id, task, range, direction, needs_score = "silent", "regression", (0.0, 1.0), "lower", False

        def per_example(self, y, value, score=None):
            return np.zeros(len(y))

    table = unseen.run(LinearRegression(), unseen.datasets.load("diabetes"), design=MonteCarlo(0.2, 2), random_state=0)
    with pytest.raises(UnseenError, match="Silent does not say what it is"):
        table.losses(Silent())


@pytest.mark.parametrize("cls", [LowestSplit, Cubed])
def test_what_a_class_declares_itself_stays(cls):
    own = {name: value for name, value in vars(cls).items() if not name.startswith("__")}
    GROUPS[cls.group].check(cls)
    assert {name: vars(cls)[name] for name in own} == own


def test_a_plug_in_must_say_what_it_is():
    class Groupless:
        id = "groupless"

    class Kindless:
        group = "estimators"
        id = "kindless"

    class Misplaced(TableMethod):
        group = "measures"
        id = "misplaced"

    with pytest.raises(UnseenError, match="`group`"):
        register(Groupless)
    with pytest.raises(UnseenError, match="`kind`, one of table, direct, recipe"):
        register(Kindless)
    with pytest.raises(UnseenError, match="`kind`, one of loss, set"):
        register(Misplaced)
