"""Which estimate leads, with which interval, and why."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen.assessment.headline import choose_lead, situation_of
from unseen.core.errors import UnknownName
from unseen.core.registry import build
from unseen.estimators.combined.predictive import predictive
from unseen.estimators.combined.situation import Situation
from unseen.models.sklearn import as_model

EFFORT = {"repeats": 1, "bootstrap": 20}


@pytest.fixture(scope="module")
def blocks():
    return unseen.datasets.load("gaussian-blocks").xy


@pytest.fixture(scope="module")
def assessed(blocks):
    X, y = blocks
    return unseen.assess(KNeighborsClassifier(3), X[:60], y[:60], random_state=0, effort=EFFORT)


def test_the_headline_is_made_of_the_estimates_shown(assessed):
    best = assessed.headline
    assert best.method == "combined"
    start = assessed.estimates["632plus"].value
    near = (60 * start + 1) / 62
    spread = (near * (1 - near) / 60) ** 0.5
    value = start + best.weights["level"] * spread
    for name in best.weights.keys() - {"level"}:
        shown = assessed.estimates[name.removesuffix("-balanced")]
        other = shown.balanced if name.endswith("-balanced") else shown.value
        assert best.values[name] == other
        value += best.weights[name] * max(-1.5 * spread, min(1.5 * spread, other - start))
    assert assessed.error == best.value == pytest.approx(value)
    assert len(best.weights) >= 10
    assert str(best.target) == "this model trained on 60 rows"


def test_its_interval_is_the_predictive_distribution(assessed):
    """The ends are fractiles of the Beta distribution that the constants of the package give."""
    p, c, n = predictive("combined", "neighbours"), assessed.error, 60
    units = p.scale * p.size * n / (1 + p.floor * n) * ((n * c + 1) / (n + 2) / 0.25) ** p.slope
    a, b = units * c + p.prior * p.centre, units * (1 - c) + p.prior * (1 - p.centre)
    assert tuple(assessed.interval) == pytest.approx(stats.beta.ppf([0.025, 0.975], a, b), rel=1e-9)
    low, high = build("combined", "estimators")(
        assessed.estimates, level=0.5, situation=Situation(n_units=60, fewest=20)
    ).interval
    assert assessed.interval.low < low < c < high < assessed.interval.high


def test_estimate_without_a_method_gives_the_headline(blocks):
    X, y = blocks
    a = unseen.assess(KNeighborsClassifier(3), X[:60], y[:60], random_state=3, effort="repeats=1,bootstrap=100")
    e = unseen.estimate(KNeighborsClassifier(3), X[:60], y[:60], random_state=3)
    assert (e.method, e.value, e.interval, e.target) == ("combined", a.error, a.interval, a.target)
    assert [n.text for n in e.notes if n.code == "U026"] == [
        "combined: it came nearest to the true error on data sets that were left out"
    ]
    X, y = unseen.datasets.load("diabetes").xy
    a = unseen.assess(LinearRegression(), X, y, random_state=3, effort="repeats=5")
    e = unseen.estimate(LinearRegression(), X, y, random_state=3)
    assert (e.method, e.value, e.interval, e.target) == ("range-t", a.error, a.interval, a.target)


def lead_of(data, *, loss="auto", model=None, target="model"):
    return choose_lead(as_model(model or KNeighborsClassifier(3)), data, loss, target)


def test_combined_leads_only_where_it_was_nearest(blocks):
    X, y = blocks
    sample = unseen.datasets.as_data(X[:100], y[:100])
    assert lead_of(sample).method == lead_of(sample, loss="zero-one").method == "combined"
    groups = unseen.datasets.as_data(X[:100], y[:100], groups=np.arange(100) // 2)
    weights = unseen.datasets.as_data(X[:100], y[:100], sample_weight=np.ones(100))
    few = unseen.datasets.as_data(X[:12], y[:12])
    rare = unseen.datasets.as_data(X[:100], np.arange(100) < 2)
    many = unseen.datasets.as_data(np.tile(X, (2, 1)) + np.arange(400)[:, None], np.tile(y, 2))
    numbers = unseen.datasets.as_data(X[:100], X[:100, 0])
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    for found, words in (
        (lead_of(sample, loss="auc"), "is made for error rates only"),
        (lead_of(groups), "independent rows"),
        (lead_of(weights), "no weighted form"),
        (lead_of(few), "12 units (20 to 400 in the study)"),
        (lead_of(rare), "a class has 2 rows"),
        (lead_of(many), "with 400 units"),
        (lead_of(numbers), "is made for error rates only"),
        (lead_of(sample, model=search), "GridSearchCV"),
    ):
        assert found.method == "range-t"
        assert words in found.reason


def test_the_algorithm_leads_only_if_it_is_asked_for(blocks):
    X, y = blocks
    a = unseen.assess(KNeighborsClassifier(3), X[:80], y[:80], random_state=5, effort=EFFORT, target="algorithm")
    design = unseen.designs.MonteCarlo(0.1, 25)
    e = unseen.estimate(KNeighborsClassifier(3), X[:80], y[:80], method="corrected-t", design=design, random_state=5)
    assert (a.error, a.interval, a.target) == (e.value, e.interval, e.target)
    assert str(a.target) == "the algorithm trained on 72 rows"
    with pytest.raises(UnknownName, match="did you mean 'algorithm'"):
        unseen.assess(KNeighborsClassifier(3), X, y, target="algoritm")


def test_time_order_leads_whatever_the_target(blocks):
    X, y = blocks
    ordered = unseen.datasets.as_data(X[:100], y[:100], time=np.arange(100))
    assert lead_of(ordered).method == lead_of(ordered, target="algorithm").method == "time-ordered"


def test_repeated_folds_lead_if_the_parts_cannot_be_made():
    """Text columns have no kernels: bolstering refuses them, and the folds answer."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "blue", "green"], 60), "size": rng.standard_normal(60)})
    y = (frame["colour"] == "red").to_numpy() ^ (rng.random(60) < 0.1)
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), LogisticRegression()
    )
    a = unseen.assess(model, frame, y, random_state=0, effort=EFFORT)
    e = unseen.estimate(model, frame, y, random_state=0)
    assert a.interval is not None
    assert a.headline.method == e.method
    assert e.interval is not None


