"""scikit-learn's names, scorers and functions of (y_true, y_pred) in `measure` and `predictions`, beside scikit-learn's own values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from typer.testing import CliRunner

import unseen
from unseen.cli.app import _attach_commands, app
from unseen.core.errors import UnknownName
from unseen.measures.scoring import resolve_measure

_attach_commands()

rng = np.random.default_rng(0)
Y = rng.choice(["a", "b", "c"], 90, p=[0.5, 0.3, 0.2])
P = np.where(rng.random(90) < 0.7, Y, rng.choice(["a", "b", "c"], 90))
TWO, SCORE = np.where(Y == "a", "no", "yes"), np.clip(0.5 + 0.3 * (Y != "a") - 0.15 + 0.2 * rng.normal(size=90), 0, 1)
NUMBER = rng.normal(size=60)
GUESS = NUMBER + 0.5 * rng.normal(size=60)


def hits(y, p):
    return float(np.mean(y == p))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("f1_macro", metrics.f1_score(Y, P, average="macro")),
        ("f1_weighted", metrics.f1_score(Y, P, average="weighted")),
        ("f1_micro", metrics.f1_score(Y, P, average="micro")),
        ("precision_macro", metrics.precision_score(Y, P, average="macro")),
        ("recall_weighted", metrics.recall_score(Y, P, average="weighted")),
        ("jaccard_macro", metrics.jaccard_score(Y, P, average="macro")),
        ("balanced_accuracy", metrics.balanced_accuracy_score(Y, P)),
        (metrics.make_scorer(metrics.fbeta_score, beta=2, average="macro"), metrics.fbeta_score(Y, P, beta=2, average="macro")),
        (hits, np.mean(Y == P)),
    ],
)  # fmt: skip
def test_measures_of_labels(given, expected):
    (found,) = unseen.measure(Y, P, measures=[given], n_bootstrap=200).estimates.values()
    assert found.value == pytest.approx(expected)
    assert found.interval.low < expected < found.interval.high
    assert found.interval.width < 0.4


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_measures_of_two_classes(positive):
    score = SCORE if positive == "yes" else 1 - SCORE
    called = np.where(score >= 0.5, positive, "no" if positive == "yes" else "yes")
    names = ["roc_auc", "neg_brier_score", "neg_log_loss", "f1", "precision", "recall", "jaccard"]
    found = unseen.measure(TWO, score, measures=names, positive=positive, n_bootstrap=100)
    true = positive == TWO
    expected = {
        "auc": metrics.roc_auc_score(true, score),
        "brier": metrics.brier_score_loss(true, score),
        "log-loss": metrics.log_loss(true, score),
        "f1": metrics.f1_score(TWO, called, pos_label=positive),
        "positive-predictive-value": metrics.precision_score(TWO, called, pos_label=positive),
        "sensitivity": metrics.recall_score(TWO, called, pos_label=positive),
        "jaccard": metrics.jaccard_score(TWO, called, pos_label=positive),
    }
    assert {name: e.value for name, e in found.estimates.items()} == pytest.approx(expected)


def test_measures_of_numbers():
    names = ["mae", "rmse", "mse", "r2", "neg_median_absolute_error", "neg_max_error", "explained_variance"]
    found = [e.value for e in unseen.measure(NUMBER, GUESS, measures=names, n_bootstrap=100).estimates.values()]
    assert found == pytest.approx(
        [
            metrics.mean_absolute_error(NUMBER, GUESS),
            metrics.root_mean_squared_error(NUMBER, GUESS),
            metrics.mean_squared_error(NUMBER, GUESS),
            metrics.r2_score(NUMBER, GUESS),
            metrics.median_absolute_error(NUMBER, GUESS),
            metrics.max_error(NUMBER, GUESS),
            metrics.explained_variance_score(NUMBER, GUESS),
        ]
    )


def test_a_scorer_alone_needs_no_list():
    assert list(unseen.measure(Y, P, measures="f1_macro", n_bootstrap=100).estimates) == ["f1_macro"]
    assert list(unseen.measure(Y, P, measures=hits, n_bootstrap=100).estimates) == ["hits"]


@pytest.mark.parametrize("name", ["f1", "fbeta", "precision", "recall", "jaccard"])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "binary"])
def test_counts_give_what_the_function_gives(name, average):
    function = getattr(metrics, f"{name}_score")
    options = {"average": average} | ({"beta": 0.5} if name == "fbeta" else {})
    classes = np.array(["a", "b"]) if average == "binary" else np.array(["a", "b", "c"])
    y, value = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 1, 0, 0, 1])
    if average != "binary":
        y[5], value[0] = 2, 2
    one = resolve_measure(metrics.make_scorer(function, **options)).for_classes(classes, "b")
    # in the second weighting class c is neither true nor predicted, in the third b is never true
    weights = np.array([[1, 1, 1, 1, 1, 1], [0, 2, 1, 1, 1, 0], [1, 1, 0, 0, 1, 2], [0.5, 2, 1, 0, 3, 1]], dtype=float)
    found = one.of_weights(y, value, None, weights)
    for w, got in zip(weights, found):
        keep = w > 0
        label = {"pos_label": 1} if average == "binary" else {}
        expected = function(y[keep], value[keep], sample_weight=w[keep], zero_division=0, **options, **label)
        assert got == pytest.approx(expected)
        assert one.of_set(y, value, None, w) == pytest.approx(expected)


@pytest.fixture
def files(tmp_path):
    worse = np.where(np.arange(90) % 3 == 0, "a", P)
    for name, predicted in (("new", P), ("old", worse)):
        pd.DataFrame({"item": range(90), "y": Y, "yhat": predicted, "site": np.tile(["u", "v", "w"], 30)}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")], worse


@pytest.mark.slow
@pytest.mark.sample
def test_files_by_name_scorer_and_function(files):
    paths, worse = files
    macro = [metrics.f1_score(Y, p, average="macro") for p in (P, worse)]
    for measure, expected in (
        ("f1_macro", macro),
        (metrics.make_scorer(metrics.f1_score, average="macro"), macro),
        (hits, [np.mean(Y == P), np.mean(worse == Y)]),
    ):
        r = unseen.predictions(*paths, truth="y", pred="yhat", id="item", measure=measure)
        shown = [e.on_scale().value for e in r.estimates.values()]
        assert shown == pytest.approx(expected)
        # differences are of losses: below zero means that the first is better
        assert r.pairs[0].difference == pytest.approx(expected[1] - expected[0])
        assert r.pairs[0].interval.low < r.pairs[0].difference < r.pairs[0].interval.high


def test_names_on_the_command_line(files):
    (new, old), worse = files
    columns = ["--truth", "y", "--pred", "yhat"]
    made = CliRunner().invoke(app, ["measure", new, *columns, "--measure", "f1_macro,recall_macro", "--json", "-q"])
    found = json.loads(made.stdout)["measures"]
    assert list(found) == ["f1_macro", "recall_macro"]
    assert found["f1_macro"]["value"] == pytest.approx(metrics.f1_score(Y, P, average="macro"))
    made = CliRunner().invoke(
        app,
        ["predictions", new, old, *columns, "--id", "item", "--measure", "f1_macro", "--by", "site", "--json", "-q"],
    )
    assert made.exit_code == 0
    found = json.loads(made.stdout)
    assert found["pairs"][0]["difference"] == pytest.approx(
        metrics.f1_score(Y, worse, average="macro") - metrics.f1_score(Y, P, average="macro")
    )
    site = np.tile(["u", "v", "w"], 30)
    first = found["slices"][0]["slices"][0]
    assert first["estimate"] == pytest.approx(metrics.f1_score(Y[site == "u"], P[site == "u"], average="macro"))


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="f1_makro"):
        unseen.measure(Y, P, measures=["f1_makro"])
    made = CliRunner().invoke(app, ["predictions", "x.csv", "--truth", "y", "--pred", "p", "--measure", "f1_makro"])
    assert isinstance(made.exception, UnknownName)


@pytest.mark.parametrize(
    ("name", "direction"), [("cost", "lower"), ("total_costs", "lower"), ("my_loss", "lower"), ("lossless", "higher")]
)
def test_the_last_word_of_a_name_says_which_side_is_better(name, direction):
    assert unseen.measures.Scoring(lambda y, p: 0.0, name=name).direction == direction
