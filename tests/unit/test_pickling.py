"""Errors and records survive pickling, so that workers can send them; nothing of ours breaks a pool."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pytest

import unseen
from unseen.core.errors import MissingExtra, UnknownName, UnseenError

OWN_PROCESS = ("unseen.__main__", "unseen.models.files.child")


def own_classes():
    for module in pkgutil.walk_packages(unseen.__path__, "unseen.", onerror=lambda name: None):
        if module.name in OWN_PROCESS:
            continue
        try:
            content = vars(importlib.import_module(module.name))
        except (ImportError, UnseenError):  # an extra that is not installed
            continue
        for value in content.values():
            if inspect.isclass(value) and value.__module__ == module.name:
                yield value


CLASSES = sorted(set(own_classes()), key=lambda cls: (cls.__module__, cls.__qualname__))
ERRORS = [cls for cls in CLASSES if issubclass(cls, BaseException)]
RECORDS = [cls for cls in CLASSES if dataclasses.is_dataclass(cls)]


def name(cls) -> str:
    return f"{cls.__module__.removeprefix('unseen.')}.{cls.__qualname__}"


MADE = {MissingExtra: ("torch", "torch", "training"), UnknownName: ("model", "knm", ["knn"])}


@pytest.mark.parametrize("cls", ERRORS, ids=name)
def test_error(cls) -> None:
    error = cls(*MADE.get(cls, ("what was given, what is needed",)))
    error.extra = 3
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is cls
        assert (str(again), again.args, again.extra) == (str(error), error.args, 3)
        assert getattr(again, "msg", None) == getattr(error, "msg", None)


@pytest.mark.parametrize("cls", RECORDS, ids=name)
def test_record_with_its_defaults(cls) -> None:
    """Every field with a default has it; the others are None, because their types have tests of their own."""
    record = tuple.__new__(cls, (0.1, 0.2)) if issubclass(cls, tuple) else object.__new__(cls)
    for f in dataclasses.fields(cls):
        value = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        object.__setattr__(record, f.name, None if value is dataclasses.MISSING else value)
    again = pickle.loads(pickle.dumps(record))
    assert type(again) is cls
    for f in dataclasses.fields(cls):
        before, after = getattr(record, f.name), getattr(again, f.name)
        assert type(after) is type(before)
        assert repr(after) == repr(before)


def test_a_wrong_name_in_a_worker_is_the_same_error() -> None:
    joblib = pytest.importorskip("joblib")
    with pytest.raises(UnseenError):
        joblib.Parallel(n_jobs=2)(joblib.delayed(unseen.datasets.load)(one) for one in ("iriss", "irris"))


@pytest.mark.parametrize("make", ["table", "assessment", "measures", "comparison", "distribution"])
def test_result(make) -> None:
    X, y = unseen.datasets.load("iris").X, unseen.datasets.load("iris").y
    table = unseen.run("naive-bayes", X, y, design="kfold", random_state=0)
    made = {
        "table": lambda: table,
        "assessment": lambda: unseen.assess("naive-bayes", X, y, effort="quick"),
        "measures": lambda: unseen.measure(table, n_bootstrap=100),
        "comparison": lambda: unseen.compare(
            *(unseen.run(m, X, y, design="repeated-kfold", random_state=0) for m in ("naive-bayes", "cart"))
        ),
        "distribution": lambda: unseen.distribution(table),
    }[make]()
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    if hasattr(made, "to_dict"):
        assert again.to_dict() == made.to_dict()
    else:
        np.testing.assert_array_equal(again.test.value, made.test.value)
        assert again.plan.fingerprint == made.plan.fingerprint
        assert dict(again.plan.options) == dict(made.plan.options)
