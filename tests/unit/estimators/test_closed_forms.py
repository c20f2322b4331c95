"""FPE, its law, GCV, GPE, NIC and the VC bound against formulas written out, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeCV,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, NotApplicable
from unseen.estimators.vc_bound import vc_radius

rng = np.random.default_rng(5)
N, D = 40, 4
X = rng.standard_normal((N, D)) + 1.0
Y = X @ [1.0, 0.5, 0.0, -1.0] + 2.0 + rng.standard_normal(N)
LABELS = (np.median(Y) < Y).astype(int)


def hat(Z, penalty=0.0, intercept=True):
    """The hat matrix written out: intercept plus (penalised) projection on centred columns."""
    Zc = Z - Z.mean(axis=0) if intercept else Z
    inner = Zc @ np.linalg.inv(Zc.T @ Zc + penalty * np.eye(Z.shape[1])) @ Zc.T
    return inner + (1 / len(Z) if intercept else 0.0)


def value(model, method, y=Y, **options):
    return unseen.estimate(model, X, y, method=method, random_state=0, **options).value


@pytest.mark.parametrize("intercept", [True, False])
def test_fpe_by_hand(intercept):
    H = hat(X, intercept=intercept)
    s = np.mean((Y - H @ Y) ** 2)
    p = D + intercept
    model = LinearRegression(fit_intercept=intercept)
    assert value(model, "fpe") == pytest.approx(s * (N + p) / (N - p), rel=1e-10)
    s2 = s * N / (N - p)
    assert value(model, "fpe", scale="log1p") == pytest.approx(np.log(1 + s2) + s2 * p / ((1 + s2) * N), rel=1e-10)


def test_fpe_counts_what_the_last_step_sees():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), LinearRegression())
    Z = model.fit(X, Y)[:-1].transform(X)
    s, p = np.mean((Y - model.predict(X)) ** 2), 1 + 14
    assert Z.shape[1] == 14
    assert value(model, "fpe") == pytest.approx(s * (N + p) / (N - p), rel=1e-9)


def test_fpe_counts_a_repeated_column_once():
    twice = np.column_stack([X, X[:, 0]])
    a = unseen.estimate(LinearRegression(), twice, Y, method="fpe", random_state=0).value
    assert a == pytest.approx(value(LinearRegression(), "fpe"), rel=1e-9)


def test_fpe_and_gpe_have_the_right_mean():
    """Fixed inputs, sigma = 1: E FPE = 1 + p/N exactly; 4,000 noise draws, bound four standard errors."""
    fixed = np.random.default_rng(1).standard_normal((25, 3))
    H = hat(fixed)
    noise = np.random.default_rng(2).standard_normal((4000, 25))
    draws = np.mean((noise - noise @ H) ** 2, axis=1) * (25 + 4) / (25 - 4)
    assert draws.mean() == pytest.approx(1 + 4 / 25, abs=4 * draws.std() / np.sqrt(4000))
    for y, wanted in zip(noise[:3], draws):
        assert unseen.estimate(LinearRegression(), fixed, y, method="fpe").value == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_ridge_forms_by_hand(alpha):
    H = hat(X, alpha)
    s, p, p2 = np.mean((Y - H @ Y) ** 2), np.trace(H), np.trace(H @ H)
    assert p2 < p < D + 1
    assert value(Ridge(alpha), "gcv") == pytest.approx(s / (1 - p / N) ** 2, rel=1e-10)
    assert value(Ridge(alpha), "gpe") == pytest.approx(s * (N + p) / (N - p), rel=1e-10)
    assert value(Ridge(alpha), "gpe", form="fper") == pytest.approx(s * (N + p2) / (N - 2 * p + p2), rel=1e-10)
    leave = np.eye(N) - H
    assert np.trace(leave @ leave) == pytest.approx(N - 2 * p + p2)  # N E[S_N] / sigma^2 of a biasless smoother
    assert value(RidgeCV([alpha]), "gcv") == pytest.approx(value(Ridge(alpha), "gcv"), rel=1e-9)


def test_gcv_is_leave_one_out_where_leverages_are_equal():
    """Cosines on a circle have equal leverages; then GCV and leave-one-out agree exactly."""
    angle = 2 * np.pi * np.arange(24) / 24
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    y = np.random.default_rng(0).standard_normal(24)
    for model in (LinearRegression(), Ridge(3.0)):
        gcv = unseen.estimate(model, circle, y, method="gcv", random_state=0, task="regression").value
        H = hat(circle, getattr(model, "alpha", 0.0))
        assert gcv == pytest.approx(np.mean(((y - H @ y) / (1 - np.diag(H))) ** 2), rel=1e-10)
    loo = unseen.estimate(LinearRegression(), circle, y, method="loo", random_state=0, task="regression").value
    assert unseen.estimate(LinearRegression(), circle, y, method="gcv", task="regression").value == pytest.approx(loo)


def test_nic_of_least_squares_by_hand():
    """tr(V Q^-1)/N is (2/N) sum e_i^2 h_i: gradient -2 e z, Hessian 2 Z'Z/N."""
    H = hat(X)
    e = Y - H @ Y
    assert value(LinearRegression(), "nic") == pytest.approx(
        np.mean(e**2) + 2 / N * np.sum(e**2 * np.diag(H)), rel=1e-10
    )


