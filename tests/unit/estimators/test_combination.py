from __future__ import annotations

import math

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import Estimate, ResubEstimate, Target
from unseen.core.registry import build
from unseen.estimators.combined import evidence
from unseen.estimators.combined.evidence import expected_rms, recipe_bound, recipe_weights
from unseen.estimators.combined.recipe import bounded_moves, weighted_mean
from unseen.estimators.combined.situation import rule_family, unlike_the_study


def part(method, value, loss="zero-one", n_fits=1):
    return Estimate(
        value=value,
        std_error=None,
        interval=None,
        df=None,
        method=method,
        target=Target.MODEL.at(50),
        loss=loss,
        n_units=50,
        n_fits=n_fits,
        seconds=0.5,
    )


class Recipe:
    id = "toy"


def test_the_mean_is_weighted_and_speaks_of_this_model():
    made = weighted_mean(
        Recipe, {"a": part("a", 0.1), "b": part("b", 0.4, n_fits=100), "c": part("c", 9.0)}, {"a": 0.25, "b": 0.75}
    )
    assert made.value == pytest.approx(0.325)
    assert made.target == Target.MODEL.at(50)
    assert made.interval is None
    assert made.std_error is None
    assert made.n_fits == 100
    assert made.values == {"a": 0.1, "b": 0.4}


def test_missing_parts_and_other_losses_are_refused():
    with pytest.raises(InputError, match="missing: b"):
        weighted_mean(Recipe, {"a": part("a", 0.1)}, {"a": 0.5, "b": 0.5})
    with pytest.raises(NotApplicable, match="squared"):
        weighted_mean(Recipe, {"a": part("a", 3.0, "squared")}, {"a": 1.0})


def smoothed(method, value, balanced):
    return ResubEstimate(
        value=value,
        std_error=None,
        interval=None,
        df=None,
        method=method,
        target=Target.MODEL.at(50),
        loss="zero-one",
        n_units=50,
        n_fits=0,
        seconds=0.5,
        notes=(),
        mc_error=0.0,
        contributions=None,
        balanced=balanced,
    )


def test_parts_move_the_centre_up_to_the_bound_by_hand():
    """At .3 and 50 units q = 16/52, so the spread is sqrt(16 * 36 / 52**2 / 50) = .0652714."""
    spread = 24 / 52 / math.sqrt(50)
    assert spread == pytest.approx(0.0652714, abs=1e-7)
    parts = {
        "x": part("x", 0.3, n_fits=100),
        "near": part("near", 0.31),
        "far": part("far", 0.9),
        "low": part("low", 0.0),
    }
    weights = {"near": 0.5, "far": 0.2, "low": -0.4, "level": 0.1}
    made = bounded_moves(Recipe, parts, weights, "x", 1.5)
    expected_moves = {"near": 0.005, "far": 0.3 * spread, "low": 0.6 * spread, "level": 0.1 * spread}
    assert made.moves == pytest.approx(expected_moves)
    assert made.value == pytest.approx(0.305 + spread)
    assert list(made.values) == ["x", "near", "far", "low"]
    assert (made.target, made.n_fits, made.interval, made.mc_error) == (Target.MODEL.at(50), 100, None, None)
    assert "x 0.3, moved +0.0703 by 3 others" in str(made)


def test_a_balanced_part_is_the_mean_over_classes_of_its_method():
    parts = {"x": part("x", 0.2), "bolster": smoothed("bolster", 0.21, 0.25)}
    made = bounded_moves(Recipe, parts, {"bolster": 0.5, "bolster-balanced": 0.1}, "x", 3.0)
    assert made.moves == pytest.approx({"bolster": 0.005, "bolster-balanced": 0.005, "level": 0.0})
    with pytest.raises(InputError, match="bolster with its mean over classes"):
        bounded_moves(
            Recipe, {"x": part("x", 0.2), "bolster": part("bolster", 0.1)}, {"bolster-balanced": 1.0}, "x", 3.0
        )
    with pytest.raises(InputError, match="missing: bolster"):
        bounded_moves(Recipe, {"x": part("x", 0.2)}, {"bolster-balanced": 1.0}, "x", 3.0)
    with pytest.raises(NotApplicable, match="squared"):
        bounded_moves(Recipe, {"x": part("x", 0.2, "squared")}, {}, "x", 3.0)


@pytest.mark.parametrize(("start", "weight", "end"), [(0.0, -5.0, 0.0), (1.0, 5.0, 1.0)])
def test_an_error_rate_stays_between_0_and_1(start, weight, end):
    assert bounded_moves(Recipe, {"x": part("x", start)}, {"level": weight}, "x", 1.5).value == end


