"""One row left out, folds and random parts by products of rows: near-singular data, far classes, and where refitting takes over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen.core.data import Data
from unseen.core.errors import FitError
from unseen.core.plan import Plan
from unseen.designs import KFold, LeaveOneOut, LeaveOut
from unseen.engine.fits import ManyFits
from unseen.engine.run import execute
from unseen.models.exact.hat import factorize
from unseen.models.exact.learner import decide
from unseen.models.exact.sums import largest_sizes, move_to_centre
from unseen.models.sklearn import as_model

CLASSIFIERS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.2),
    RidgeClassifier(),
    GaussianNB(),
    NearestCentroid(),
]
REGRESSIONS = [LinearRegression(), LinearRegression(fit_intercept=False), Ridge(0.5), Ridge(1e-9)]


def classes(n=60, p=4, K=3, seed=0, near=0.0, offset=0.0, apart=1.0):
    """Rows of K classes; the last column is the first one and some noise, if `near` is its size."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), np.arange(K), rng.integers(0, K, n - 2 * K)])
    X = rng.standard_normal((n, p)) + apart * y[:, None] * (np.arange(p) < 2)
    if near:
        X[:, -1] = X[:, 0] + near * rng.standard_normal(n)
    return Data(X + offset, y, "classification", np.arange(K))


def numbers(n=60, p=4, seed=0, near=0.0, weights=False):
    rng = np.random.default_rng(seed)
    X = 3 + rng.standard_normal((n, p))
    if near:
        X[:, -1] = X[:, 0] + near * rng.standard_normal(n)
    y = X @ rng.standard_normal(p) + rng.standard_normal(n)
    return Data(X, y, "regression", weights=rng.uniform(0.3, 2, n) if weights else None)


def run(model, data, plan, scores, shortcuts):
    """Return the table, or what is said if no fit succeeds."""
    try:
        return execute(as_model(model), data, plan, seed=1, scores=scores, shortcuts=shortcuts)
    except FitError as error:
        return str(error)


def check(model, data, plan, scores=False):
    """Demand the test predictions of refitting; training predictions are not asked for, which is another path."""
    quick, slow = (run(model, data, plan, scores, shortcuts) for shortcuts in (True, False))
    if isinstance(quick, str) or isinstance(slow, str):
        assert quick == slow
        return None
    assert np.array_equal(quick.test.row, slow.test.row)
    assert quick.failures == slow.failures
    if data.task == "classification":
        assert np.array_equal(quick.test.value, slow.test.value)
    else:
        assert np.allclose(quick.test.value, slow.test.value, rtol=1e-7, atol=1e-7 * data.y.std())
    if scores:
        assert np.allclose(quick.test.score, slow.test.score, rtol=1e-6, atol=1e-7)
    return quick


def shuffled(plan, seed=0):
    """The same splits in another order, as splits of a user: no row stands in its own place."""
    order = np.random.default_rng(seed).permutation(len(plan))
    return Plan("splits", tuple(plan.splits[int(j)] for j in order), plan.units)


PLANS = [LeaveOneOut(), KFold(7, stratify=False), LeaveOut(0.4, 9)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda d: d.id)
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: repr(m)[:50])
def test_classes(model, K, plan):
    data = classes(K=K)
    made = plan.plan(data, np.random.default_rng(0))
    scores = not isinstance(model, NearestCentroid)
    check(model, data, made, scores)
    check(model, data, shuffled(made), scores)


@pytest.mark.parametrize("plan", PLANS, ids=lambda d: d.id)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("model", REGRESSIONS, ids=repr)
def test_numbers(model, weights, plan):
    data = numbers(weights=weights)
    made = plan.plan(data, np.random.default_rng(0))
    assert not check(model, data, made).seconds.any()
    check(model, data, shuffled(made))


@pytest.mark.parametrize("near", [0.3, 1e-2, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("model", CLASSIFIERS[:3], ids=lambda m: repr(m)[:50])
def test_columns_that_nearly_depend_on_each_other(model, near):
    """From some point on the algebra hands over to refitting, and never gives another class."""
    data = classes(K=2, near=near, n=80)
    for design in PLANS:
        table = check(model, data, design.plan(data, np.random.default_rng(0)))
        if near > 0.1:
            assert not table.seconds.any()
        if near < 1e-4:
            assert table is None or table.seconds.all()


@pytest.mark.parametrize("near", [0.3, 3e-2, 1e-3, 1e-4, 1e-6, 1e-9])
def test_least_squares_keeps_its_digits(near):
    """Cholesky factors once, twice, reflections and refitting: each where the one before loses digits."""
    data = numbers(n=90, near=near)
    for design in PLANS:
        check(LinearRegression(), data, design.plan(data, np.random.default_rng(0)))
    fit = factorize(data.X, data.y[:, None], 0.0, True, None)
    if fit is not None:
        assert np.allclose(fit.rows.T @ fit.rows, np.eye(5), atol=1e-12)
        Q = np.linalg.qr(np.column_stack([np.ones(90), data.X - data.X.mean(axis=0)]))[0]
        assert np.allclose((fit.rows**2).sum(axis=1), (Q**2).sum(axis=1), atol=1e-14 / near)


@pytest.mark.parametrize("tol", [1e-6, 1e-3, 0.2])
@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e-7])
def test_a_direction_that_scikit_learn_drops_is_left_to_it(tol, unit):
    """Its `tol` is a share of the largest singular value, so that a column in tiny units counts for nothing."""
    data = numbers()
    data = replace(data, X=data.X * np.array([1, 1, 1, unit]))
    for design in PLANS:
        plan = design.plan(data, np.random.default_rng(0))
        table = check(LinearRegression(tol=tol), data, plan)
        check(make_pipeline(StandardScaler(), LinearRegression(tol=tol)), data, plan)
        assert table.seconds.any() == (unit < 100 * tol)


