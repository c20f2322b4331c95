"""Many predictions lie in files without a name: the same numbers, nothing left behind, and a sentence if the disk is full."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unseen
from unseen.core.errors import NotWritten, Stopped
from unseen.engine.chunk import Outcome
from unseen.engine.outcomes import Outcomes

PARTS = ("test", "train", "full")
COLUMNS = ("split", "row", "value", "score", "count")


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """Put every table into files."""

    def lower(limit=0):
        monkeypatch.setattr("unseen.engine.outcomes.IN_MEMORY", limit)
        monkeypatch.setattr("unseen.engine.outcomes.PIECE", 3000)
        monkeypatch.setattr("unseen.core.losses.SCORES_AT_ONCE", 1000)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return lower


def is_mapped(array):
    while getattr(array, "base", None) is not None:
        array = array.base
    return isinstance(array, memoryview) or type(array).__name__ == "mmap"


def columns_of(table):
    return {
        (part, column): getattr(rows, column)
        for part in PARTS
        if (rows := getattr(table, part)) is not None
        for column in COLUMNS
        if getattr(rows, column) is not None
    }


def same(one, other):
    a, b = columns_of(one), columns_of(other)
    assert a.keys() == b.keys()
    for key in a:
        assert a[key].dtype == b[key].dtype, key
        assert np.array_equal(a[key], b[key]), key
    return b


class Single(DecisionTreeClassifier):
    """A tree whose probabilities have single precision, after which no number of eight bytes is aligned by itself."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float32)


RUNS = {
    "a tree's bootstrap, all parts": (DecisionTreeClassifier(random_state=0), "iris", unseen.designs.Bootstrap(12)),
    "single precision": (Single(random_state=0), "iris", unseen.designs.RepeatedKFold(5, 2)),
    "shared fits": (DecisionTreeClassifier(random_state=0), "iris", unseen.designs.LearningCurve(5, 2)),
    "numbers": (DecisionTreeRegressor(random_state=0), "diabetes", unseen.designs.RepeatedKFold(10, 2)),
    "algebra": (LinearRegression(), "diabetes", unseen.designs.RepeatedKFold(10, 2)),
}


@pytest.mark.parametrize("case", RUNS)
def test_the_same_table_in_memory_and_in_files(case, on_disk, tmp_path):
    model, name, design = RUNS[case]
    X, y = unseen.datasets.load(name).xy
    scores = name == "iris"

    def run():
        return unseen.run(model, X, y, design=design, random_state=1, train=True, full=True, scores=scores)

    here = run()
    assert not any(is_mapped(array) for array in columns_of(here).values())
    on_disk()
    there = run()
    assert all(is_mapped(array) for array in same(here, there).values())
    for loss in ("auto", *(("log-loss", "brier") if scores else ("absolute",))):
        if not (loss == "log-loss" and case == "single precision"):
            assert np.array_equal(here.losses(loss).test.value, there.losses(loss).test.value)
    again = unseen.load(there.save(tmp_path / "table"))
    same(here, again)
    assert [p.name for p in tmp_path.iterdir()] == ["table.npz"], "files have no name, so that none is left behind"


def test_an_assessment_gives_the_same_numbers(on_disk):
    X, y = unseen.datasets.load("iris").xy
    asked = {"random_state": 3, "effort": "repeats=2,bootstrap=20,leave_out=20", "measures": ["accuracy", "auc"]}
    here = unseen.assess("cart", X, y, **asked)
    on_disk(20_000)  # some tables are larger than that, and some are not
    there = unseen.assess("cart", X, y, **asked)
    kinds = {is_mapped(t.source[0].test.value) for t in there.tables.values()}
    assert kinds == {True, False}
    assert [(k, e.value, e.interval) for k, e in here.estimates.items()] == [
        (k, e.value, e.interval) for k, e in there.estimates.items()
    ]
    assert here.also["auc"].interval == there.also["auc"].interval


def test_a_comparison_gives_the_same_numbers(on_disk):
    X, y = unseen.datasets.load("breast-cancer").xy
    here = unseen.compare("cart", "lda", X, y, cv=5, random_state=0).frame()
    on_disk()
    assert here.equals(unseen.compare("cart", "lda", X, y, cv=5, random_state=0).frame())


def test_memory_waits_for_the_limit_and_files_end_with_their_arrays(on_disk):
    on_disk(10_000)
    kept = Outcomes()
    before = _descriptors()
    values = [np.arange(500) + j for j in range(40)]  # 4,000 bytes each
    for j, value in enumerate(values):
        kept.add(Outcome(index=j, seconds=0.0, test=value, test_score=np.full((500, 1), j, dtype=np.float32)))
        assert (kept.on_disk > 0) == (j >= 1), "6,000 bytes each: the second is beyond 10,000"
    assert kept.on_disk == 40 * 6000
    for j, value in enumerate(values):
        assert np.array_equal(kept[j].test, value)
        assert kept[j].test.flags.aligned
        assert kept[j].test_score[0, 0] == j
    assert _descriptors() > before
    del kept
    gc.collect()
    assert _descriptors() == before


def _descriptors():
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0


def test_a_few_files_even_of_many_bytes(on_disk):
    on_disk(0)
    kept = Outcomes()
    for j in range(2000):
        kept.add(Outcome(index=j, seconds=0.0, test=np.full(400, j)))
    files = {id(_base(kept[j].test)) for j in range(2000)}
    assert len(files) < 800, "3,200 bytes are more than a piece of 3,000 has, and pieces grow"
    assert all(kept[j].test[0] == j for j in range(2000))


def _base(array):
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


class Interrupted(DecisionTreeClassifier):
    """Ctrl-C in the eighth fit."""

    count = 0

    def fit(self, X, y):
        type(self).count += 1
        if type(self).count == 8:
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_an_interrupt_keeps_what_lies_in_files(on_disk, monkeypatch):
    monkeypatch.setattr(Interrupted, "count", 0)
    monkeypatch.setattr("unseen.engine.joblib_.SERIAL_CHUNK_SECONDS", 0.0)
    on_disk()
    X, y = unseen.datasets.load("iris").xy
    with pytest.raises(Stopped) as caught:
        unseen.run(Interrupted(), X, y, design=unseen.designs.RepeatedKFold(5, 2), random_state=0)
    table = caught.value.table
    assert is_mapped(table.test.value)
    assert len(table.plan) == 7
    assert len(table.test) == 150 + 60


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said(on_disk, monkeypatch):
    on_disk()
    X, y = unseen.datasets.load("iris").xy
    with Path("/dev/full").open("r+b") as full:
        monkeypatch.setattr("tempfile.TemporaryFile", lambda prefix: full)
        with pytest.raises(NotWritten, match=r"too many for memory.*set TMPDIR to a folder with room"):
            unseen.run("cart", X, y, random_state=0)