def test_the_balanced_value_is_the_class_average_of_the_same_points():
    from sklearn.svm import LinearSVC

    X, y = unseen.datasets.load("gaussian-blocks").xy
    kept = np.r_[np.flatnonzero(y == y[0])[:40], np.flatnonzero(y != y[0])[:10]]
    fitted = LinearSVC().fit(X[kept], y[kept])
    plain, by_class = (
        unseen.resubstitution.bolster(fitted, X[kept], y[kept], average=average) for average in ("points", "class")
    )
    assert plain.balanced == by_class.balanced == by_class.value != plain.value
    shares = [plain.contributions[y[kept] == c].mean() for c in np.unique(y)]
    assert plain.balanced == pytest.approx(np.mean(shares))


RARE = "combined below 10%"


def measured(typical):
    return evidence.SetDeviations(pooled=1.5 * typical, typical=typical, worst=3 * typical)


@pytest.fixture
def table(monkeypatch):
    rows = {
        ("toy", "any", "any", "any", "any"): {20: measured(0.2), 80: measured(0.1)},
        ("toy", "tree", "any", "any", RARE): {20: measured(0.3), 80: measured(0.12)},
        ("toy", "tree", "up to 10", "2", RARE): {20: measured(0.25)},
    }
    monkeypatch.setattr(evidence, "_table", lambda: rows)


def test_between_sizes_the_logarithm_is_interpolated(table):
    found = expected_rms("toy", "other", 40, 5, 2, RARE)
    assert found.rms == pytest.approx(math.sqrt(0.2 * 0.1))
    assert found.pooled == pytest.approx(1.5 * found.rms)
    assert found.worst == pytest.approx(3 * found.rms)
    assert found.situation == "all rules tried"


@pytest.mark.parametrize("n", [15, 19, 81, 100_000])
def test_beyond_the_sizes_there_is_none(table, n):
    assert expected_rms("toy", "tree", 20, 5, 2, RARE).rms == pytest.approx(0.3)
    assert expected_rms("toy", "tree", 80, 5, 2, RARE).rms == pytest.approx(0.12)
    assert expected_rms("toy", "tree", n, 5, 2, RARE) is None


def test_above_the_sizes_of_all_data_sets_only_what_was_seen_at_the_large_one_counts(monkeypatch):
    sizes = {20: measured(0.2), 40: measured(0.15), 100: measured(0.1)}
    rows = {
        ("toy", "any", "any", "any", "any"): {**sizes, 400: measured(0.05)},
        ("toy", "tree", "any", "any", "any"): sizes,
    }
    monkeypatch.setattr(evidence, "_table", lambda: rows)
    at_100, at_200 = (expected_rms("toy", "tree", n, 5, 2) for n in (100, 200))
    assert at_100.situation == "tree rules"
    assert at_200.situation == "all rules tried"
    assert at_200.rms == pytest.approx(math.sqrt(0.1 * 0.05))


@pytest.mark.parametrize("recipe", ["combined", "auto-resub"])
@pytest.mark.parametrize("n", [10, 19, 401, 569, 100_000])
def test_the_shipped_evidence_gives_none_for_samples_unlike_those_studied(recipe, n):
    for family in ("linear", "any"):
        assert expected_rms(recipe, family, n, 10, 2, evidence.error_band(0.2, recipe)) is None
    assert evidence.reason_not_studied(n) == f"{n:,} units are outside the 20 to 400 that were studied"


def test_a_flat_stretch_stays_flat_beyond_it():
    assert evidence._at({20: 0.1, 40: 0.09, 100: 0.09}, 1000) == pytest.approx(0.09)
    assert evidence._at({20: 0.1, 40: 0.09, 100: 0.095}, 1000) == pytest.approx(0.095)
    assert evidence._at({20: 0.1, 40: 0.05, 100: 0.04}, 40) == pytest.approx(0.05)
    # from 40 to 100 it falls faster than the square root, which is held back
    assert evidence._at({20: 0.1, 40: 0.09, 100: 0.04}, 400) == pytest.approx(0.02)
    assert evidence._at({40: 0.1}, 160) == pytest.approx(0.05)


def test_the_narrowest_situation_known_at_every_size_is_used(table):
    found = expected_rms("toy", "tree", 20, 5, 2, RARE)
    assert found.rms == pytest.approx(0.3)
    assert found.situation == "tree rules, combined below 10%"
    assert expected_rms("toy", "tree", 20, 5, 2, "combined 10% or more").rms == pytest.approx(0.2)
    assert expected_rms("unknown", "tree", 20, 5, 2, RARE) is None


def test_families_are_found_inside_pipelines_and_searches():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = unseen.datasets.load("iris").xy
    assert rule_family(make_pipeline(StandardScaler(), LogisticRegression())) == "linear"
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, cv=2).fit(X, y)
    assert rule_family(search) == "neighbours"


