"""The engine: same numbers whatever the workers, failures as rows, probes kept, models untouched."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import FitError, InputError


class FailsOnFirstRow(ClassifierMixin, BaseEstimator):
    """Fails whenever row 0 (marked by a huge value) is in the training part."""

    def fit(self, X, y):
        if np.any(X[:, 0] > 1e6):
            raise RuntimeError("row 0 is poison\nsecond line")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class GlobalNoise(ClassifierMixin, BaseEstimator):
    """Draws from numpy's global state, as old code does."""

    def fit(self, X, y):
        self.labels_ = np.unique(y)
        self.flip_ = np.random.rand()  # noqa: NPY002
        return self

    def predict(self, X):
        return self.labels_[(np.abs(X[:, 0] * 1e3 * self.flip_).astype(int)) % len(self.labels_)]


class InventsLabel(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), "nothing")


@pytest.fixture(scope="module")
def iris():
    return unseen.datasets.load("iris").xy


def test_test_errors_are_those_of_a_bare_loop(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SVC())
    t = unseen.run(model, X, y, design=unseen.designs.MonteCarlo(0.2, 7), train=True, random_state=3)
    for j, split in enumerate(t.plan):
        fitted = clone(model).fit(X[split.train], y[split.train])
        assert t.losses().split_means()[j] == pytest.approx(
            np.mean(fitted.predict(X[split.test]) != y[split.test]), abs=1e-15
        )
        assert t.losses().train_errors()[j] == pytest.approx(
            np.mean(fitted.predict(X[split.train]) != y[split.train]), abs=1e-15
        )


def test_bootstrap_training_error_counts_repeats(iris):
    X, y = iris
    model = DecisionTreeClassifier(max_depth=1, random_state=0)
    t = unseen.run(model, X, y, design="bootstrap", train=True, random_state=1)
    split = t.plan.splits[4]
    fitted = clone(model).fit(X[split.train], y[split.train])
    by_hand = np.mean(fitted.predict(X[split.train]) != y[split.train])
    assert len(np.unique(split.train)) < len(split.train)
    assert t.losses().train_errors()[4] == pytest.approx(by_hand, abs=1e-15)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(max_features=1), GlobalNoise()], ids=["unset-seed", "global-state"]
)
def test_same_seed_same_numbers_and_global_state_untouched(model, iris):
    X, y = iris
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a = unseen.run(model, X, y, design="bootstrap", random_state=0).losses().dense()
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    b = unseen.run(model, X, y, design="bootstrap", random_state=0).losses().dense()
    c = unseen.run(model, X, y, design="bootstrap", random_state=1).losses().dense()
    assert np.array_equal(a, b, equal_nan=True)
    assert not np.array_equal(a, c, equal_nan=True)


@pytest.mark.slow
@pytest.mark.sample
def test_numbers_do_not_depend_on_workers(iris, monkeypatch):
    X, y = iris
    monkeypatch.setattr("unseen.engine.joblib_.WORTH_STARTING_WORKERS", 0.0)
    runs = [
        unseen.run(
            DecisionTreeClassifier(max_features=2),
            X,
            y,
            design="leave-out",
            random_state=0,
            n_jobs=n,
            train=True,
            scores=True,
        )
        for n in (1, 2)
    ]
    assert np.array_equal(runs[0].test.value, runs[1].test.value)
    assert np.array_equal(runs[0].test.score, runs[1].test.score)
    assert np.array_equal(runs[0].train.value, runs[1].train.value)


def _who(fitted, train, test):
    """Say which process fits, and whether the data that it takes parts of are a map of a file."""
    here = sys._getframe(1)
    while "split" not in here.f_locals or "data" not in here.f_locals:
        here = here.f_back
    return os.getpid(), isinstance(here.f_locals["data"].X, np.memmap)


@pytest.mark.slow
@pytest.mark.sample
def test_workers_stay_warm_between_calls_and_map_the_data(monkeypatch):
    monkeypatch.setattr("unseen.engine.joblib_.WORTH_STARTING_WORKERS", 0.0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 40)), rng.integers(0, 2, 4000)
    found = []
    for seed in (0, 1):
        t = unseen.run(GaussianNB(), X, y, design="kfold", random_state=seed, n_jobs=2, probes={"who": _who})
        found.append({who for who in t.probe("who") if who[0] != os.getpid()})
    assert found[0]
    assert {pid for pid, _ in found[1]} <= {pid for pid, _ in found[0]}, "new workers were started"
    assert all(mapped for one in found for _, mapped in one), "each worker has a copy"


def test_model_is_never_changed(iris):
    X, y = iris
    model = DecisionTreeClassifier()
    before = vars(model).copy()
    unseen.run(model, X, y, random_state=0)
    assert vars(model) == before


def test_some_failed_fits_become_rows_with_a_reason(iris):
    X, y = iris
    X = X.copy()
    X[0, 0] = 1e7
    t = unseen.run(FailsOnFirstRow(), X, y, design=unseen.designs.MonteCarlo(0.2, 20), random_state=0)
    with_poison = [j for j, s in enumerate(t.plan) if 0 in s.train]
    assert [f.split for f in t.failures] == with_poison
    assert t.failures[0].reason == "RuntimeError: row 0 is poison"
    assert len(t.losses().split_means()) == 20 - len(with_poison)
    e = unseen.estimate(t, method="corrected-t")
    assert [n.code for n in e.notes] == ["U008"]
    assert f"{len(with_poison)} of 20 fits failed" in e.notes[0].text


def test_all_failed_is_an_error_with_the_first_reason(iris):
    X, y = iris
    X = X + 1e8
    with pytest.raises(FitError, match=r"all 10 fits failed.*row 0 is poison"):
        unseen.run(FailsOnFirstRow(), X, y, random_state=0)


def test_unknown_labels_are_failures(iris):
    with pytest.raises(FitError, match="'nothing', which is not a label"):
        unseen.run(InventsLabel(), *iris, random_state=0)


def test_probes_see_the_fit_and_its_parts(iris):
    X, y = iris
    probes = {"depth": lambda fitted, train, test: (fitted.native.get_depth(), train.n, test.n)}
    t = unseen.run(DecisionTreeClassifier(random_state=0), X, y, probes=probes, random_state=0)
    direct = [DecisionTreeClassifier(random_state=0).fit(X[s.train], y[s.train]).get_depth() for s in t.plan]
    assert [row[0] for row in t.probe("depth")] == direct
    assert all(row[1:] == (135, 15) for row in t.probe("depth"))
    with pytest.raises(InputError, match="did you mean 'depth'"):
        t.probe("dept")


def test_scikit_learn_splitter_gives_scikit_learns_scores(iris):
    from sklearn.model_selection import ShuffleSplit

    X, y = iris
    cv = ShuffleSplit(6, test_size=0.3, random_state=2)
    ours = unseen.run(SVC(), X, y, design=cv, random_state=0).losses().split_means()
    assert ours == pytest.approx(1 - cross_val_score(SVC(), X, y, cv=cv), abs=1e-12)


def test_parallel_config_is_honoured(iris, monkeypatch):
    import joblib

    X, y = iris
    monkeypatch.setattr("unseen.engine.joblib_.WORTH_STARTING_WORKERS", 0.0)
    alone = (
        unseen.run(DecisionTreeClassifier(random_state=0), X, y, design="leave-out", random_state=0).losses().dense()
    )
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert joblib.effective_n_jobs(None) == 2
        threaded = (
            unseen.run(DecisionTreeClassifier(random_state=0), X, y, design="leave-out", random_state=0)
            .losses()
            .dense()
        )
    assert np.array_equal(alone, threaded, equal_nan=True)