def logistic_pieces(w, Z, y):
    p = 1 / (1 + np.exp(-Z @ w))
    return -np.mean(np.log(np.where(y == 1, p, 1 - p)))


@pytest.mark.parametrize("C", [np.inf, 0.3])
def test_nic_of_logistic_regression_by_finite_differences(C):
    """Gradients and Hessian of the penalised log loss by central differences instead of formulas."""
    model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
    noisy = np.where(np.arange(N) % 4 == 0, 1 - LABELS, LABELS)
    fitted = model.fit(X, noisy)
    w = np.concatenate([fitted.intercept_, fitted.coef_[0]])
    Z = np.column_stack([np.ones(N), X])
    ridge = 0.0 if np.isinf(C) else 1 / (C * N)

    def objective(v):
        return logistic_pieces(v, Z, noisy) + ridge * np.sum(v[1:] ** 2) / 2

    step, size = 1e-4, len(w)
    unit = np.eye(size) * step
    gradients = np.array(
        [
            [
                (
                    logistic_pieces(w + u, Z[i : i + 1], noisy[i : i + 1])
                    - logistic_pieces(w - u, Z[i : i + 1], noisy[i : i + 1])
                )
                / (2 * step)
                for u in unit
            ]
            for i in range(N)
        ]
    )
    hessian = np.array(
        [
            [
                (objective(w + a + b) - objective(w + a - b) - objective(w - a + b) + objective(w - a - b))
                / (4 * step**2)
                for b in unit
            ]
            for a in unit
        ]
    )
    V = np.cov(gradients.T, bias=True)
    wanted = logistic_pieces(w, Z, noisy) + np.trace(V @ np.linalg.inv(hessian)) / N
    e = unseen.estimate(model, X, noisy, method="nic", random_state=0)
    assert e.loss == "log-loss"
    assert e.value == pytest.approx(wanted, rel=1e-4)


def test_nic_of_three_classes_by_finite_differences():
    """The softmax form, whose Hessian is singular along equal shifts of the intercepts."""
    Z, y, C = X[:, :2], np.digitize(Y + 2 * X[:, 2], [1.5, 3.5]), 0.7
    model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, y)
    ones = np.column_stack([np.ones(N), Z])
    w = np.column_stack([model.intercept_, model.coef_]).ravel()

    def losses(v):
        score = ones @ v.reshape(3, 3).T
        return np.log(np.exp(score).sum(axis=1)) - score[np.arange(N), y]

    def objective(v):
        return losses(v).mean() + np.sum(v.reshape(3, 3)[:, 1:] ** 2) / (2 * C * N)

    step = 1e-4
    unit = np.eye(9) * step
    gradients = np.column_stack([(losses(w + u) - losses(w - u)) / (2 * step) for u in unit])
    hessian = np.array(
        [
            [
                (objective(w + a + b) - objective(w + a - b) - objective(w - a + b) + objective(w - a - b))
                / (4 * step**2)
                for b in unit
            ]
            for a in unit
        ]
    )
    penalty = np.trace(np.cov(gradients.T, bias=True) @ np.linalg.pinv(hessian, rcond=1e-5)) / N
    e = unseen.estimate(model, Z, y, method="nic", fitted=True)
    assert e.value == pytest.approx(losses(w).mean() + penalty, rel=1e-4)
    assert penalty > 0.02