def test_weights_follow_the_family_of_the_model():
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    recipe = build("combined", "estimators")
    assert (
        recipe.for_model(DecisionTreeClassifier()).weights
        == build("combined", "estimators", options={"family": "tree"}).weights
    )
    assert recipe.for_model(SVC()).family == "kernel"
    assert recipe.for_model(object()).weights == recipe.weights
    assert build("combined", "estimators", options={"family": "any"}).for_model(SVC()).family == "any"
    with pytest.raises(UnknownName, match="family"):
        build("combined", "estimators", options={"family": "oak"})


def test_shipped_weights_of_the_mean_sum_to_one():
    recipe = build("auto-resub", "resubstitution")
    assert recipe({p: part(p, 0.3) for p in recipe.parts}).value == pytest.approx(0.3)
    for weights in recipe_weights("auto-resub").values():
        assert sum(weights.values()) == pytest.approx(1.0)
        assert min(weights.values()) >= 0


def test_parts_that_agree_leave_the_constant_alone():
    recipe = build("combined", "estimators")
    parts = {p: smoothed(p, 0.3, 0.3) for p in recipe.parts}
    assert recipe(parts).value == pytest.approx(0.3 + recipe.weights["level"] * 24 / 52 / math.sqrt(50))
    assert recipe.parts[0] == "632plus"
    assert recipe_bound("combined") == 1.5


@pytest.mark.parametrize("name", ["combined", "auto-resub"])
def test_evidence_is_there(name):
    for family in ("linear", "kernel", "tree", "neighbours", "generative", "any"):
        for error in (0.05, 0.3):
            found = expected_rms(name, family, 40, 10, 2, evidence.error_band(error, name))
            assert 0.01 < found.rms < found.worst
            assert found.rms < 0.2
            assert found.pooled < found.worst


def test_combined_is_made_of_the_estimates_the_single_methods_give():
    from sklearn.neighbors import KNeighborsClassifier

    X, y = unseen.datasets.load("gaussian-blocks").xy
    X, y = X[:60], y[:60]
    model = KNeighborsClassifier(3)
    both = unseen.estimate(model, X, y, method="combined", random_state=2)
    for name, value in both.values.items():
        options = {"average": "class"} if name.endswith("-balanced") else {}
        single = unseen.estimate(model, X, y, method=name.removesuffix("-balanced"), random_state=2, **options)
        # integrals by Monte Carlo draw other points here, everything else is the same number
        assert value == pytest.approx(single.value, abs=1e-12 + 6 * (getattr(single, "mc_error", None) or 0.0))
    assert both.n_fits - 100 in (1, 2)  # the model itself, once more where a part asks the run for it
    assert both.expected_rms is not None
    assert "expected RMS" in str(both)


def test_auto_resub_never_trains_and_combined_refuses_a_fitted_model():
    from sklearn.tree import DecisionTreeClassifier

    X, y = unseen.datasets.load("gaussian-blocks").xy
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    made = unseen.estimate(fitted, X, y, method="auto-resub", fitted=True, random_state=0)
    assert made.n_fits == 0
    assert {n.code for n in made.notes}.isdisjoint({"U022", "U030"})  # samples of 200 units lie between those studied
    assert made.expected_rms < made.worst_rms
    with pytest.raises(InputError, match="retrains"):
        unseen.estimate(fitted, X, y, method="combined", fitted=True)
    with pytest.raises(InputError, match="design"):
        unseen.estimate(fitted, X, y, method="combined", design="kfold")


def test_combined_says_nothing_about_regression():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    with pytest.raises(InputError):
        unseen.estimate(
            LinearRegression(), rng.normal(size=(40, 2)), rng.normal(size=40), method="combined", random_state=0
        )


@pytest.mark.parametrize(
    ("repeated", "few", "words"),
    [
        (3, 20, ""),
        (4, 20, "10% of the rows repeat others (less than 10% in the study)"),
        (0, 4, ""),
        (0, 3, "the rarest class has 7.5% of the rows (10% or more in the study)"),
    ],
)
def test_where_a_sample_is_unlike_those_studied_is_counted_by_hand(repeated, few, words):
    X = np.arange(80.0).reshape(40, 2)
    y = np.arange(40) >= 40 - few
    X[:repeated] = X[repeated]  # the first rows are copies of the next one
    assert unlike_the_study(unseen.datasets.as_data(X, y, task="classification")) == words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("groups", "the rows come in groups"),
        ("sample_weight", "the rows have weights"),
        ("time", "the rows are ordered in time"),
    ],
)
def test_dependent_and_weighted_rows_were_not_studied(given, words):
    data = unseen.datasets.as_data(np.arange(80.0).reshape(40, 2), np.arange(40) % 2, **{given: 1 + np.arange(40) // 2})
    assert unlike_the_study(data) == f"{words} (independent rows of equal weight in the study)"


def test_equal_features_with_other_labels_are_no_repeats():
    X = np.repeat(np.arange(20.0), 2)[:, None]
    data = unseen.datasets.as_data(X, np.arange(40) % 2, task="classification")
    assert unlike_the_study(data) == ""
