"""The contract of a test of two tables of losses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.errors import DesignError, InputError
from unseen.core.estimate import Target
from unseen.core.losses import LossTable
from unseen.core.registry import build, classes_in, declare
from unseen.testing._describe import check_described, check_notes, check_record, check_sourced
from unseen.testing._samples import sample, table_on

__all__ = ["PAIR_CHECKS", "check_pair_test"]

ROWS = 150  # enough for every test to see a difference between the sample models
NEEDS = frozenset({"test", "train", "full", "predictions"})


def _pair(test: Any, data: Data, seed: int = 5) -> tuple[LossTable, LossTable]:
    design = test.default_design(data)
    return table_on(design, data, 3, seed), table_on(design, data, 1, seed)


def _pairs(test: Any) -> list[tuple[LossTable, LossTable]]:
    """Return pairs of both tasks that the test accepts; at least one of them must be."""
    pairs = []
    for data in (sample(n=ROWS), sample("regression", ROWS), sample(n=ROWS, grouped=True)):
        a, b = _pair(test, data)
        try:
            test(a, b)
        except InputError as error:
            assert test.id in str(error), f"{test.id} refuses a pair without naming itself: {error}"
            continue
        pairs.append((a, b))
    assert pairs, f"{test.id} accepts none of the sample pairs"
    assert any(test(a, b).difference != 0 for a, b in pairs), f"{test.id} sees no difference in any sample pair"
    return pairs


def _close(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else bool(np.isclose(a, b, rtol=0, atol=1e-12, equal_nan=True))


def is_described(test: Any) -> None:
    """File, docstring, source, options and class attributes."""
    cls = type(test)
    for check in (check_described, check_sourced, check_record):
        check(cls)
    assert isinstance(cls.target, Target), f"{cls.id}: target is not declared"
    assert isinstance(cls.weighted, bool), f"{cls.id}: weighted is not declared"
    assert isinstance(cls.version, int) and cls.version >= 1, f"{cls.id}: version is not declared"
    assert "test" in cls.needs and cls.needs <= NEEDS, f"{cls.id}: needs is not a subset of {sorted(NEEDS)}"
    unknown = cls.designs - set(classes_in("designs"))
    assert not unknown, f"{cls.id} accepts designs that do not exist: {sorted(unknown)}"
    default = test.default_design(sample())
    assert default.id in cls.designs, f"{cls.id}: its default design {default.id} is not one it accepts"


def result_is_whole(test: Any) -> None:
    """Difference, p-value or posterior, target, counts; two calls agree."""
    for a, b in _pairs(test):
        c: Comparison = test(a, b, level=0.9)
        assert c.test == test.id and c.level == 0.9, f"{test.id}: labelled {c.test}, level {c.level}"
        assert np.isfinite(c.difference), f"{test.id}: the difference is {c.difference}"
        assert c.p is not None or (c.rope is not None and c.rope.posterior is not None), f"{test.id}: no evidence given"
        assert c.p is None or 0 < c.p <= 1, f"{test.id}: p is {c.p}"
        one_split = len(a.plan.splits) == 1
        assert (c.share_of_splits is None) or (0 <= c.share_of_splits <= 1 and not one_split), (
            f"{test.id}: share_of_splits is {c.share_of_splits} over {len(a.plan.splits)} splits"
        )
        assert c.reference, f"{test.id}: no reference distribution is named"
        assert c.estimate.n_fits == a.n_fits + b.n_fits, f"{test.id}: the fits of both models count"
        assert _close(c.p, test(a, b, level=0.9).p), f"{test.id}: two calls differ"


def nothing_differs_from_itself(test: Any) -> None:
    """A table against itself: difference 0, p-value 1, no side ahead."""
    for a, _ in _pairs(test):
        c = test(a, a)
        assert c.difference == 0 and c.p in (None, 1.0), f"{test.id}: {c.difference}, p {c.p} of a model with itself"
        assert c.share_of_splits in (None, 0.5), f"{test.id}: a model is ahead of itself"


def names_may_be_swapped(test: Any) -> None:
    """b against a is a against b with its sign turned, and `swap` says the same."""
    for a, b in _pairs(test):
        one, other = test(a, b), test(b, a)
        turned = one.swap()
        for c in (other, turned):
            assert _close(c.difference, -one.difference) and _close(c.p, one.p), f"{test.id}: swapping changes more"
            ahead = None if one.share_of_splits is None else 1 - one.share_of_splits
            assert _close(c.share_of_splits, ahead), f"{test.id}: share_of_splits does not turn"
        if one.interval is not None:
            ends = (-one.interval.high, -one.interval.low)
            assert np.allclose(tuple(other.interval), ends, rtol=0, atol=1e-12), (
                f"{test.id}: the interval does not turn"
            )


def order_of_rows_is_free(test: Any) -> None:
    """Rows of one table in another order give the same p-value."""
    for a, b in _pairs(test):
        order = np.random.default_rng(0).permutation(len(a.test.row))
        shuffled = a.source[0].reorder(order).losses()
        try:
            c = test(shuffled, b)
        except InputError as error:
            assert test.id in str(error), f"{test.id} refuses without naming itself: {error}"
            continue
        assert _close(c.p, test(a, b).p), f"{test.id} depends on the order of the rows"


def foreign_tables_are_refused(test: Any) -> None:
    """Another design, and other splits of the same design, are refused."""
    foreign = sorted(set(classes_in("designs")) - test.designs - {"splits"})
    for name in foreign[:2]:
        table = table_on(build(name, "designs"), sample())
        try:
            test(table, table)
        except DesignError as error:
            assert name in str(error) and test.id in str(error), f"{test.id}: the refusal names too little: {error}"
        else:
            raise AssertionError(f"{test.id} accepts the foreign design {name!r}")
    a, b = _pairs(test)[0]
    other, _ = _pair(test, _again(a), seed=6)
    try:
        test(other, b)
    except InputError:
        return
    raise AssertionError(f"{test.id} compares tables of different splits")


def _again(table: LossTable) -> Data:
    return sample(table.data.task, ROWS, grouped=table.data.groups is not None)


def weights_are_used_or_refused(test: Any) -> None:
    """Weights are refused by name, or matter up to their scale only."""
    a, _ = _pairs(test)[0]
    data = sample(a.data.task, ROWS, grouped=a.data.groups is not None, weighted=True)
    try:
        c = test(*_pair(test, data))
    except InputError as error:
        assert not test.weighted and test.id in str(error), f"{test.id}: {error}"
        return
    assert test.weighted, f"{test.id} accepts weights, which it does not declare"
    assert data.weights is not None
    heavy = test(*_pair(test, replace(data, weights=7.0 * data.weights)))
    assert _close(c.difference, heavy.difference), f"{test.id} depends on the scale of the weights"


def level_is_checked(test: Any) -> None:
    """Levels outside (0, 1) are refused."""
    a, b = _pairs(test)[0]
    for level in (0, 1, -0.1):
        try:
            test(a, b, level=level)
        except InputError:
            continue
        raise AssertionError(f"{test.id} accepts level={level!r}")


def notes_are_declared(test: Any) -> None:
    """The test declares every note that does not come from the tables, of equal models and of one model alone too."""
    for a, b in _pairs(test):
        for first, second in ((a, b), (a, a)):
            check_notes(test, test(first, second, level=0.999).notes, first.minus(second).notes)
        if test.own_error:
            check_notes(test, test.alone(a, level=0.999).notes, a.notes)


PAIR_CHECKS = (
    is_described,
    result_is_whole,
    nothing_differs_from_itself,
    names_may_be_swapped,
    order_of_rows_is_free,
    foreign_tables_are_refused,
    weights_are_used_or_refused,
    level_is_checked,
    notes_are_declared,
)


def check_pair_test(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a test of two tables.

    Parameters
    ----------
    cls : type
        A registered test that takes two tables of losses.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.significance.mcnemar import McNemar
    >>> check_pair_test(McNemar)
    """
    declare(cls)
    for check in PAIR_CHECKS:
        check(cls(**options))
