"""Bad input: every message says what was given and what to do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import unseen
from unseen import resubstitution as R
from unseen.core.errors import InputError, KindError, NotApplicable, UnknownName
from unseen.datasets.populations import GaussianBlocks

X, Y = GaussianBlocks().draw(40, np.random.default_rng(2)).xy
FITTED = LogisticRegression().fit(X, Y)
METHODS = [
    "bolster",
    "semi-bolster",
    "posterior",
    "bolster-posterior",
    "naive-bayes-bolster",
    "bayesian",
    "calibrated-bolster",
]


def call(method, fitted=FITTED, X=X, Y=Y, **options):
    return getattr(R, method.replace("-", "_"))(fitted, X, Y, random_state=0, **options)


@pytest.mark.parametrize("method", ["bolster", "semi-bolster", "bolster-posterior", "naive-bayes-bolster"])
def test_a_class_with_one_point(method):
    rows = np.append(np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[0])
    with pytest.raises(InputError, match="class 1 has one point"):
        call(method, X=X[rows], Y=Y[rows])
    assert call("bolster", X=X[rows], Y=Y[rows], bandwidth=0.5).value > 0


def test_a_class_too_small_to_calibrate():
    rows = np.append(np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:2])
    with pytest.raises(InputError, match="class 1 is too small"):
        call("calibrated-bolster", X=X[rows], Y=Y[rows], fraction=0.9)


@pytest.mark.parametrize("method", METHODS)
def test_values_that_are_not_finite(method):
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(InputError, match="row 4, column 3, counted from 1"):
        call(method, X=bad)


def test_an_imputer_in_the_pipeline_repairs_them():
    bad = X.copy()
    bad[3, 2] = np.nan
    assert call("bolster", make_pipeline(SimpleImputer(), LogisticRegression()).fit(bad, Y), bad).integration == "exact"


@pytest.mark.parametrize("method", METHODS[:-1])
def test_unknown_labels(method):
    with pytest.raises(InputError, match="not among"):
        call(method, lambda points: np.full(len(points), 7))
    with pytest.raises(InputError, match="not among"):
        call(method, lambda points: np.full(len(points), "seven"))


@pytest.mark.parametrize("method", METHODS)
def test_regression(method):
    with pytest.raises(InputError, match="regression model"):
        call(method, LinearRegression().fit(X, Y))
    with pytest.raises(NotApplicable, match="holds numbers"):
        unseen.estimate(LinearRegression(), X, X[:, 0], method=method)


@pytest.mark.parametrize("method", METHODS)
def test_other_features_than_trained_on(method):
    with pytest.raises(InputError, match="10 features and X has 9"):
        call(method, X=X[:, :9])
    piped = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    with pytest.raises(InputError, match="10 features and X has 9"):
        call(method, piped, X=X[:, :9])


def test_models_that_fail_or_are_no_models():
    with pytest.raises(InputError, match="not fitted"):
        call("bolster", SVC())
    with pytest.raises(InputError, match="not fitted"):
        call("bolster", make_pipeline(StandardScaler(), SVC()))
    with pytest.raises(KindError, match="object with predict"):
        call("bolster", 3)
    with pytest.raises(KindError, match="object with predict"):
        call("bolster", SVC)
    with pytest.raises(InputError, match="shape"):
        call("bolster", lambda points: np.zeros((len(points), 2)))
    with pytest.raises(InputError, match="cannot be trained"):
        call("calibrated-bolster", lambda points: np.zeros(len(points), dtype=int))


@pytest.mark.parametrize(
    ("method", "options", "error", "message"),
    [
        ("bolster", {"average": "median"}, UnknownName, "points"),
        ("bolster", {"space": "output"}, UnknownName, "auto"),
        ("bolster", {"kernel": "cubic"}, UnknownName, "spherical"),
        ("bolster", {"n_mc": 1}, InputError, "at least 2"),
        ("bolster", {"n_mc": 2.5}, InputError, "at least 2"),
        ("bolster", {"sampler": "halton"}, UnknownName, "sobol"),
        ("bolster", {"draws": -1}, InputError, "whole number"),
        ("bolster", {"widht": 1}, UnknownName, "bandwidth"),
        ("bolster", {"exact": "no"}, InputError, "True or False"),
        ("bolster", {"bandwidth": "calibrated"}, UnknownName, "calibrated-bolster"),
        ("bayesian", {"exact": "no"}, InputError, "True or False"),
        ("bayesian", {"draws": -1}, InputError, "whole number"),
        ("posterior", {"k": 0}, InputError, "from 1 to"),
        ("posterior", {"k": 41}, InputError, "sample size, 40"),
        ("posterior", {"posterior": "kn"}, UnknownName, "knn"),
        ("posterior", {"posterior": 3}, KindError, "posterior"),
        ("posterior", {"posterior": lambda p: np.ones(len(p))}, InputError, "one column per class"),
        ("posterior", {"posterior": lambda p: np.ones((len(p), 2))}, InputError, "summing to 1"),
        ("naive-bayes-bolster", {"kernel": "full"}, InputError, "diagonal kernels"),
        ("naive-bayes-bolster", {"nearest": "far"}, UnknownName, "distinct"),
        ("calibrated-bolster", {"r": 0}, InputError, "80/20"),
        ("calibrated-bolster", {"search": "bisection"}, UnknownName, "root"),
        ("calibrated-bolster", {"step": 0}, InputError, "step"),
        ("calibrated-bolster", {"fraction": 1.0}, InputError, "fraction"),
        ("bayesian", {"covariance": np.eye(3)}, InputError, "shape"),
        ("bayesian", {"prior_weight": -1}, InputError, "prior_weight"),
        ("bayesian", {"prior_mean": [1, 2]}, InputError, "prior_mean"),
    ],
)
def test_options(method, options, error, message):
    with pytest.raises(error, match=message):
        call(method, **options)


def test_posterior_of_a_model_without_probabilities():
    with pytest.raises(InputError, match="predict_proba"):
        call("posterior", SVC().fit(X, Y), posterior="model")
    with pytest.raises(InputError, match="neither decision_function"):
        call("posterior", lambda p: (p[:, 0] > 0).astype(int), posterior="calibrated")


def test_an_endless_bandwidth_cannot_be_drawn_from():
    with pytest.raises(InputError, match="infinite"):
        call("bolster", SVC().fit(X, Y), bandwidth=np.inf)


def test_a_class_without_any_point():
    data = unseen.datasets.load("iris").take(range(100))
    with pytest.raises(InputError, match="class 'virginica' has no point"):
        unseen.estimate(SVC(), data, method="bayesian", random_state=0)


def test_a_wrong_model_is_named_by_resub_as_well():
    with pytest.raises(InputError, match="LinearRegression is a regression model"):
        R.resub(LinearRegression().fit(X, Y), X, Y)
    with pytest.raises(InputError, match="10 features and X has 9"):
        R.resub(FITTED, X[:, :9], Y)
    with pytest.raises(InputError, match="LinearRegression is a regression model"):
        unseen.resubstitute(LinearRegression().fit(X, Y), X, Y)
    assert R.resub(LinearRegression().fit(X, X[:, 0]), X, X[:, 0]).value == pytest.approx(0, abs=1e-20)


def _raises(points):
    raise ZeroDivisionError("own fault")


@pytest.mark.parametrize("method", ["resub", "auto-resub", *METHODS[:-1]])
@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda points: np.full(len(points), 7), "predicts 7, which is not among"),
        (lambda points: np.full(len(points), "seven"), "predicts 'seven', which is not among"),
        (lambda points: np.full(len(points), None), "predicts None, which is not among"),
        (lambda points: np.zeros((len(points), 2), dtype=int), r"shape \(\d+, 2\) for \d+ points"),
        (lambda points: np.zeros(3, dtype=int), r"shape \(3,\) for \d+ points"),
        (lambda points: points @ np.ones(9) > 0, "could not predict: ValueError: matmul"),
        (_raises, "could not predict: ZeroDivisionError: own fault"),
    ],
)
def test_answers_that_are_none(method, predict, message):
    with pytest.raises(InputError, match=message):
        unseen.estimate(predict, X, Y, method=method, fitted=True, random_state=0)


@pytest.mark.parametrize("method", ["resub", "bolster", "posterior"])
def test_a_column_of_labels_counts_as_labels(method):
    flat, column = (
        call(method, lambda points, f=f: f((points[:, 0] > 0).astype(int))) for f in (np.ravel, np.c_.__getitem__)
    )
    assert flat.value == column.value
    assert column.contributions.shape == (40,)


def test_resub_of_numbers_is_told_of_labels():
    with pytest.raises(InputError, match="predicts 'seven', which is not a number"):
        R.resub(lambda points: np.full(len(points), "seven"), X, X[:, 0])


def test_a_classifier_says_that_numbers_are_labels():
    """Thirty whole numbers look like a regression target; squared differences of labels are no error rate."""
    labels = np.arange(60) // 2
    points = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(points, labels)
    wrong = np.mean(model.predict(points) != labels)
    assert unseen.datasets.as_data(points, labels).task == "regression"
    for e in (
        R.resub(model, points, labels),
        unseen.estimate(model, points, labels, method="resub", fitted=True),
        unseen.resubstitute(model, points, labels, methods=["resub"])["resub"],
    ):
        assert (e.loss, e.value) == ("zero-one", pytest.approx(wrong))
    told = unseen.datasets.as_data(points, labels)
    with pytest.raises(InputError, match="LogisticRegression is a classifier, and the target 'y' holds numbers"):
        unseen.resubstitute(model, told)
    with pytest.raises(InputError, match="cannot be classes"):
        unseen.estimate(model, points, points[:, 0], method="resub", fitted=True)


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        ("log-loss", InputError, "log-loss needs class probabilities, and SVC has no predict_proba"),
        ("brier", InputError, "needs class probabilities"),
        ("auc", NotApplicable, "auc exists for whole sets only"),
        ("squared", InputError, "squared is a loss for regression"),
        ("nonsense", UnknownName, "nonsense"),
    ],
)
def test_losses_resub_cannot_be_of(loss, error, message):
    fitted = SVC().fit(X, Y)
    with pytest.raises(error, match=message):
        R.resub(fitted, X, Y, loss=loss)
    with pytest.raises(error, match=message):
        unseen.estimate(fitted, X, Y, method="resub", loss=loss, fitted=True)


def test_losses_of_probabilities_by_hand():
    p = FITTED.predict_proba(X)[np.arange(40), Y]
    assert R.resub(FITTED, X, Y, loss="log-loss").value == pytest.approx(-np.log(p).mean())
    assert R.resub(FITTED, X, Y, loss="brier").value == pytest.approx(np.mean((1 - p) ** 2))


def test_a_posterior_that_fails_and_a_prior_mean_that_is_none():
    with pytest.raises(InputError, match="posterior could not be computed: ZeroDivisionError: own fault"):
        call("posterior", posterior=_raises)
    with pytest.raises(InputError, match="prior_mean holds a value that is not finite"):
        call("bayesian", prior_mean=np.full(10, np.nan), prior_weight=1.0)
