"""The contract of a method that works from a table of losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import DesignError, InputError
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import build, classes_in, declare
from unseen.testing._describe import check_described, check_notes, check_record, check_sourced
from unseen.testing._samples import sample, table_on, transform

__all__ = ["TABLE_CHECKS", "check_table_method"]

NEEDS = frozenset({"test", "train", "full", "predictions"})
FLAGS = ("linear", "equivariant", "centred", "weighted")
FEW_ROWS = 24  # few enough for notes on small samples, and every default design still has splits


def _table(method: Any, data: Data, columns: int = 3) -> LossTable:
    return table_on(method.default_design(data), data, columns)


@cache
def _tables(method: Any) -> list[LossTable]:
    """Return tables of both tasks that the method accepts; at least one of them must be."""
    tables = []
    for data in (sample(), sample("regression"), sample(grouped=True)):
        table = _table(method, data)
        try:
            method(table)
        except InputError as error:
            assert method.id in str(error), f"{method.id} refuses a table without naming itself: {error}"
            continue
        tables.append(table)
    assert tables, f"{method.id} accepts none of the sample tables"
    return tables


def _same(a: Estimate, b: Estimate) -> bool:
    ends = [(e.value, *(() if e.interval is None else e.interval)) for e in (a, b)]
    return len(ends[0]) == len(ends[1]) and bool(np.allclose(ends[0], ends[1], rtol=0, atol=1e-12))


def is_described(method: Any) -> None:
    """File, docstring, source, options and class attributes."""
    cls = type(method)
    for check in (check_described, check_sourced, check_record):
        check(cls)
    for flag in FLAGS:
        assert isinstance(getattr(cls, flag, None), bool), f"{cls.id}: {flag} is not declared"
    assert isinstance(cls.target, Target), f"{cls.id}: target is not declared"
    assert isinstance(cls.version, int) and cls.version >= 1, f"{cls.id}: version is not declared"
    assert "test" in cls.needs and cls.needs <= NEEDS, f"{cls.id}: needs is not a subset of {sorted(NEEDS)}"
    unknown = cls.designs - set(classes_in("designs"))
    assert not unknown, f"{cls.id} accepts designs that do not exist: {sorted(unknown)}"
    for data in (sample(), sample("regression"), sample(grouped=True)):
        default = method.default_design(data)
        assert default.id in cls.designs, f"{cls.id}: its default design {default.id} is not one it accepts"


def result_is_whole(method: Any) -> None:
    """Value, interval, target, counts."""
    for table in _tables(method):
        e = method(table, level=0.9)
        assert np.isfinite(e.value), f"{method.id}: the value is {e.value}"
        chosen = any(n.code == "U026" for n in e.notes)  # another method, whose label and target it may have
        known = chosen and e.method in classes_in("estimators")
        assert e.method == method.id or known, f"{method.id}: the estimate is labelled {e.method}"
        assert e.loss == table.loss, f"{method.id}: the estimate is labelled {e.loss}"
        assert chosen or e.target.kind == method.target.kind, f"{method.id}: the target is {e.target}"
        assert e.n_units == table.data.n_units and e.n_fits == table.n_fits, f"{method.id}: counts are wrong"
        assert e.std_error is None or e.std_error >= 0, f"{method.id}: the standard error is {e.std_error}"
        assert e.interval is None or e.interval.level == 0.9, f"{method.id}: the interval is not of the level asked for"
        assert _same(e, method(table, level=0.9)), f"{method.id}: two calls differ"


def wider_at_a_higher_level(method: Any) -> None:
    """An interval holds those of lower levels; somewhere it really is wider."""
    for table in _tables(method):
        intervals = [method(table, level=level).interval for level in (0.5, 0.8, 0.95, 0.99)]
        if None in intervals:
            assert not any(intervals), f"{method.id} gives an interval at some levels only"
            continue
        for a, b in pairwise(intervals):
            assert b.low <= a.low + 1e-12 and a.high <= b.high + 1e-12, f"{method.id}: narrower at a higher level"
        assert intervals[0].width < intervals[-1].width, f"{method.id}: the level does not matter"


def order_of_rows_is_free(method: Any) -> None:
    """Rows of the table in any order give the same numbers."""
    for table in _tables(method):
        order = np.random.default_rng(0).permutation(len(table.test.row))
        source = table.source[0].reorder(order)
        assert _same(method(table), method(source.losses())), f"{method.id} depends on the order of the rows"


def interval_is_in_range(method: Any) -> None:
    """No interval leaves the range of the loss."""
    for table in _tables(method):
        interval = method(table, level=0.999).interval
        low, high = table.range
        assert interval is None or low <= interval.low <= interval.high <= high, (
            f"{method.id}: {interval} is out of range"
        )


def foreign_design_is_refused(method: Any) -> None:
    """A table of another design is refused by the names of both."""
    foreign = sorted(set(classes_in("designs")) - method.designs - {"splits"})
    assert foreign, f"{method.id} accepts every design"
    for name in foreign[:3]:
        table = table_on(build(name, "designs"), sample())
        try:
            method(table)
        except DesignError as error:
            assert name in str(error) and method.id in str(error), f"{method.id}: the refusal names too little: {error}"
        else:
            raise AssertionError(f"{method.id} accepts the foreign design {name!r}")


def level_is_checked(method: Any) -> None:
    """Levels outside (0, 1) are refused."""
    table = _tables(method)[0]
    for level in (0, 1, 1.5, -0.1, "a"):
        try:
            method(table, level=level)
        except InputError:
            continue
        raise AssertionError(f"{method.id} accepts level={level!r}")


def weights_are_used_or_refused(method: Any) -> None:
    """A weighted method uses weights up to their scale; another refuses them by its name."""
    for plain in _tables(method):
        task, grouped = plain.data.task, plain.data.groups is not None
        data = sample(task, grouped=grouped, weighted=True)
        table = _table(method, data)
        if not method.weighted:
            _check_refusal_of(method, table, "weights")
            continue
        assert data.weights is not None
        heavy = _table(method, replace(data, weights=7.0 * data.weights))
        even = _table(method, replace(data, weights=np.full(data.n, 2.5)))
        assert _same(method(table), method(heavy)), f"{method.id} depends on the scale of the weights"
        assert _same(method(even), method(plain)), f"{method.id}: equal weights change the estimate"
        assert not _same(method(table), method(plain)), f"{method.id} calls itself weighted and ignores weights"


def _check_refusal_of(method: Any, table: LossTable, what: str) -> None:
    try:
        method(table)
    except InputError as error:
        assert method.id in str(error), f"{method.id}: the refusal of {what} does not name the method: {error}"
    else:
        raise AssertionError(f"{method.id} accepts {what}, which it does not declare")


def differences_are_right_or_refused(method: Any) -> None:
    """Linear methods: nothing differs from itself, and the difference of values is the value of differences."""
    for table in _tables(method):
        other = _table(method, _again(table), 1)
        if not method.linear:
            _check_refusal_of(method, table.minus(other), "a difference")
            continue
        itself = method(table.minus(table))
        assert itself.value == 0.0, f"{method.id}: the difference of a model with itself is {itself.value}"
        assert itself.interval is None or 0.0 in itself.interval, f"{method.id}: zero is outside its own interval"
        gap = method(table).value - method(other).value
        value = method(table.minus(other)).value
        assert abs(value - gap) < 1e-10, f"{method.id}: not linear, {value} against {gap}"


def _again(table: LossTable) -> Data:
    return sample(table.data.task, grouped=table.data.groups is not None)


def shift_and_scale_carry_over(method: Any) -> None:
    """Equivariant methods: a + b times the losses gives a + b times value and interval, before any clipping."""
    if not method.equivariant:
        return
    shift, scale = 3.0, 2.5
    for table in _tables(method):
        plain, moved = method(transform(table, 0.0, 1.0)), method(transform(table, shift, scale))
        wanted = [shift + scale * v for v in (plain.value, *(plain.interval or ()))]
        got = [moved.value, *(moved.interval or ())]
        assert np.allclose(wanted, got, rtol=0, atol=1e-9), f"{method.id} is not equivariant: {got} for {wanted}"


def value_is_inside(method: Any) -> None:
    """Centred methods: the value lies inside its interval at every level."""
    if not method.centred:
        return
    for table in _tables(method):
        for level in (0.01, 0.5, 0.95):
            e = method(table, level=level)
            assert e.interval is None or e.interval.low - 1e-12 <= e.value <= e.interval.high + 1e-12, (
                f"{method.id}: {e.value} is outside {e.interval}"
            )


def missing_parts_are_named(method: Any) -> None:
    """A table without what the method needs is refused."""
    table = _tables(method)[0]
    if "train" in method.needs:
        _check_refusal_of(method, replace(table, train=None), "a table without training rows")
    if "full" in method.needs:
        _check_refusal_of(method, replace(table, full=None), "a table without the fit on all rows")


def failed_splits_do_not_break_it(method: Any) -> None:
    """A table that lost its first split gives a finite value or an error in words."""
    for table in _tables(method):
        try:
            e = method(_without_first_split(table))
        except InputError as error:
            assert method.id in str(error), f"{method.id} refuses without naming itself: {error}"
        else:
            assert np.isfinite(e.value), f"{method.id}: {e.value} if one split failed"


def _without_first_split(table: LossTable) -> LossTable:
    kept: dict[str, Any] = {
        name: None if (part := getattr(table, name)) is None else part._keep(np.arange(1, len(table.plan)))
        for name in ("test", "train")
    }
    return replace(table, **kept)


def notes_are_declared(method: Any) -> None:
    """The method declares every note that does not come from the table, at two levels."""
    for plain in _tables(method):
        for table in _variants(method, plain):
            for level in (0.5, 0.999):
                try:
                    e = method(table, level=level)
                except InputError:
                    continue
                check_notes(method, e.notes, table.notes)


def _variants(method: Any, table: LossTable) -> Iterator[LossTable]:
    """Yield a table as it is, without a split, of few rows, and, if the method takes them, with weights and as a difference."""
    yield table
    yield _without_first_split(table)
    task, grouped = table.data.task, table.data.groups is not None
    yield _table(method, sample(task, FEW_ROWS, grouped=grouped))
    if method.weighted:
        yield _table(method, sample(task, grouped=grouped, weighted=True))
    if method.linear:
        yield table.minus(table)
        yield table.minus(_table(method, _again(table), 1))


TABLE_CHECKS = (
    is_described,
    result_is_whole,
    wider_at_a_higher_level,
    order_of_rows_is_free,
    interval_is_in_range,
    foreign_design_is_refused,
    level_is_checked,
    weights_are_used_or_refused,
    differences_are_right_or_refused,
    shift_and_scale_carry_over,
    value_is_inside,
    missing_parts_are_named,
    failed_splits_do_not_break_it,
    notes_are_declared,
)


def check_table_method(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a table method.

    Parameters
    ----------
    cls : type
        A registered method with `designs`.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.estimators.corrected_t import CorrectedT
    >>> check_table_method(CorrectedT)
    """
    declare(cls)
    for check in TABLE_CHECKS:
        check(cls(**options))