@pytest.mark.parametrize("name", ["breast-cancer", "iris", "wine"])
def test_nic_accepts_what_scikit_learn_fits_by_default(name):
    """Its solver stops early, which is well within what the criterion can bear."""
    data = unseen.datasets.load(name)
    early, late = (
        unseen.estimate(
            make_pipeline(StandardScaler(), LogisticRegression(tol=tol, max_iter=20_000)),
            data,
            method="nic",
            random_state=0,
        )
        for tol in (1e-4, 1e-9)
    )
    assert early.value == pytest.approx(late.value, rel=5e-3)


@pytest.mark.slow
@pytest.mark.sample
def test_nic_estimates_the_loss_on_new_data():
    """Mean over 300 samples of NIC and of the true log loss differ by less than four standard errors; training loss does not."""
    gen = np.random.default_rng(8)
    fresh = gen.standard_normal((4000, 3))

    def labels(Z):
        return (gen.random(len(Z)) < 1 / (1 + np.exp(-Z[:, 0]))).astype(int)

    new = labels(fresh)
    gaps, naive = [], []
    for _ in range(300):
        Z = gen.standard_normal((150, 3))
        y = labels(Z)
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(Z, y)
        true = logistic_pieces(
            np.concatenate([model.intercept_, model.coef_[0]]), np.column_stack([np.ones(4000), fresh]), new
        )
        train = logistic_pieces(
            np.concatenate([model.intercept_, model.coef_[0]]), np.column_stack([np.ones(150), Z]), y
        )
        gaps.append(unseen.estimate(model, Z, y, method="nic", fitted=True).value - true)
        naive.append(train - true)
    error = np.std(gaps) / np.sqrt(300)
    assert abs(np.mean(gaps)) < 4 * error
    assert abs(np.mean(naive)) > 6 * error


def test_fpe_distribution_law():
    law = unseen.estimate(LinearRegression(), X, Y, method="fpe-distribution", random_state=0)
    s2 = np.sum((Y - hat(X) @ Y) ** 2) / (N - 5)
    assert law.value == pytest.approx(value(LinearRegression(), "fpe"))
    assert (law.sigma2, law.p) == (pytest.approx(s2), pytest.approx(5))
    for q in (0.05, 0.5, 0.95):
        assert law.fractile(q) == pytest.approx(s2 * (1 + stats.chi2.ppf(q, 5) / N))
    grid = np.linspace(s2, law.fractile(0.9999999), 20_001)
    assert np.trapezoid(law.density(grid), grid) == pytest.approx(1, abs=1e-3)
    assert np.trapezoid(grid * law.density(grid), grid) == pytest.approx(law.mean, rel=1e-3)
    assert law.std == pytest.approx(s2 * np.sqrt(10) / N)
    assert law.interval is None
    assert law.to_dict()["p"] == pytest.approx(5)
    with pytest.raises(InputError, match="share"):
        law.fractile(1.0)


def test_fpe_distribution_is_the_law_of_the_true_error():
    """True G = 1 + |w_hat - w|^2 for white inputs of variance 1, N = 400, p = 5: 3,000 draws against the fractiles."""
    gen = np.random.default_rng(3)
    n, p = 400, 5
    G = np.empty(3000)
    for k in range(3000):
        Z = gen.standard_normal((n, p))
        G[k] = 1 + np.sum(np.linalg.solve(Z.T @ Z, Z.T @ gen.standard_normal(n)) ** 2)
    law = 1 + stats.chi2.ppf([0.05, 0.25, 0.5, 0.75, 0.95], p) / n
    share = [np.mean(q >= G) for q in law]
    assert share == pytest.approx([0.05, 0.25, 0.5, 0.75, 0.95], abs=0.035)


@pytest.mark.parametrize(
    "model", [Lasso(0.3), ElasticNet(0.3), HuberRegressor(), KNeighborsRegressor(3), LinearRegression(positive=True)]
)
@pytest.mark.parametrize("method", ["fpe", "fpe-distribution", "gcv", "gpe", "nic"])
def test_other_models_are_not_applicable(model, method):
    with pytest.raises(NotApplicable, match=method):
        value(model, method)


@pytest.mark.parametrize("method", ["fpe", "fpe-distribution"])
def test_ridge_is_pointed_to_the_forms_made_for_it(method):
    with pytest.raises(NotApplicable, match="gpe or gcv"):
        value(Ridge(5.0), method)


