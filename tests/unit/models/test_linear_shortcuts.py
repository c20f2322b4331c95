"""The shortcuts against refitting, to 1e-9 of the target's spread, and everything they must decline."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

import unseen
from unseen.core.plan import Split
from unseen.core.rng import stream
from unseen.datasets import as_data
from unseen.designs import Bootstrap, KFold, LeaveOut
from unseen.engine.fits import ManyFits
from unseen.models.exact.hat import factorize, held_out_residuals
from unseen.models.exact.least_squares import LeastSquares
from unseen.models.exact.ridge import RidgeRegression
from unseen.models.sklearn import as_model

EXACT = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    make_pipeline(StandardScaler(), LinearRegression()),
    make_pipeline(MinMaxScaler(), RobustScaler(), LinearRegression()),
    make_pipeline(MaxAbsScaler(), LinearRegression(fit_intercept=False)),
    make_pipeline("passthrough", StandardScaler(with_mean=False), LinearRegression(fit_intercept=False)),
    Ridge(3.0),
    Ridge(3.0, fit_intercept=False),
    Ridge(0.0),
    Ridge(2.0, solver="svd"),
    make_pipeline(StandardScaler(with_std=False), Ridge(3.0)),
    make_pipeline(StandardScaler(), Ridge(3.0)),
    make_pipeline(MinMaxScaler(), StandardScaler(), Ridge(3.0)),
]
DECLINED = [
    LinearRegression(positive=True),
    make_pipeline(StandardScaler(), LinearRegression(fit_intercept=False)),
    make_pipeline(PolynomialFeatures(2), LinearRegression()),
    make_pipeline(MinMaxScaler(clip=True), LinearRegression()),
    make_pipeline(RobustScaler(), Ridge(3.0)),
    make_pipeline(StandardScaler(with_std=False), Ridge(3.0, fit_intercept=False)),
    Ridge(1.0, solver="lsqr"),
    Ridge(1.0, positive=True),
    type("Mine", (LinearRegression,), {})(),
]


def sample(n=60, p=5, seed=0, weights=False):
    rng = np.random.default_rng(seed)
    X = 10 + rng.standard_normal((n, p)) * np.array([1, 100, 0.01, 3, 1])[:p]
    y = 5 + X @ rng.standard_normal(p) + rng.standard_normal(n)
    return as_data(X, y, task="regression", sample_weight=rng.uniform(0.2, 3, n) if weights else None)


def all_rows(data, splits):
    J, n = len(splits), data.n
    fit, row = np.repeat(np.arange(J), n), np.tile(np.arange(n), J)
    return ManyFits(data=data, train=[s.train for s in splits], fit=fit, row=row)


def answered(estimator, data, splits):
    """Predictions for all rows; those of fits that the shortcut leaves to refitting are refitted. None if it declines."""
    model = as_model(estimator)
    for shortcut in (LeastSquares(), RidgeRegression()):
        answer = shortcut.fit_many(model, all_rows(data, splits)) if shortcut.knows(model, data) else None
        if answer is not None and answer.safe.any():
            values = answer.values.reshape(len(splits), data.n)
            for j in np.flatnonzero(~answer.safe):
                values[j] = model.fit(data.take(splits[j].train), 0).predict(data.X)
            return values
    return None


def refitted(estimator, data, splits):
    model = as_model(estimator)
    return np.stack([model.fit(data.take(s.train), 0).predict(data.X) for s in splits])


@pytest.mark.parametrize("estimator", EXACT, ids=lambda e: " ".join(repr(e).split()))
@pytest.mark.parametrize("design", [KFold(10), LeaveOut(0.25, 20), LeaveOut(0.02, 20), Bootstrap(20)], ids=repr)
@pytest.mark.parametrize("weights", [False, True])
def test_predictions_equal_refitting(estimator, design, weights):
    data = sample(weights=weights)
    splits = [*design.plan(data, stream(0, "x")), Split(np.arange(data.n), np.zeros(0, np.int64))]
    ours = answered(estimator, data, splits)
    assert ours is not None
    assert np.abs(ours - refitted(estimator, data, splits)).max() < 1e-9 * data.y.std()


@pytest.mark.parametrize("estimator", DECLINED, ids=lambda e: " ".join(repr(e).split()))
def test_declines_what_is_not_exact(estimator):
    data = sample()
    assert answered(estimator, data, list(KFold(5).plan(data, stream(0, "x")))) is None


def test_declines_classes_sparse_single_precision_text_and_zero_weights():
    from scipy.sparse import csr_matrix

    data = sample()
    splits = list(KFold(5).plan(data, stream(0, "x")))
    frame = pd.DataFrame({"a": data.X[:, 0], "b": ["u", "v"] * 30})
    others = [
        as_data(data.X, data.y > data.y.mean()),
        as_data(csr_matrix(data.X), data.y, task="regression"),
        as_data(data.X.astype(np.float32), data.y, task="regression"),
        as_data(frame, data.y, task="regression"),
        as_data(data.X, data.y, task="regression", sample_weight=np.r_[0.0, np.ones(59)]),
        as_data(np.c_[data.X, data.X[:, 0]], data.y, task="regression"),
        as_data(np.c_[data.X, np.full(60, 5.1)], data.y, task="regression"),
        as_data(np.where(np.eye(60, 5) > 0, np.nan, data.X), data.y, task="regression"),
    ]
    assert all(answered(LinearRegression(), one, splits) is None for one in others)


def test_a_frame_of_numbers_is_answered():
    data = sample()
    frame = as_data(pd.DataFrame(data.X, columns=list("abcde")), data.y, task="regression")
    splits = list(KFold(5).plan(frame, stream(0, "x")))
    assert np.allclose(answered(LinearRegression(), frame, splits), refitted(LinearRegression(), frame, splits))


def test_training_parts_that_hardly_determine_the_weights_are_refitted():
    data = sample(p=2)
    rare = np.zeros(data.n)
    rare[:3] = 1.0
    data = as_data(np.c_[data.X, rare], data.y, task="regression")
    splits = list(KFold(10).plan(data, stream(0, "x")))
    lost = Split(np.arange(3, data.n), np.arange(3))
    got = answered(LinearRegression(), data, [*splits, lost])
    assert np.abs(got - refitted(LinearRegression(), data, [*splits, lost])).max() < 1e-9 * data.y.std()
    assert answered(LinearRegression(), data, [lost]) is None


def test_small_training_parts_are_exact_too():
    data = sample(n=80)
    splits = list(LeaveOut(0.8, 20).plan(data, stream(1, "x")))
    ours = answered(LinearRegression(), data, splits)
    assert np.abs(ours - refitted(LinearRegression(), data, splits)).max() < 1e-8 * data.y.std()


def test_the_engine_uses_the_shortcut_and_says_the_same():
    data = unseen.datasets.load("diabetes")
    design = LeaveOut(0.25, 300)
    start = time.process_time()
    quick = unseen.run(LinearRegression(), data, design=design, train=True, random_state=0)
    taken = time.process_time() - start
    slow = unseen.run(
        type("Plain", (LinearRegression,), {})(), data, design=LeaveOut(0.25, 300), train=True, random_state=0
    )
    assert quick.plan.fingerprint == slow.plan.fingerprint
    assert np.abs(quick.test.value - slow.test.value).max() < 1e-9 * data.y.std()
    assert np.abs(quick.train.value - slow.train.value).max() < 1e-9 * data.y.std()
    assert quick.seconds.sum() == 0
    assert taken < 2.0


def test_held_out_residuals_of_many_data_sets_at_once():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((4, 20, 3)), rng.standard_normal((4, 20))
    hat = X @ np.linalg.solve(X.transpose(0, 2, 1) @ X, X.transpose(0, 2, 1))
    left = np.stack([[rng.permutation(20)[:5] for _ in range(6)] for _ in range(4)])
    ours = held_out_residuals(hat, y - (hat @ y[..., None])[..., 0], left)
    for d in range(4):
        for j in range(6):
            keep = np.setdiff1d(np.arange(20), left[d, j])
            weights = np.linalg.lstsq(X[d, keep], y[d, keep], rcond=None)[0]
            assert ours[d, j] == pytest.approx(y[d, left[d, j]] - X[d, left[d, j]] @ weights, abs=1e-10)


def test_leave_one_out_has_the_known_closed_form():
    data = sample(p=3)
    Z = np.c_[np.ones(data.n), data.X]
    hat = Z @ np.linalg.inv(Z.T @ Z) @ Z.T
    loo = (data.y - hat @ data.y) / (1 - np.diag(hat))
    fit = factorize(data.X, data.y[:, None], 0.0, True, None)
    rows = np.arange(data.n)
    fits = ManyFits(data=data, train=[np.delete(rows, i) for i in rows], fit=rows, row=rows)
    values, safe = fit.predictions(fits)
    assert safe.all()
    assert data.y - values[:, 0] == pytest.approx(loo, abs=1e-6)
