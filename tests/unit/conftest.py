"""Assessments with answers known by hand, small real ones, and hostile ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.assessment.assessment import Assessment
from unseen.core.data import Data
from unseen.core.estimate import Estimate, Interval, ResubEstimate, Target
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.plan import Plan, Split

SMALL = "splits=5,repeats=2,bootstrap=20,leave_out=30,curve=2"


def table(y, tested, predicted, design="repeated-kfold", weights=None, groups=None, task="classification"):
    """Return losses where `tested[j]` are the test rows of split j and `predicted[j]` what its model said of them."""
    y = np.asarray(y)
    classes = np.unique(y) if task == "classification" else None
    columns = {k: None if v is None else np.asarray(v) for k, v in (("weights", weights), ("groups", groups))}
    data = Data(None, y, task, classes, **columns)
    rows = [np.asarray(t, dtype=np.int64) for t in tested]
    splits = tuple(Split(np.setdiff1d(np.arange(len(y)), t), t, repeat=0, fold=j) for j, t in enumerate(rows))
    value = np.concatenate([np.asarray(p) for p in predicted])
    if classes is not None:
        value = np.searchsorted(classes, value)
    split = np.repeat(np.arange(len(rows)), [len(t) for t in rows])
    plan = Plan(design, splits, data.units)
    return PredictionTable(
        plan=plan, data=data, test=Predictions(split=split, row=np.concatenate(rows), value=value)
    ).losses()


def assessment(losses, estimates=(), interval=(0.1, 0.3)):
    """Return an assessment around one table."""
    span = None if interval is None else Interval(*interval, 0.95)
    target = Target.ALGORITHM.at(90)
    head = Estimate(
        value=0.2,
        std_error=0.05,
        interval=span,
        df=24,
        method="corrected-t",
        target=target,
        loss=losses.loss,
        n_units=100,
        n_fits=25,
    )
    base = Estimate(
        value=0.5,
        std_error=0.05,
        interval=Interval(0.4, 0.6, 0.95),
        df=24,
        method="corrected-t",
        target=target,
        loss=losses.loss,
        n_units=100,
        n_fits=25,
    )
    design = losses.plan.design
    settings = {
        "seed": 0,
        "level": 0.95,
        "effort": {"splits": 25},
        "headline_design": design,
        "designs": {design: {}},
        "data_fingerprint": "f" * 16,
        "versions": {"unseen": "0"},
        "repeat": "unseen assess x.csv",
    }
    all_of_them = {e.method: e for e in (head, *estimates)}
    return Assessment(
        headline=head,
        estimates=all_of_them,
        baseline=base,
        tables={design: losses},
        data=losses.data,
        model="a model",
        settings=settings,
    )


@pytest.fixture(scope="session")
def make_table():
    return table


@pytest.fixture(scope="session")
def make_assessment():
    return assessment


@pytest.fixture
def by_hand(make_table, make_assessment):
    """Six rows of two classes, each tested twice; estimates of both targets, one with a Monte-Carlo error only."""
    losses = make_table(
        ["a", "a", "a", "b", "b", "b"],
        [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]],
        [["a", "a", "b", "b", "b", "a"], ["a", "b", "b", "b", "b", "b"]],
    )
    algorithm, model = Target.ALGORITHM, Target.MODEL
    more = [
        Estimate(
            value=0.25,
            std_error=None,
            interval=None,
            df=None,
            method="leave-out",
            target=algorithm.at(75),
            loss="zero-one",
            n_units=100,
            n_fits=200,
        ),
        Estimate(
            value=0.22,
            std_error=0.04,
            interval=Interval(0.14, 0.3, 0.95),
            df=None,
            method="nested",
            target=algorithm.at(80),
            loss="zero-one",
            n_units=100,
            n_fits=500,
        ),
        ResubEstimate(
            value=0.05,
            std_error=None,
            interval=None,
            df=None,
            method="bolster",
            target=model.at(100),
            loss="zero-one",
            n_units=100,
            n_fits=0,
            mc_error=0.02,
        ),
    ]
    return make_assessment(losses, more)


@pytest.fixture(scope="session")
def classified():
    X, y = unseen.datasets.load("iris").xy
    return unseen.assess(GaussianNB(), X, y, random_state=0, effort=SMALL)


@pytest.fixture(scope="session")
def regressed():
    X, y = unseen.datasets.load("diabetes").xy
    return unseen.assess(Ridge(), X, y, random_state=0, effort=SMALL)


SMALLEST = "splits=5,repeats=1,bootstrap=20,leave_out=20,curve=2"
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
    return unseen.assess(Hostile(), frame, y, random_state=0, effort=SMALLEST, ids=ids, command=command)


@pytest.fixture(scope="session")
def flaky(cases):
    X, code = cases
    return unseen.assess(Flaky(), X, np.array(["a", "b", "c"])[code], random_state=0, effort=SMALLEST)


@pytest.fixture(scope="session")
def plain(cases):
    X, code = cases
    return unseen.assess(GaussianNB(), X, np.array(["red", "green", "blue"])[code], random_state=0, effort=SMALLEST)


@pytest.fixture(scope="session")
def regression():
    X, y = unseen.datasets.load("diabetes").xy
    return unseen.assess(Ridge(), X, y, random_state=0, effort=SMALLEST)


@pytest.fixture
def undrawn(monkeypatch):
    """Put an empty picture for each figure of a report, for tests of its words."""
    monkeypatch.setattr("unseen.show.sections.responsive_svg", lambda one, numbers: "<svg></svg>")