def test_other_refusals_of_closed_forms():
    with pytest.raises(NotApplicable, match="classes"):
        value(LogisticRegression(), "fpe", y=LABELS)
    with pytest.raises(NotApplicable, match="grouped"):
        value(LinearRegression(), "gcv", groups=np.arange(N) // 2)
    with pytest.raises(NotApplicable, match="more rows than parameters"):
        unseen.estimate(LinearRegression(), X[:5], Y[:5], method="fpe", random_state=0)
    with pytest.raises(InputError, match="no weighted form"):
        value(LinearRegression(), "fpe", sample_weight=np.arange(1.0, N + 1))
    for method, option in (("fpe", {"scale": "log"}), ("gpe", {"form": "x"})):
        with pytest.raises(InputError, match=method):
            value(LinearRegression(), method, **option)
    with pytest.raises(NotApplicable, match="nic"):
        value(LinearDiscriminantAnalysis(), "nic", y=LABELS)
    with pytest.raises(NotApplicable, match="nic"):
        value(LogisticRegression(class_weight={0: 1, 1: 9}), "nic", y=LABELS)
    with pytest.raises(NotApplicable, match="nic"):
        value(DecisionTreeClassifier(), "nic", y=LABELS)


@pytest.mark.parametrize("units", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_fit_through_all_points_is_still_least_squares(units, scale):
    # What is left of such a fit is rounding, which differs between machines: it must not be read as another loss.
    for seed in range(20):
        draw = np.random.default_rng(seed)
        x = scale * (draw.standard_normal((5, 4)) + 1.0)
        y = units * (x @ [1.0, 0.5, 0.0, -1.0] / scale + draw.standard_normal(5))
        with pytest.raises(NotApplicable, match="more rows than parameters"):
            unseen.estimate(LinearRegression(), x, y, method="fpe", random_state=0)


@pytest.mark.parametrize("units", [1e-6, 1.0, 1e6])
def test_a_fit_by_another_loss_is_not_least_squares(units):
    with pytest.raises(NotApplicable, match="least squares or ridge"):
        value(Lasso(alpha=0.01 * units), "fpe", y=units * Y)


def test_a_trained_model_is_not_refitted():
    e = unseen.estimate(LinearRegression().fit(X, Y), X, Y, method="fpe", fitted=True)
    assert (e.n_fits, e.value) == (0, pytest.approx(value(LinearRegression(), "fpe")))


def test_vc_radius_solves_the_bound():
    for n, dimension, level in ((10_000, 3, 0.95), (500, 11, 0.5)):
        tau = vc_radius(n, dimension, level)
        log_bound = np.log(8) + dimension * np.log(n + 1) - n * tau**2 / 32
        assert np.exp(log_bound) == pytest.approx(1 - level, rel=1e-9)


def test_vc_bound_by_hand():
    big = np.random.default_rng(0).standard_normal((60_000, 2))
    y = (big[:, 0] + 0.3 * np.random.default_rng(1).standard_normal(60_000) > 0).astype(int)
    rule = LinearDiscriminantAnalysis()
    error = 1 - rule.fit(big, y).score(big, y)
    tau = np.sqrt(32 / 60_000 * (np.log(8) + 3 * np.log(60_001) + np.log(20)))
    e = unseen.estimate(rule, big, y, method="vc-bound")
    assert e.value == pytest.approx(error + tau)
    assert tuple(e.interval) == pytest.approx((max(error - tau, 0), error + tau))
    assert e.notes == ()
    wider = unseen.estimate(rule, big, y, method="vc-bound", dimension=30)
    assert wider.value > e.value


def test_vc_bound_refusals_and_vacuity():
    e = unseen.estimate(SVC(), X, LABELS, method="vc-bound", dimension=4)
    assert [n.code for n in e.notes] == ["U014"]
    assert e.interval.high == 1.0 < e.value
    with pytest.raises(NotApplicable, match="dimension="):
        unseen.estimate(SVC(), X, LABELS, method="vc-bound")
    with pytest.raises(NotApplicable, match="two classes"):
        unseen.estimate(LinearDiscriminantAnalysis(), unseen.datasets.load("iris"), method="vc-bound")
    with pytest.raises(NotApplicable, match="two classes"):
        value(LinearRegression(), "vc-bound")
    with pytest.raises(InputError, match="dimension"):
        unseen.estimate(SVC(), X, LABELS, method="vc-bound", dimension=0)