def test_a_penalty_stands_in_the_rows():
    data = numbers()
    fit = factorize(data.X, data.y[:, None], 7.0, True, None)
    X = np.column_stack([np.ones(data.n), data.X - data.X.mean(axis=0)])
    hat = X @ np.linalg.solve(X.T @ X + np.diag([0.0, 7, 7, 7, 7]), X.T)
    assert np.allclose(fit.rows @ fit.rows.T, hat, atol=1e-12)


@pytest.mark.parametrize("apart", [30.0, 1e4])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("model", CLASSIFIERS[:3], ids=lambda m: repr(m)[:50])
def test_classes_far_from_each_other_and_from_zero(model, apart, offset):
    data = classes(apart=apart, offset=offset)
    for design in PLANS[:2]:
        check(model, data, design.plan(data, np.random.default_rng(0)))


@pytest.mark.parametrize("model", CLASSIFIERS[:3], ids=lambda m: repr(m)[:50])
def test_a_row_that_alone_gives_a_column_its_spread(model):
    """Without that row the column is constant, which is for scikit-learn to judge."""
    data = classes(K=2)
    X = data.X.copy()
    X[:, 3] = 0.7
    X[5, 3] = 9.0
    data = replace(data, X=X)
    for design in PLANS[:2]:
        check(model, data, design.plan(data, np.random.default_rng(0)))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: repr(m)[:50])
def test_a_class_of_one_or_two_rows(model):
    data = classes(K=2)
    y = np.zeros(data.n, dtype=int)
    for rare in ([3, 9], [4]):
        y[:] = data.y
        y[rare] = 2
        sample = replace(data, y=y.copy(), classes=np.arange(3))
        check(model, sample, LeaveOneOut().plan(sample, np.random.default_rng(0)))
        check(model, sample, shuffled(KFold(6, stratify=False).plan(sample, np.random.default_rng(0))))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(14, 50),
    p=st.integers(1, 5),
    K=st.integers(2, 4),
    number=st.integers(0, 6),
    design=st.sampled_from(PLANS),
    near=st.sampled_from([0.0, 0.1, 1e-3, 1e-6]),
    step=st.sampled_from([0.0, 0.5]),
)
def test_any_classes(seed, n, p, K, number, design, near, step):
    data = classes(n=n, p=p, K=K, seed=seed, near=near if p > 1 else 0.0)
    if step:  # ties and copies of rows
        data = replace(data, X=step * np.round(data.X / step))
    check(
        CLASSIFIERS[number], data, shuffled(design.plan(replace(data, task="regression"), np.random.default_rng(seed)))
    )


def test_a_lead_of_two_classes_is_judged_as_that_of_more():
    rng = np.random.default_rng(0)
    joint = rng.standard_normal((12, 2))
    joint[1] = joint[1, 0]
    joint[2] = -np.inf, 0.3
    joint[3] = -np.inf
    joint[4] = np.nan, 1.0
    joint[5, 1] = joint[5, 0] + 1e-12
    X = np.zeros((12, 1))
    rows = np.arange(12)
    fits = ManyFits(data=Data(X, rows % 2, "classification", np.arange(2)), train=[rows] * 12, fit=rows, row=rows)
    with np.errstate(all="ignore"):  # as in every shortcut
        two = decide(fits, joint, 1e-9, np.ones(12, bool))
        more = decide(fits, np.column_stack([joint, np.full(12, -np.inf)]), 1e-9, np.ones(12, bool))
    assert two.safe.tolist() == [True, False, True, False, False, False] + [True] * 6
    # the third class, which no fit has seen, only makes a lead sure
    assert np.array_equal(two.values[two.safe], more.values[two.safe])


def test_the_centre_of_what_does_not_vary_is_its_value():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.full(7, 0.1), 1e8 + rng.standard_normal(7)])
    for weights in (None, rng.uniform(0.1, 2, 7)):
        away = rows.copy()
        centre = move_to_centre(away, weights)
        assert not away[:, 0].any()
        assert centre[0] == 0.1
        assert np.isclose(centre[1], np.average(rows[:, 1], weights=weights), rtol=1e-15)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1000, 20), (513, 7), (5, 700)])
def test_largest_sizes(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    assert np.array_equal(largest_sizes(X), np.abs(X).max(axis=0))
