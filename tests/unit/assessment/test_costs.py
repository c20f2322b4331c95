"""Costs of decisions in assess, compare and estimate, with the threshold chosen inside the training part."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import unseen
from unseen.assessment.costs import measure_of
from unseen.cli.app import main
from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.measures import Auc, Cost, Quantile
from unseen.models.threshold import UtilityThreshold

COSTS = ((0, 1), (20, 0))
FEW = "splits=8,repeats=0,bootstrap=0,leave_out=0,curve=0"


@pytest.fixture(scope="module")
def tumours():
    X, y = unseen.datasets.load("breast-cancer").xy
    return X[:160], y[:160]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("truth,malignant,benign\nmalignant,0,20\nbenign,1,0\n")  # not in sorted order on purpose
    return str(path)


def test_assess_by_a_cost_matrix_is_the_mean_cost_of_its_splits(tumours):
    a = unseen.assess(GaussianNB(), *tumours, measure=Cost(COSTS), random_state=3, effort=FEW)
    table = a.tables["monte-carlo"].source[0]
    truth, said = table.data.codes[table.test.row], table.test.value
    each = np.array([np.mean(np.array(COSTS)[truth[m], said[m]]) for m in (table.test.split == j for j in range(8))])
    assert a.error == pytest.approx(each.mean())
    assert 0 <= a.interval.low <= a.error <= a.interval.high <= 20
    assert "an expected cost of" in a.sentence()
    assert "measure=unseen.measures.Cost(costs=((0.0, 1.0), (20.0, 0.0)))" in a.settings["repeat"]
    assert unseen.estimate(GaussianNB(), *tumours, method="kfold", loss=Cost(COSTS), random_state=3).loss == "cost"


def test_the_chosen_threshold_costs_less_and_swapped_costs_do_not(tumours):
    plain, chosen, swapped = (
        unseen.assess(model, *tumours, measure=Cost(COSTS), random_state=3, effort=FEW).error
        for model in (
            GaussianNB(),
            unseen.UtilityThreshold(GaussianNB(), costs=COSTS, random_state=0),
            unseen.UtilityThreshold(GaussianNB(), costs=np.transpose(COSTS), random_state=0),
        )
    )
    assert chosen < plain < swapped


def test_command_line(file, monkeypatch, capsys):
    def answer(*words):
        monkeypatch.setattr("sys.argv", ["unseen", *words, "-q", "--json", "--costs", file])
        with pytest.raises(SystemExit, match="0"):
            main()
        return json.loads(capsys.readouterr().out)

    words = ("assess", "breast-cancer", "-m", "naive-bayes", "--n", "160", "--quick")
    plain, chosen = answer(*words), answer(*words, "--choose-threshold")
    assert (plain["loss"], chosen["loss"]) == ("cost", "cost")
    assert chosen["error"] < plain["error"]
    assert chosen["model"] == "naive-bayes at its cheapest threshold"
    pair = answer("compare", "breast-cancer", "-m", "naive-bayes", "-m", "cart", "--n", "100")["pairs"][0]
    assert pair["loss"] == "cost"


def _file_with_gaps(path):
    """Write a file with a text column, missing numbers and a missing text."""
    X, y = unseen.datasets.load("breast-cancer").xy
    frame = pd.DataFrame(np.asarray(X)[:160, :3], columns=["a", "b", "c"])
    frame["size"] = np.where(frame["a"] > frame["a"].median(), "large", "small")
    frame.loc[::7, "b"] = np.nan
    frame.loc[3, "size"] = None
    frame["diagnosis"] = np.asarray(y)[:160]
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("model", ["logistic", "naive-bayes", "boosting"])
def test_a_threshold_is_chosen_on_files_with_gaps_and_text(model, file, tmp_path, monkeypatch, capsys):
    data = _file_with_gaps(tmp_path / "gaps.csv")
    words = [
        "unseen",
        "assess",
        data,
        "--target",
        "diagnosis",
        "-m",
        model,
        "--effort",
        FEW,
        "-q",
        "--json",
        "--costs",
        file,
    ]
    monkeypatch.setattr("sys.argv", [*words, "--choose-threshold"])
    with pytest.raises(SystemExit, match="0"):
        main()
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == f"{model} at its cheapest threshold"
    assert found["error"] < 1


def test_a_threshold_takes_what_its_estimator_takes():
    X = pd.DataFrame({"a": [0.0, 1.0, np.nan, 3.0] * 10, "b": ["x", "y", "y", "x"] * 10})
    y = np.array([0, 1, 1, 0] * 10)
    inner = make_pipeline(make_column_transformer((OneHotEncoder(), ["b"])), LogisticRegression())
    assert (UtilityThreshold(inner, random_state=0).fit(X, y).predict(X) == y).all()
    sparse = csr_matrix(np.c_[y, 1 - y].astype(float))
    assert (UtilityThreshold(LogisticRegression(), random_state=0).fit(sparse, y).predict(sparse) == y).all()
    with pytest.raises(ValueError, match="NaN"):
        UtilityThreshold(LogisticRegression()).fit(X[["a"]].to_numpy(), y)


@pytest.mark.parametrize(("measure", "guess"), [("log-loss", np.log(2)), ("brier", 0.25)])
def test_guessing_probabilities_gives_each_class_its_frequency(measure, guess):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.array([0, 1] * 30)
    found = unseen.assess(GaussianNB(), X, y, measure=measure, effort=FEW, random_state=0).baseline
    assert found.value == pytest.approx(guess, rel=0.05)


def test_bad_costs(file):
    cancer, iris = (unseen.datasets.load(name) for name in ("breast-cancer", "iris"))
    assert measure_of("auto", file, cancer).costs == ((0, 1), (20, 0))
    with pytest.raises(InputError, match="the measure is auc"):
        measure_of("auc", file, cancer)
    with pytest.raises(InputError, match="each class once"):
        measure_of("auto", file, iris)
    with pytest.raises(InputError, match="this is regression"):
        measure_of("auto", file, unseen.datasets.load("diabetes"))
    with pytest.raises(KindError, match="give an id"):
        unseen.assess(GaussianNB(), cancer, measure=3.0)
    with pytest.raises(InputError, match="takes a loss by its id"):
        unseen.estimate(GaussianNB(), *cancer.xy, method="resub", loss=Cost(COSTS))


def test_a_quantile_of_choice():
    X, y = unseen.datasets.load("diabetes").xy
    high, low = (
        unseen.assess("ridge", X[:100], y[:100], measure=Quantile(q), random_state=0, effort=FEW).error
        for q in (0.9, 0.1)
    )
    half = unseen.assess("ridge", X[:100], y[:100], measure="absolute", random_state=0, effort=FEW).error
    assert high + low == pytest.approx(half)  # q and 1 - q weigh both sides of each gap, which add up to its size


def test_the_area_of_several_classes_is_the_mean_against_the_rest():
    X, y = unseen.datasets.load("wine").xy
    table = unseen.run("naive-bayes", X, y, design=unseen.designs.KFold(3), scores=True, random_state=0)
    for j, got in enumerate(table.losses("auc").split_means()):
        mine = table.test.split == j
        score = table.test.score[mine]
        assert 1 - got == pytest.approx(roc_auc_score(y[table.test.row[mine]], score, multi_class="ovr"))
    truth, score = (
        np.array([0, 0, 1, 1]),
        np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.3, 0.6, 0.1], [0.5, 0.4, 0.1]]),
    )
    left_out = np.mean([roc_auc_score(truth == k, score[:, k]) for k in (0, 1)])
    assert Auc().of_set(truth, truth, score) == pytest.approx(left_out)
    with pytest.raises(NotApplicable, match="test='corrected-t'"):
        unseen.compare("lda", "naive-bayes", X, y, measure="auc", test="delong", random_state=0)
