"""scikit-learn's names, scorers and functions as measures: their numbers are scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score, get_scorer, get_scorer_names, make_scorer, mean_absolute_error
from sklearn.model_selection import cross_val_predict

import unseen
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.scale import as_measure
from unseen.measures.scoring import Scoring, resolve_measure

CANCER = unseen.datasets.load("breast-cancer")
OURS = {
    "roc_auc": "auc", "accuracy": "accuracy", "balanced_accuracy": "balanced-accuracy", "f1": "f1", "recall": "sensitivity",
    "precision": "positive-predictive-value", "average_precision": "average-precision", "neg_log_loss": "log-loss",
    "neg_brier_score": "brier", "matthews_corrcoef": "mcc", "r2": "r2", "neg_mean_absolute_error": "absolute", "mae": "absolute",
    "mse": "squared", "rmse": "rms", "neg_mean_squared_error": "squared", "neg_root_mean_squared_error": "rms",
}  # fmt: skip
# of clusters, of several labels per row, or undefined for the predictions below
LEFT_OUT = ("samples", "mutual_info", "rand", "completeness", "homogeneity", "v_measure", "fowlkes", "gamma", "top_k")


@pytest.mark.parametrize(("name", "id"), OURS.items())
def test_names_of_scikit_learn_are_ours(name, id):
    assert resolve_measure(name) == id


@pytest.fixture(scope="module")
def fitted():
    rows = np.random.default_rng(0).permutation(CANCER.n)[:200]
    X, y = CANCER.X[rows][:, :4] * [1, 1, 0.01, 0.001], CANCER.y[rows]
    model = LogisticRegression(max_iter=1000).fit(X[:100], y[:100])
    return model, X[100:], y[100:]


@pytest.fixture(scope="module")
def numbers():
    X, y = unseen.datasets.load("diabetes").xy
    return Ridge().fit(X[:200], y[:200]), X[200:], y[200:]


@pytest.mark.parametrize("name", [n for n in get_scorer_names() if not any(part in n for part in LEFT_OUT)])
def test_a_held_out_value_is_scikit_learns(name, fitted, numbers):
    of_numbers = any(part in name for part in ("error", "r2", "variance", "deviance"))
    model, X, y = numbers if of_numbers else fitted
    options = {} if of_numbers else {"positive": "malignant"}
    table = held_out_table(model, X, y, **options)
    found = table.losses(name)
    if name in (
        "f1",
        "jaccard",
        "precision",
        "recall",
        "average_precision",
        "neg_brier_score",
        "d2_brier_score",
    ):  # these want a positive class
        y, model = y == "malignant", _Answers(model, X)
    if "likelihood_ratio" in name:
        y, model = y == "malignant", _Answers(model, X)
    expected = abs(get_scorer(name)(model, X, y)) if name.startswith("neg_") else get_scorer(name)(model, X, y)
    assert as_measure(found.loss, found.split_means()[0])[1] == pytest.approx(expected, rel=1e-9)


def held_out_table(model, X, y, **options):
    """The predictions of a trained model, as `assess(prefit=True)` makes them."""
    a = unseen.assess(model, X, y, prefit=True, random_state=0, **options)
    return a.tables["holdout"].source[0]


class _Answers:
    """A fitted classifier whose labels are true for malignant, as scikit-learn's binary scores want them."""

    _estimator_type = "classifier"
    classes_ = np.array([False, True])

    def __init__(self, model, X):
        self.model = model

    def __sklearn_tags__(self):
        return self.model.__sklearn_tags__()

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.model.predict(X) == "malignant"

    def predict_proba(self, X):
        return self.model.predict_proba(X)

    def decision_function(self, X):
        return self.model.decision_function(X)


def test_cross_validation_pools_what_scikit_learn_pools():
    """f1_macro of all test parts together is f1_score of cross_val_predict on the same folds."""
    X, y = CANCER.X[:120], CANCER.y[:120]
    folds = [(np.setdiff1d(np.arange(120), np.arange(k, 120, 10)), np.arange(k, 120, 10)) for k in range(10)]
    a = unseen.assess("naive-bayes", X, y, scoring="f1_macro", cv=folds, random_state=0)
    from sklearn.naive_bayes import GaussianNB

    said = cross_val_predict(GaussianNB(), X, y, cv=folds)
    assert a.headline.on_scale().value == pytest.approx(f1_score(y, said, average="macro"), rel=1e-12)
    assert (a.headline.method, a.target.kind) == ("range-t", "model")


def test_scorers_functions_and_several():
    X, y = CANCER.X[:100], CANCER.y[:100]

    def largest_class(truth, said):
        return float(np.mean(said == "benign"))

    a = unseen.assess(
        "naive-bayes",
        X,
        y,
        scoring={"F2": make_scorer(fbeta_score, beta=2), "benign": largest_class, "roc": "roc_auc"},
        cv=10,
        random_state=0,
    )
    assert list(a.also) == ["benign", "auc"]
    assert (a.scale, a.headline.method, a.also["benign"].method) == ("F2", "range-t", "unit-bootstrap")
    declared = Scoring(largest_class, range=(0, 1), direction="lower")
    b = unseen.assess("naive-bayes", X, y, measure=declared, cv=10, random_state=0)
    assert b.headline.method == "range-t"
    assert b.headline.value == pytest.approx(a.also["benign"].on_scale().value)


def test_weights_reach_the_function_or_rows_are_repeated():
    y, said, weight = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0])
    expected = (0 + 2 * 1 + 3 * 3) / 6
    assert Scoring(mean_absolute_error).of_set(y, said, None, weight) == pytest.approx(expected)
    bare = Scoring(lambda t, p: float(np.mean(np.abs(t - p))))
    assert bare.of_set(y, said, None, weight) == pytest.approx(expected)
    with pytest.raises(InputError, match="takes no sample_weight"):
        bare.of_set(y, said, None, weight / 2)


def test_direction_and_range_follow_scikit_learns_names():
    assert resolve_measure("neg_median_absolute_error").direction == "lower"
    assert resolve_measure("neg_median_absolute_error").range == (0.0, np.inf)
    assert resolve_measure("explained_variance").range == (-np.inf, 1.0)
    assert Scoring(lambda t, p: 0.0, name="my_loss").direction == "lower"
    assert not Scoring(lambda t, p: 0.0).bounded


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ("rocauc", UnknownName, "roc_auc|roc-auc"),
        (3, KindError, "a function of"),
        (lambda estimator, X, y: 0.0, KindError, "takes .estimator, X, y."),
    ],
)
def test_refused(given, kind, words):
    with pytest.raises(kind, match=words):
        resolve_measure(given)


def test_refused_declarations():
    with pytest.raises(InputError, match="smallest and the largest"):
        Scoring(f1_score, range=(1, 0))
    with pytest.raises(UnknownName, match="direction"):
        Scoring(f1_score, direction="up")
    with pytest.raises(InputError, match="give one of them"):
        unseen.estimate("lda", CANCER, measure="auc", scoring="f1")
    with pytest.raises(InputError, match="cannot be computed"):
        unseen.run("lda", unseen.datasets.load("iris"), random_state=0).losses(f1_score)
