"""The contract of a method that needs no split: closed forms, bounds, generalized resubstitution."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import NotApplicable, UnknownName
from unseen.core.estimate import Estimate, Target
from unseen.core.registry import declare, find
from unseen.models.sklearn import as_model
from unseen.testing._describe import check_described, check_notes, check_record, check_sourced
from unseen.testing._samples import sample

__all__ = ["DIRECT_CHECKS", "check_direct_method"]


@cache
def _subjects() -> tuple[tuple[Any, Data], ...]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    classes, numbers = sample(n=36), sample("regression", 36)
    rules = (
        LinearDiscriminantAnalysis(),
        LogisticRegression(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(20, random_state=0),
    )
    lines = (LinearRegression(), Ridge(2.0), DecisionTreeRegressor(random_state=0))
    return tuple((as_model(m), data) for models, data in ((rules, classes), (lines, numbers)) for m in models)


def _call(method: Any, model: Any, data: Data, level: float = 0.95) -> Estimate:
    result: Estimate = method(model, data, rng=np.random.default_rng(0), level=level)
    return result


@cache
def _usable_subjects(method: Any) -> list[tuple[Any, Data, Estimate]]:
    """Return the sample models that the method takes, with its estimates; it must refuse the others in words."""
    good = []
    for model, data in _subjects():
        try:
            good.append((model, data, _call(method, model, data)))
        except NotApplicable as error:
            assert len(str(error)) > 20, f"{method.id}: the refusal of {model.name} says too little"
    assert good, f"{method.id} takes none of the sample models"
    return good


def is_described(method: Any) -> None:
    """File, docstring, source, options and class attributes."""
    cls = type(method)
    for check in (check_described, check_sourced, check_record):
        check(cls)
    for flag in ("weighted", "in_assess"):
        assert isinstance(getattr(cls, flag, None), bool), f"{cls.id}: {flag} is not declared"
    assert isinstance(cls.target, Target), f"{cls.id}: target is not declared"
    assert isinstance(cls.version, int), f"{cls.id}: version is not declared"


def result_is_whole(method: Any) -> None:
    """Value, label, counts; the same seed gives the same numbers."""
    for model, data, e in _usable_subjects(method):
        again = _call(method, model, data)
        assert np.isfinite(e.value), f"{method.id}: the value for {model.name} is {e.value}"
        assert e.method == method.id, f"{method.id}: the estimate is labelled {e.method}"
        assert e.target.kind == method.target.kind, f"{method.id}: the target is {e.target}"
        assert e.n_units == data.n_units, f"{method.id}: {e.n_units} units"
        assert e.value == again.value and e.interval == again.interval, f"{method.id}: the same seed gave two estimates"


def trained_models_are_not_refitted(method: Any) -> None:
    """A trained model gives what an untrained one gives, with one fit less."""
    for model, data, fresh in _usable_subjects(method):
        if fresh.n_fits > 1:
            continue
        used = _call(method, model.fit(data, 0), data)
        assert used.n_fits == 0 < fresh.n_fits, f"{method.id}: {used.n_fits} fits of a trained model"
        noise = getattr(fresh, "mc_error", None) or 0.0
        assert abs(fresh.value - used.value) <= 1e-10 + 8 * noise, f"{method.id}: training beforehand changes the value"


def wider_at_a_higher_level(method: Any) -> None:
    """An interval holds those of lower levels."""
    for model, data, e in _usable_subjects(method):
        if e.interval is None:
            continue
        intervals = [_call(method, model, data, level).interval for level in (0.5, 0.8, 0.95, 0.99)]
        for a, b in pairwise(intervals):
            assert a is not None and b is not None, f"{method.id} gives an interval at some levels only"
            assert b.low <= a.low + 1e-12 and a.high <= b.high + 1e-12, f"{method.id}: narrower at a higher level"


def interval_is_in_range(method: Any) -> None:
    """No interval leaves the range of the loss."""
    for model, data, usual in _usable_subjects(method):
        e = usual if usual.interval is None else _call(method, model, data, 0.999)
        try:
            low, high = find(e.loss, "measures").range
        except UnknownName:
            low, high = -np.inf, np.inf
        assert e.interval is None or low <= e.interval.low <= e.interval.high <= high, f"{method.id}: {e.interval}"


def order_of_rows_is_free(method: Any) -> None:
    """Shuffled rows give the same value, up to the method's own Monte-Carlo error, or are refused if they were learned in order."""
    for model, data, fresh in _usable_subjects(method):
        if fresh.n_fits > 1:
            continue
        fitted = model.fit(data, 0)
        e = _call(method, fitted, data)
        try:
            other = _call(method, fitted, data.take(np.random.default_rng(4).permutation(data.n)))
        except NotApplicable as error:
            assert "order" in str(error), f"{method.id} refuses shuffled rows without saying why: {error}"
            continue
        noise = max(getattr(e, "mc_error", None) or 0.0, getattr(other, "mc_error", None) or 0.0)
        assert abs(e.value - other.value) <= 1e-9 * max(1.0, abs(e.value)) + 8 * noise, (
            f"{method.id} depends on the order of the rows: {e.value}, {other.value}"
        )


def notes_are_declared(method: Any) -> None:
    """The method declares every note it gives, of untrained and of trained models."""
    for model, data, fresh in _usable_subjects(method):
        check_notes(method, fresh.notes)
        if fresh.n_fits <= 1:
            check_notes(method, _call(method, model.fit(data, 0), data, 0.999).notes)


DIRECT_CHECKS = (
    is_described,
    result_is_whole,
    trained_models_are_not_refitted,
    wider_at_a_higher_level,
    interval_is_in_range,
    order_of_rows_is_free,
    notes_are_declared,
)


def check_direct_method(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a direct method.

    Parameters
    ----------
    cls : type
        A registered method without `designs`.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.estimators.gcv import Gcv
    >>> check_direct_method(Gcv)
    """
    declare(cls)
    for check in DIRECT_CHECKS:
        check(cls(**options))
