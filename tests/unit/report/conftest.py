"""Reports of small assessments, hostile ones included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import unseen

SMALL = "splits=5,repeats=1,bootstrap=20,leave_out=20,curve=2"
HOSTILE = "<script>alert('{}')</script> \"&\" $x_1$ <!-- "


class Hostile(GaussianNB):
    """A model whose name is an attack."""

    def __repr__(self, **options):
        return HOSTILE.format("model") + "y" * 200


class Flaky(ClassifierMixin, BaseEstimator):
    """Fails on about half of the training sets."""

    def fit(self, X, y):
        if int(1e6 * X[:, 0].sum()) % 2:
            raise ValueError("<b>singular</b> matrix & more")
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.fixture(scope="session")
def cases():
    """Return three noisy classes in three columns."""
    rng = np.random.default_rng(5)
    code = np.arange(90) % 3
    return rng.normal(size=(90, 3)) + 1.5 * np.eye(3)[code], code


@pytest.fixture(scope="session")
def hostile(cases):
    X, code = cases
    frame = pd.DataFrame(X, columns=[HOSTILE.format(f"column {k}") for k in range(3)])
    y = pd.Series(np.array([HOSTILE.format(f"label {k}") for k in range(3)])[code], name=HOSTILE.format("target"))
    ids = [HOSTILE.format(f"id {k}") for k in range(90)]
    command = "unseen assess '" + HOSTILE.format("file") + ".csv'"
    return unseen.assess(Hostile(), frame, y, random_state=0, effort=SMALL, ids=ids, command=command)


@pytest.fixture(scope="session")
def flaky(cases):
    X, code = cases
    return unseen.assess(Flaky(), X, np.array(["a", "b", "c"])[code], random_state=0, effort=SMALL)


@pytest.fixture(scope="session")
def plain(cases):
    X, code = cases
    return unseen.assess(GaussianNB(), X, np.array(["red", "green", "blue"])[code], random_state=0, effort=SMALL)


@pytest.fixture(scope="session")
def regression():
    X, y = unseen.datasets.load("diabetes").xy
    return unseen.assess(Ridge(), X, y, random_state=0, effort=SMALL)
