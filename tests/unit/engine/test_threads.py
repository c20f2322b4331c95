"""The limit on threads: it holds for every library, also for one that came later, and is looked up once."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import numpy
import pytest
import threadpoolctl
from sklearn.base import BaseEstimator, ClassifierMixin

import unseen
from unseen.core.errors import InputError
from unseen.engine import threads
from unseen.engine.threads import limited_threads, worker_count


def numbers():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def test_limits_are_set_and_taken_back():
    with threadpoolctl.threadpool_limits(2):
        before = numbers()
        assert before
        with limited_threads(1):
            assert set(numbers()) == {1}
            with limited_threads(None):
                assert set(numbers()) == {1}
        assert numbers() == before


def test_libraries_are_looked_for_once(monkeypatch):
    asked = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            asked.append(1)
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    monkeypatch.setattr(threads, "_kept", None)
    for _ in range(3):
        with limited_threads(1):
            pass
    assert len(asked) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_came_later", sys)
    with limited_threads(1):
        pass
    assert len(asked) == 2


def test_inside_a_limit_nothing_is_set_again(monkeypatch):
    with threadpoolctl.threadpool_limits(1):
        controller = threads._controller()
        monkeypatch.setattr(type(controller), "limit", None)  # a second limit would call it
        with limited_threads(1):
            assert set(numbers()) == {1}


LATER = """
from unseen.engine.threads import limited_threads
import numpy
with limited_threads(1):
    pass
from threadpoolctl import threadpool_info
few = len(threadpool_info())
import sklearn.svm, sklearn.ensemble  # brings OpenMP, and scipy's own BLAS
assert len(threadpool_info()) > few, threadpool_info()
with limited_threads(1):
    print({library["num_threads"] for library in threadpool_info()})
"""


def test_a_library_that_comes_later_is_limited_too():
    environment = {"PATH": "", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.strip() == "{1}", done.stderr


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_a_number_of_workers_that_is_none_is_refused(n_jobs):
    with pytest.raises(InputError, match="give a number of workers of at least 1, or -1"):
        worker_count(n_jobs)


class Watched(ClassifierMixin, BaseEstimator):
    """Notes how many threads its fits and predictions may use."""

    seen: ClassVar[set[int]] = set()

    def fit(self, X, y):
        self.seen.update(numbers())
        self.classes_ = numpy.unique(y)
        return self

    def predict(self, X):
        self.seen.update(numbers())
        return numpy.full(len(X), self.classes_[0])


CALLS = {
    "assess": lambda model, X, y: unseen.assess(model, X, y, quick=True, random_state=0),
    "a budget": lambda model, X, y: unseen.assess(model, X, y, budget=60.0, effort="quick", random_state=0),
    "compare": lambda model, X, y: unseen.compare(
        {"a": model, "b": "naive-bayes"}, X, y, test="corrected-t", random_state=0
    ),
    "estimate": lambda model, X, y: unseen.estimate(model, X, y, method="bolster", random_state=0),
    "diagnose": lambda model, X, y: unseen.diagnose(model, X, y, effort="quick", random_state=0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_every_fit_has_one_thread(call, monkeypatch):
    monkeypatch.setattr(Watched, "seen", set())
    rng = numpy.random.default_rng(0)
    with threadpoolctl.threadpool_limits(2):
        call(Watched(), rng.normal(size=(60, 2)), rng.integers(0, 2, 60))
        assert set(numbers()) == {2}
    assert Watched.seen == {1}
