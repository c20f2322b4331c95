"""`assess`: one headline, its support, its repeatability."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.assessment import assess as assess_module
from unseen.core.errors import InputError, Stopped, UnknownName
from unseen.core.losses import PredictionTable
from unseen.request import request as request_module
from unseen.request.effort import Effort, effort_of, within_budget

SMALL = {"splits": 10, "repeats": 1, "bootstrap": 25, "leave_out": 30, "curve": 2}


@pytest.fixture(scope="module")
def wine():
    return unseen.datasets.load("wine").xy


@pytest.fixture(scope="module")
def assessed(wine):
    return unseen.assess(DecisionTreeClassifier(max_depth=2), *wine, random_state=5, effort=SMALL)


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k != "seconds"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def test_an_estimate_is_that_of_one_method_with_the_same_seed(assessed, wine):
    design = unseen.designs.RepeatedKFold(10, 1)
    e = unseen.estimate(DecisionTreeClassifier(max_depth=2), *wine, method="range-t", design=design, random_state=5)
    found = assessed.estimates["range-t"]
    assert (found.value, tuple(found.interval), found.target) == (e.value, tuple(e.interval), e.target)
    assert assessed.headline is assessed.estimates["combined"]


def test_every_table_gives_its_own_estimates(assessed):
    assert set(assessed.tables) == {"monte-carlo", "repeated-kfold", "bootstrap", "leave-out", "learning-curve"}
    assert {"resub", "632plus", "bootstrap-zero", "repeated-kfold", "optimism-corrected"} <= set(assessed.estimates)
    assert "resampled-t" not in assessed.estimates
    spread = assessed.distribution
    assert len(spread.values) == 30
    assert spread.avr == pytest.approx(assessed.tables["leave-out"].split_means().mean())


def test_resubstitution_is_the_training_error_of_the_model_on_all_rows(assessed, wine):
    X, y = wine
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert assessed.estimates["resub"].value == pytest.approx(np.mean(fitted.predict(X) != y), abs=0.02)
    s, zero = (assessed.estimates[name].value for name in ("resub", "bootstrap-loo"))
    assert assessed.estimates["632"].value == pytest.approx(0.368 * s + 0.632 * zero, abs=1e-12)
    assert [assessed.estimates[name].n_fits for name in ("range-t", "632")] == [10, 26]


def test_baseline_is_the_majority_rule_on_the_same_splits(assessed, wine):
    _, y = wine
    labels, counts = np.unique(y, return_counts=True)
    most = labels[np.argmax(counts)]
    tested = np.concatenate([s.test for s in assessed.tables["repeated-kfold"].plan])
    assert assessed.baseline.value == pytest.approx(np.mean(y[tested] != most), abs=1e-12)


def test_baseline_of_balanced_classes_is_not_worse_than_guessing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), np.repeat([0, 1], 40)
    a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="splits=200")
    assert a.baseline.value == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(8 * 200))


def test_result_is_plain_json_and_repeats(assessed, wine):
    again = unseen.assess(
        DecisionTreeClassifier(max_depth=2), *wine, random_state=5, effort=assessed.settings["effort"]
    )
    text = json.dumps(assessed.to_dict(), allow_nan=False)
    assert without_times(json.loads(text)) == without_times(json.loads(json.dumps(again.to_dict())))


def test_frame_has_the_shared_columns(assessed):
    frame = assessed.frame()
    assert list(frame.columns[:9]) == [
        "term",
        "estimate",
        "std_error",
        "lower",
        "upper",
        "level",
        "method",
        "target",
        "n",
    ]
    assert frame.method.iloc[0] == "combined"
    assert frame.method.iloc[-1] == "baseline"


def test_quick_has_what_the_headline_needs_only(wine):
    a = unseen.assess(GaussianNB(), *wine, random_state=0, effort="quick")
    assert {name: len(table.plan) for name, table in a.tables.items()} == {"repeated-kfold": 10, "bootstrap": 50}
    assert a.headline.method == "combined"
    assert a.distribution is None


def test_effort_goes_by_the_size_of_the_sample():
    assert Effort.full(280) == Effort(repeats=5)
    assert Effort.full(281) == Effort.full(700) == Effort(repeats=5, bootstrap=50)
    assert Effort.full(1000) == Effort(repeats=5, bootstrap=0, leave_out=0, direct=0)
    assert Effort.full(2001) == Effort(repeats=2, bootstrap=0, leave_out=0, curve=0, direct=0)
    assert Effort.full(100_001).repeats == Effort.quick(100_001).repeats == 1
    assert effort_of("leave_out=30", 100) == Effort(repeats=1, bootstrap=0, leave_out=30, curve=0)
    assert effort_of("splits=30", 100) == Effort(splits=30, repeats=0, bootstrap=0, leave_out=0, curve=0)


def test_sentence_says_value_interval_and_target(assessed):
    low, high = assessed.interval
    text = assessed.sentence()
    assert f"{100 * assessed.error:.1f}%" in text
    assert f"{100 * low:.1f}% to {100 * high:.1f}%" in text
    assert "this model trained on 178 rows" in text


def test_regression_uses_squared_error():
    X, y = unseen.datasets.load("diabetes").xy
    a = unseen.assess(LinearRegression(), X, y, random_state=0, effort="quick")
    assert (a.headline.loss, a.headline.method) == ("squared", "range-t")
    assert a.baseline.value == pytest.approx(np.var(y), rel=0.1)
    assert f"typical error (RMSE) of {np.sqrt(a.error):.4g}" in a.sentence()


def test_every_estimate_speaks_of_the_headlines_loss():
    X, y = unseen.datasets.load("diabetes").xy
    for loss in ("squared", "absolute"):
        a = unseen.assess(LinearRegression(), X[:100], y[:100], loss=loss, random_state=0, effort=SMALL)
        assert {e.loss for e in a.estimates.values()} == {loss}
        assert a.estimates["resub"].value < a.error
    assert "fpe" not in a.estimates


def test_a_direct_method_gives_the_loss_asked_for_or_refuses():
    X, y = unseen.datasets.load("diabetes").xy
    gap = LinearRegression().fit(X, y).predict(X) - y
    resub = unseen.estimate(LinearRegression(), X, y, method="resub", loss="absolute", random_state=0)
    assert resub.value == pytest.approx(np.abs(gap).mean(), rel=1e-9)
    with pytest.raises(InputError, match="fpe estimates squared and cannot give absolute"):
        unseen.estimate(LinearRegression(), X, y, method="fpe", loss="absolute", random_state=0)


def test_weights_leave_out_methods_without_a_weighted_form(wine):
    X, y = wine
    a = unseen.assess(GaussianNB(), X, y, sample_weight=np.linspace(1, 2, len(y)), random_state=0, effort=SMALL)
    from unseen.core.registry import classes_in

    weighted = {
        name
        for kind in ("estimators", "resubstitution")
        for name, c in classes_in(kind).items()
        if getattr(c, "weighted", False)
    }
    assert set(a.estimates) <= weighted
    assert a.headline is a.estimates["range-t"]


def test_time_order_takes_the_ordered_design(wine):
    X, y = wine
    order = np.random.default_rng(0).permutation(len(y))
    a = unseen.assess(GaussianNB(), X, y, time=order, random_state=0)
    assert a.headline.method == "time-ordered"
    for s in a.tables["time-ordered"].plan:
        assert order[s.train].max() < order[s.test].min()


def test_interruption_keeps_what_was_finished(wine, monkeypatch):
    real = request_module.execute

    def execute(model, data, plan, **options):
        if plan.design == "bootstrap":
            raise Stopped("stopped after 3 of 26 fits of bootstrap")
        return real(model, data, plan, **options)

    monkeypatch.setattr(request_module, "execute", execute)
    a = unseen.assess(GaussianNB(), *wine, random_state=0, effort=SMALL)
    assert not a.complete
    assert set(a.tables) == {"monte-carlo", "repeated-kfold"}
    assert a.headline.method == "range-t"
    assert any(n.code == "U018" and "3 of 26 fits" in n.text for n in a.notes)


def test_losses_are_derived_once_per_table(wine, monkeypatch):
    real, derived = PredictionTable.losses, []

    def losses(table, loss="auto"):
        derived.append((table.plan.design, table.model))
        return real(table, loss)

    monkeypatch.setattr(PredictionTable, "losses", losses)
    a = unseen.assess(GaussianNB(), *wine, random_state=0, effort=SMALL)
    assert "632plus" in a.estimates
    assert len(derived) == len(set(derived)) == len(a.tables) + 1  # and the baseline


class Listener:
    def __init__(self):
        self.said = []

    def expect(self, fits, label):
        pass

    def advance(self, fits, failed=0):
        pass

    def say(self, text):
        self.said.append(text)

    def close(self):
        pass


def test_long_runs_say_so_at_the_start(wine, monkeypatch):
    monkeypatch.setattr(assess_module, "LONG_RUN", 1e-6)
    listener = Listener()
    unseen.assess(GaussianNB(), *wine, random_state=0, effort=SMALL, progress=listener)
    assert len(listener.said) == 1
    assert "fits" in listener.said[0]


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.3, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("budget", [10.0, 60.0, 600.0])
def test_budget_is_kept_down_to_the_smallest_headline(seconds, budget):
    effort = within_budget(seconds, budget)
    assert effort.fits * seconds <= budget or effort == Effort(repeats=1, bootstrap=0, leave_out=0, curve=0)


@pytest.mark.parametrize("bad", ["splits=1", "splits=x", "leave_out=-3", {"splits": None}])
def test_bad_effort_is_refused(bad):
    with pytest.raises(InputError):
        effort_of(bad, 100)


def test_unknown_effort_suggests():
    with pytest.raises(UnknownName, match="did you mean 'splits'"):
        effort_of("split=20", 100)


def test_more_splits_than_there_are_is_refused_before_any_fit():
    X, y = np.random.default_rng(0).standard_normal((12, 2)), np.arange(12) % 2
    with pytest.raises(InputError, match="in only 220 ways"):
        unseen.assess(GaussianNB(), X, y, random_state=0, effort="splits=25,leave_out=1000")
    a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="splits=25,leave_out=200")
    assert len(a.tables["leave-out"].plan) == 200


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, float("nan"), "high"])
def test_level_must_lie_between_0_and_1(wine, level):
    with pytest.raises(InputError, match="level"):
        unseen.assess(GaussianNB(), *wine, level=level)


def test_perfect_rule_gets_a_bound_not_a_point():
    X = np.repeat([[0.0], [1.0]], 30, axis=0) + np.random.default_rng(0).normal(0, 1e-3, (60, 1))
    y = np.repeat([0, 1], 30)
    a = unseen.assess(DecisionTreeClassifier(), X, y, random_state=0, effort="quick")
    assert a.estimates["range-t"].value == 0
    assert a.interval.low == 0 < a.error < 0.01
    assert a.interval.high > 0.02
    assert "U004" in {n.code for n in a.notes}


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"budget": "fast"}, "budget is 'fast'; give seconds above 0"),
        ({"budget": -1}, "budget is -1; give seconds above 0"),
        ({"budget": True}, "budget is True; give seconds above 0"),
        ({"budget": float("nan")}, "budget is nan; give seconds above 0"),
        ({"effort": 3}, 'effort is 3; give "full", "quick"'),
    ],
)
def test_a_senseless_limit_is_refused_before_anything_is_fitted(option, words):
    class Unfitted:
        def fit(self, X, y):
            pytest.fail("fitted")

    X, y = unseen.datasets.load("iris").xy
    with pytest.raises(InputError, match=words):
        unseen.assess(Unfitted(), X, y, **option)