def test_outside_the_study_the_recipe_has_no_interval(assessed):
    recipe = build("combined", "estimators")
    for situation in (
        Situation(n_units=12, fewest=5),
        Situation(n_units=60, fewest=2),
        Situation(n_units=60, fewest=9, resampling="it splits"),
    ):
        made = recipe(assessed.estimates, situation=situation)
        assert made.interval is None
        assert made.value == assessed.error or made.weights != assessed.headline.weights
        assert [n.code for n in made.notes if n.code == "U030"] == ["U030"]


def test_the_situation_is_that_of_model_and_sample(blocks):
    X, y = blocks
    search = as_model(GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}))
    found = situation_of(search, unseen.datasets.as_data(X[:60], y[:60]))
    assert (found.n_units, found.fewest) == (60, int(np.bincount(y[:60]).min()))
    assert found.resampling == found.outside_the_study() == "GridSearchCV cross-validates inside its fit"
    assert situation_of(search, unseen.datasets.as_data(X[:60], X[:60, 0])) is None


@pytest.mark.slow
@pytest.mark.sample
def test_the_headline_hardly_depends_on_the_seed(blocks):
    """Over seeds its standard deviation is at most a tenth of the half-width."""
    X, y = blocks
    made = [unseen.estimate(KNeighborsClassifier(3), X[:80], y[:80], random_state=seed) for seed in range(20)]
    assert np.std([e.value for e in made], ddof=1) < np.mean([e.interval.width for e in made]) / 20


def test_json_says_what_leads_and_why(assessed):
    found = json.loads(assessed.to_json())
    assert found["settings"]["lead"] == {
        "method": "combined",
        "reason": "it came nearest to the true error on data sets that were left out",
    }
    assert found["error"] == assessed.error
    assert found["interval"] == list(assessed.interval)
    assert found["target"] == "this model trained on 60 rows"


def test_a_lower_end_below_half_an_error_is_none():
    """Models without errors exist, and half an error in n rows cannot be told from none."""
    p = predictive("combined")
    for n in (40, 200):
        values = np.linspace(0, 0.1, 101)
        ends = np.array([p.interval(c, n).low for c in values])
        raw = np.minimum(stats.beta(*p.shapes(values, n)).ppf(0.025), values)
        assert ends == pytest.approx(np.where(raw < 0.5 / n, 0.0, raw), rel=1e-9)
        assert (ends == 0).sum() > 5
        assert (ends > 0).sum() > 20


def test_the_log_loss_is_named_once():
    data = unseen.datasets.load("gaussian-blocks").take(range(60))
    text = str(unseen.assess("lda", data, loss="log-loss", quick=True, random_state=0, progress=False))
    assert "an expected log loss of" in text
    assert not any(twice in text for twice in ("log loss loss", "log-loss loss"))


def test_a_rare_class_was_studied_for_the_interval_and_not_for_the_expected_rms(blocks):
    """The judged lists have rare classes, so that the first screen does not call the sample unlike those studied."""
    X, y = blocks
    rows = np.r_[np.flatnonzero(y == y[0])[:57], np.flatnonzero(y != y[0])[:4]]
    a = unseen.assess(KNeighborsClassifier(3), X[rows], y[rows], random_state=0, effort="quick")
    assert a.headline.method == "combined"
    assert a.interval is not None
    assert a.headline.expected_rms is None
    assert "U030" not in {n.code for n in a.notes}
