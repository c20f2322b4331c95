"""The methods: limits, identities between them, posteriors, averages, weights, records and registry."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen import resubstitution as R
from unseen.core.estimate import ResubEstimate
from unseen.core.registry import classes_in
from unseen.datasets.populations import GaussianBlocks

DATA = GaussianBlocks().draw(80, np.random.default_rng(2))
X, Y = DATA.xy
IRIS = unseen.datasets.load("iris").xy
ALL = [
    "resub",
    "bolster",
    "semi-bolster",
    "posterior",
    "bolster-posterior",
    "bolster-posterior-product",
    "bolster-posterior-accuracy",
    "naive-bayes-bolster",
    "calibrated-bolster",
    "calibrated-naive-bayes-bolster",
    "bayesian",
]
KERNELLED = [m for m in ALL if "bolster" in m and "calibrated" not in m]
MODELS = {
    "linear": LinearSVC(),
    "rbf": SVC(),
    "tree": DecisionTreeClassifier(random_state=0),
    "3nn": KNeighborsClassifier(3),
}


def function(method):
    return getattr(R, method.replace("-", "_"))


def test_all_methods_are_registered_and_have_a_function():
    assert set(ALL) <= set(classes_in("resubstitution"))
    for method in ALL:
        assert callable(function(method))
        importlib.import_module(f"unseen.resubstitution.methods.{method.replace('-', '_')}")
        assert callable(function(method)), "the module must not hide the function"


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("sample", ["two classes", "three classes"])
def test_every_method_gives_a_whole_record(method, sample):
    data = (X, Y) if sample == "two classes" else IRIS
    options = {"r": 2, "n_mc": 20} if "calibrated" in method else {}
    e = unseen.estimate(DecisionTreeClassifier(max_depth=3), *data, method=method, random_state=0, **options)
    assert isinstance(e, ResubEstimate)
    assert 0 <= e.value <= 1
    assert e.std_error is None
    assert e.interval is None
    assert e.mc_error >= 0
    assert e.contributions.shape == (len(data[1]),)
    assert e.method == method
    assert e.target.kind == "model"
    assert e.n_fits == (3 if "calibrated" in method else 1)
    assert json.loads(e.to_json())["method"] == method
    assert "mc_error" in e.frame().columns


@pytest.mark.parametrize("method", ALL)
def test_function_and_verb_give_the_same_numbers(method):
    fitted = KNeighborsClassifier(3).fit(X, Y)
    options = {} if method in ("resub", "posterior") else {"n_mc": 10}
    options |= {"r": 1} if "calibrated" in method else {}
    one = function(method)(fitted, X, Y, random_state=4, **options)
    two = unseen.estimate(fitted, X, Y, method=method, fitted=True, random_state=4, **options)
    assert one.value == two.value
    np.testing.assert_array_equal(one.contributions, two.contributions)
    again = function(method)(fitted, X, Y, random_state=4, **options)
    assert one.value == again.value


@pytest.mark.parametrize("name", MODELS)
def test_no_width_is_plain_resubstitution(name):
    fitted = MODELS[name].fit(X, Y)
    plain = R.resub(fitted, X, Y)
    for method in (R.bolster, R.semi_bolster, R.naive_bayes_bolster):
        e = method(fitted, X, Y, bandwidth=0.0, n_mc=3, random_state=0)
        np.testing.assert_array_equal(e.contributions, plain.contributions)
    e = R.bolster_posterior(fitted, X, Y, bandwidth=0.0, n_mc=3, random_state=0)
    same = R.posterior(fitted, X, Y)
    np.testing.assert_allclose(e.contributions, same.contributions, atol=1e-12)


@pytest.mark.parametrize("kernel", ["spherical", "diagonal", "full", "uniform-ball"])
def test_endless_width_halves_a_linear_rule(kernel):
    """Only the kernel counts: a plane through it at no distance cuts it into halves."""
    fitted = LinearSVC().fit(X, Y)
    width = 1.0 if kernel == "full" else np.inf
    e = R.bolster(fitted, X, Y, kernel=kernel, bandwidth=width, scale=1e12 if kernel == "full" else None)
    np.testing.assert_allclose(e.contributions, 0.5, atol=1e-6)


def test_endless_width_of_several_classes_depends_on_the_class_alone():
    X3, y3 = IRIS
    fitted = LogisticRegression(max_iter=2000).fit(X3, y3)
    e = R.bolster(fitted, X3, y3, bandwidth=1e7, exact=False, n_mc=400, random_state=0)
    z = np.random.default_rng(1).standard_normal((100_000, 4))
    share = np.bincount((z @ fitted.coef_.T).argmax(axis=1), minlength=3) / len(z)
    for code in range(3):
        got = e.contributions[y3 == fitted.classes_[code]].mean()
        assert abs(got - (1 - share[code])) < 4 * 0.5 / np.sqrt(50 * 400)


@pytest.mark.parametrize("name", MODELS)
def test_one_neighbour_is_plain_resubstitution(name):
    fitted = MODELS[name].fit(X, Y)
    np.testing.assert_array_equal(R.posterior(fitted, X, Y, k=1).contributions, R.resub(fitted, X, Y).contributions)


def test_neighbour_posterior_by_loops():
    fitted = SVC().fit(X, Y)
    order = cdist(X, X).argsort(axis=1)
    said = fitted.predict(X)
    expected = np.array([np.mean(Y[order[i, :3]] != said[i]) for i in range(len(Y))])
    e = R.posterior(fitted, X, Y)
    np.testing.assert_allclose(e.contributions, expected)
    assert e.value == pytest.approx(expected.mean())


def test_bolstered_posterior_takes_the_posterior_at_the_kernel_points():
    fitted = SVC().fit(X, Y)
    seen = []

    def posterior(points):
        seen.append(points)
        share = (points[:, 0] > 0).astype(float)
        return np.column_stack([1 - share, share])

    e = R.bolster_posterior(fitted, X, Y, posterior=posterior, n_mc=25, random_state=0)
    points = np.concatenate(seen)
    assert points.shape == (80 * 25, 10)
    doubt = (fitted.predict(points) != (points[:, 0] > 0)).reshape(80, 25).mean(axis=1)
    np.testing.assert_allclose(e.contributions, doubt)


def test_semi_bolster_is_one_where_wrong_and_bolster_elsewhere():
    for name in ("3nn", "linear"):
        fitted = MODELS[name].fit(X, Y)
        semi, full = (f(fitted, X, Y, draws=3) for f in (R.semi_bolster, R.bolster))
        wrong = fitted.predict(X) != Y
        assert wrong.any()
        np.testing.assert_array_equal(semi.contributions[wrong], 1.0)
        np.testing.assert_allclose(semi.contributions[~wrong], full.contributions[~wrong])


def test_product_and_accuracy_forms():
    fitted = SVC().fit(X, Y)
    mass, doubt = R.bolster(fitted, X, Y, draws=1).contributions, R.posterior(fitted, X, Y).contributions
    product = R.bolster_posterior_product(fitted, X, Y, draws=1)
    accuracy = R.bolster_posterior_accuracy(fitted, X, Y, draws=1)
    np.testing.assert_allclose(product.contributions, mass * doubt)
    np.testing.assert_allclose(1 - accuracy.contributions, (1 - mass) * (1 - doubt))
    assert [n.code for n in product.notes] == ["U027"]
    assert product.mc_error < R.bolster(fitted, X, Y, draws=1).mc_error


@pytest.mark.parametrize("method", KERNELLED)
def test_averages_over_points_and_over_classes(method):
    rows = np.concatenate([np.flatnonzero(Y == 0)[:12], np.flatnonzero(Y == 1)])
    fitted = SVC().fit(X[rows], Y[rows])
    points, classes = (
        function(method)(fitted, X[rows], Y[rows], average=a, draws=2, n_mc=50) for a in ("points", "class")
    )
    np.testing.assert_array_equal(points.contributions, classes.contributions)
    assert points.value == pytest.approx(points.contributions.mean())
    by_class = [points.contributions[Y[rows] == y].mean() for y in (0, 1)]
    assert classes.value == pytest.approx(np.mean(by_class))
    assert points.value != pytest.approx(classes.value, abs=1e-4)


def test_weights_count_points():
    weights = np.ones(80)
    weights[:10] = 3.0
    fitted = SVC().fit(X, Y)
    e = R.bolster(fitted, X, Y, sample_weight=weights, draws=0)
    assert e.value == pytest.approx(np.average(e.contributions, weights=weights))
    with pytest.raises(unseen.UnseenError, match="no weighted form"):
        R.bayesian(fitted, X, Y, sample_weight=weights)


def test_naive_bayes_widths_and_ties():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.2, (60, 5)).astype(float)  # most values are 0, as in the background of an image
    y = (counts.sum(axis=1) + rng.normal(0, 0.5, 60) > 1).astype(int)
    fitted = LogisticRegression().fit(counts, y)
    printed, distinct = (R.naive_bayes_bolster(fitted, counts, y, nearest=n) for n in ("any", "distinct"))
    assert printed.bandwidth.max() < 0.2 * distinct.bandwidth.min()
    assert printed.value < distinct.value
    same = R.bolster(fitted, counts, y, kernel="diagonal")
    np.testing.assert_allclose(same.contributions, distinct.contributions)


@pytest.mark.parametrize("posterior", ["knn", "model", "calibrated", "gaussian-process", GaussianNB()], ids=str)
def test_posteriors_plug_in(posterior):
    fitted = LogisticRegression().fit(X, Y)
    e = R.posterior(fitted, X, Y, posterior=posterior)
    assert 0.05 < e.value < 0.5
    assert e.measure


def test_the_models_own_posterior_by_hand():
    fitted = GaussianNB().fit(*IRIS)
    e = R.posterior(fitted, *IRIS, posterior="model")
    np.testing.assert_allclose(e.contributions, 1 - fitted.predict_proba(IRIS[0]).max(axis=1), atol=1e-12)


def test_a_given_gaussian_process_is_fitted_to_the_sample_not_changed():
    process = GaussianProcessClassifier()
    R.posterior(SVC().fit(X, Y), X, Y, posterior=process)
    assert not hasattr(process, "classes_")


def test_a_search_counts_as_its_best_model():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}
    ).fit(X, Y)
    e = R.bolster(search, X, Y)
    assert (e.space, e.integration) == ("after StandardScaler", "exact")


def test_nested_and_empty_pipelines():
    inner = make_pipeline(PCA(3), LogisticRegression())
    nested = make_pipeline(StandardScaler(), inner).fit(X, Y)
    flat = make_pipeline(StandardScaler(), PCA(3), LogisticRegression()).fit(X, Y)
    a, b = R.bolster(nested, X, Y), R.bolster(flat, X, Y)
    assert a.space == b.space == "after StandardScaler, PCA"
    assert a.value == pytest.approx(b.value)
    alone = R.bolster(make_pipeline("passthrough", LinearSVC()).fit(X, Y), X, Y)
    assert (alone.space, alone.integration) == ("input", "exact")
    for space in ("auto", "input"):
        drawn = R.bolster(nested, X, Y, space=space, exact=False, n_mc=300, random_state=0)
        exact = R.bolster(nested, X, Y, space=space)
        assert exact.integration == "exact"
        assert abs(drawn.value - exact.value) < 4 * drawn.mc_error


def test_frames_keep_their_names_and_text_is_encoded_first():
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["kind"] = np.where(Y == 1, "u", "v")
    encoder = make_column_transformer((OneHotEncoder(sparse_output=True), ["kind"]), remainder="passthrough")
    fitted = make_pipeline(encoder, LogisticRegression()).fit(frame, Y)
    e = R.bolster(fitted, frame, Y)
    assert e.space == "after ColumnTransformer"
    with pytest.raises(unseen.UnseenError, match="'kind' is not numeric"):
        R.bolster(fitted, frame, Y, space="input")
    numbers = frame.drop(columns="kind")
    named = DecisionTreeClassifier(max_depth=2).fit(numbers, Y)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert R.bolster(named, numbers, Y, n_mc=5, random_state=0).space == "input"
        unnamed = DecisionTreeClassifier(max_depth=2).fit(numbers.to_numpy(), Y)
        assert R.bolster(unnamed, numbers, Y, n_mc=5, random_state=0).space == "input"


def test_view_in_a_plane():
    fitted = KNeighborsClassifier(3).fit(*IRIS)
    v = R.view(fitted, *IRIS, resolution=15, random_state=0)
    assert v.grid.shape == (15, 15)
    assert v.points.shape == (150, 2)
    assert 0.95 < v.explained <= 1
    np.testing.assert_array_equal(v.contributions, R.bolster(fitted, *IRIS, random_state=0).contributions)
    two = R.view(fitted, *IRIS, plane=(2, 3), resolution=15, random_state=0)
    np.testing.assert_array_equal(two.points, IRIS[0][:, 2:])
    assert two.axes == ("x2", "x3")
    sigma = R.bolster(fitted, *IRIS, random_state=0).bandwidth
    np.testing.assert_allclose(np.abs(np.linalg.det(two.ellipses)), sigma**2)
    assert len(two.rows()) == 150
    for plane in ((0, 0), (0, 9), np.ones((2, 4))):
        with pytest.raises(unseen.UnseenError, match="plane"):
            R.view(fitted, *IRIS, plane=plane)


@pytest.mark.parametrize(
    "method",
    [
        "bolster",
        "semi_bolster",
        "bolster_posterior",
        "bolster_posterior_product",
        "bolster_posterior_accuracy",
        "naive_bayes_bolster",
        "bayesian",
    ],
)
def test_the_integration_error_is_the_spread_over_seeds(method):
    """`mc_error` is what the value varies by when nothing but the kernel points change; no standard error is claimed."""
    fitted = LogisticRegression().fit(X, Y)
    options = {"n_mc": 16, "exact": False}
    runs = [getattr(R, method)(fitted, X, Y, random_state=seed, **options) for seed in range(120)]
    spread = np.std([e.value for e in runs], ddof=1)
    # the relative error of a standard deviation from 120 runs is 6.5%
    assert np.sqrt(np.mean([e.mc_error**2 for e in runs])) == pytest.approx(spread, rel=0.27)
    assert all(e.std_error is None and e.interval is None for e in runs)


def test_the_integration_error_by_hand():
    """A share p of M points has the variance p (1 - p) / (M - 1), and one point of all may be otherwise; factors that are
    not drawn multiply both by their square."""
    fitted = LogisticRegression().fit(X, Y)
    options = {"n_mc": 25, "exact": False, "draws": 3}
    plain = R.bolster(fitted, X, Y, **options)
    doubt = R.posterior(fitted, X, Y).contributions
    right = (fitted.predict(X) == Y).astype(float)
    factors = {
        "bolster": 1.0,
        "semi_bolster": right,
        "bolster_posterior_product": doubt,
        "bolster_posterior_accuracy": 1 - doubt,
    }
    for method, factor in factors.items():
        found = getattr(R, method)(fitted, X, Y, **options).mc_error
        share = plain.contributions * (right if method == "semi_bolster" else 1.0)  # others have no kernel there
        decides = (share > 0) & (share < 1)
        variance = share * (1 - share) / 24 + decides / (25**2 * decides.sum())
        assert found == pytest.approx(np.sqrt(np.sum(variance * factor**2)) / len(Y), rel=1e-9), method


@pytest.mark.parametrize(
    "method", ["posterior", "bolster_posterior", "bolster_posterior_product", "bolster_posterior_accuracy"]
)
def test_scores_calibrated_on_the_training_points_are_told(method):
    """Labels are noise and the true error is 0.5: a memorising rule separates its own points, and a sigmoid believes it."""
    noise = np.random.default_rng(0)
    x, y = noise.standard_normal((80, 5)), noise.integers(0, 2, 80)
    fitted = SVC(C=1000).fit(x, y)
    assert R.posterior(fitted, x, y, posterior="calibrated").value < 0.2
    options = {} if method == "posterior" else {"n_mc": 10}
    told, silent = (getattr(R, method)(fitted, x, y, posterior=p, **options) for p in ("calibrated", "knn"))
    assert told.notes[-1].code == "U023"
    assert "trained on" in told.notes[-1].text
    assert "U023" not in {n.code for n in silent.notes}


@pytest.mark.parametrize(
    "method", ["resub", "bolster", "semi_bolster", "posterior", "bolster_posterior", "naive_bayes_bolster"]
)
def test_weights_of_points_weigh_their_contributions(method):
    fitted = KNeighborsClassifier(3).fit(X, Y)
    weights = np.random.default_rng(0).uniform(0, 3, len(Y))
    options = {} if method in ("resub", "posterior") else {"draws": 1}
    plain = getattr(R, method)(fitted, X, Y, **options)
    weighed = getattr(R, method)(fitted, X, Y, sample_weight=weights, **options)
    np.testing.assert_array_equal(plain.contributions, weighed.contributions)
    assert plain.value == pytest.approx(plain.contributions.mean())
    assert weighed.value == pytest.approx(np.average(plain.contributions, weights=weights))
    assert weighed.value != pytest.approx(plain.value, rel=1e-3)
