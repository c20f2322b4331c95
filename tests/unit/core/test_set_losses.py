"""Measures of whole sets as losses: values by split, refusals by name, undefined splits, differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, NotApplicable
from unseen.core.set_losses import SetLossTable, as_measure
from unseen.estimators.corrected_t import CorrectedT
from unseen.estimators.resampled_t import ResampledT

X, y = unseen.datasets.load("breast-cancer").xy
FEW = unseen.designs.MonteCarlo(0.2, 6)


@pytest.fixture(scope="module")
def table():
    return unseen.run(GaussianNB(), X, y, design=FEW, scores=True, random_state=0)


def test_each_split_has_the_value_of_its_test_part(table):
    losses = table.losses("auc")
    assert isinstance(losses, SetLossTable)
    assert (losses.loss, losses.range) == ("1 - auc", (0.0, 1.0))
    for j, got in enumerate(losses.split_means()):
        mine = table.test.split == j
        truth = y[table.test.row[mine]]
        assert 1 - got == pytest.approx(roc_auc_score(truth, table.test.score[mine, 1]))
    for j, got in enumerate(table.losses("f1").train_errors()):
        mine = table.train.split == j
        truth = table.data.codes[table.train.row[mine]]
        assert 1 - got == pytest.approx(f1_score(truth, table.train.value[mine]))


def test_methods_of_splits_accept_it_and_others_refuse_by_name(table):
    e = unseen.estimate(table, method="corrected-t", loss="auc")
    means = table.losses("auc").split_means()
    n2, n1 = table.plan.mean_sizes()
    assert e.value == pytest.approx(means.mean())
    assert e.std_error == pytest.approx(means.std(ddof=1) * np.sqrt(1 / 6 + n2 / n1))
    k = unseen.run(GaussianNB(), X, y, scores=True, random_state=0)
    with pytest.raises(
        NotApplicable, match="cv-wald needs the loss of each unit, and 1 - auc exists for whole test parts"
    ):
        unseen.estimate(k, method="cv-wald", loss="auc")
    for refused in ("by_unit", "by_row", "dense"):
        with pytest.raises(NotApplicable):
            getattr(table.losses("auc"), refused)()


def test_splits_without_a_class_are_left_out_with_a_note():
    rng = np.random.default_rng(0)
    labels = np.array([1] * 6 + [0] * 54)
    features = rng.normal(labels[:, None], 1.0, (60, 2))
    t = unseen.run(
        GaussianNB(), features, labels, design=unseen.designs.MonteCarlo(0.1, 20), scores=True, random_state=0
    )
    losses = t.losses("auc")
    lacking = [j for j, s in enumerate(t.plan) if len(np.unique(labels[s.test])) < 2]
    assert 0 < len(lacking) < 20
    assert losses.undefined == tuple(lacking)
    assert len(losses.split_means()) == 20 - len(lacking)
    assert np.isfinite(losses.split_means()).all()
    assert "U028" in {n.code for n in CorrectedT()(losses).notes}
    one = unseen.run(GaussianNB(), features, labels, design="loo", scores=True, random_state=0)
    with pytest.raises(InputError, match="does not exist on any test part"):
        one.losses("auc")


def test_a_difference_is_the_difference_by_split(table):
    other = unseen.run(
        DecisionTreeClassifier(max_depth=1, random_state=0), X, y, design=FEW, scores=True, random_state=0
    )
    a, b = table.losses("auc"), other.losses("auc")
    assert a.minus(b).split_means() == pytest.approx(a.split_means() - b.split_means())
    c = unseen.compare(table, other, measure="f1", test="corrected-t")
    f1 = table.losses("f1").split_means() - other.losses("f1").split_means()
    assert c.pairs[0].difference == pytest.approx(f1.mean())
    assert c.pairs[0].estimate.loss == "1 - f1"
    assert c.pairs[0].effect is None
    assert c.winner.naive == pytest.approx(
        min(table.losses("f1").split_means().mean(), other.losses("f1").split_means().mean())
    )
    same = unseen.compare(table, other, measure="auc", test=ResampledT())
    assert same.pairs[0].difference == pytest.approx((a.split_means() - b.split_means()).mean())


def test_numbers_and_measures_without_an_upper_end():
    t = unseen.run("ols", *unseen.datasets.load("diabetes").xy, design=FEW, random_state=0)
    target = t.data.y
    for j, got in enumerate(t.losses("r2").split_means()):
        mine = t.test.split == j
        assert 1 - got == pytest.approx(r2_score(target[t.test.row[mine]], t.test.value[mine]))
    assert t.losses("rms").loss == "rms"
    assert as_measure("1 - r2", 0.75) == ("r2", 0.25)


def test_assess_speaks_of_the_measure(tmp_path):
    a = unseen.assess(GaussianNB(), X, y, measure="auc", random_state=0, effort="quick")
    assert "expected auc of 0.9" in a.sentence()
    assert a.baseline.value == pytest.approx(0.5)
    assert "0.5 auc" in a.baseline_sentence()
    assert a.error == a.headline.value < 0.1
    full = unseen.assess(
        GaussianNB(), X, y, measure="balanced-accuracy", random_state=0,
        effort={"splits": 5, "repeats": 1, "bootstrap": 10, "leave_out": 10, "curve": 1},
    )  # fmt: skip
    assert {e.loss for e in full.estimates.values()} == {"1 - balanced-accuracy"}
    full.report(tmp_path / "a.html")
    assert "expected balanced-accuracy" in (tmp_path / "a.html").read_text()


def test_files_of_predictions():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 100)
    a = pd.DataFrame({"y": truth, "p": np.where(rng.random(200) < 0.85, truth, 1 - truth)})
    b = pd.DataFrame({"y": truth, "p": np.where(rng.random(200) < 0.7, truth, 1 - truth)})
    r = unseen.predictions({"a": a, "b": b}, truth="y", pred="p", measure="f1")
    values = [f1_score(truth, frame["p"]) for frame in (a, b)]
    assert r.estimates["a"].value == pytest.approx(1 - values[0])
    assert r.estimates["a"].interval.low < 1 - values[0] < r.estimates["a"].interval.high
    pair = r["a", "b"]
    assert pair.difference == pytest.approx(values[1] - values[0])
    assert pair.test == "paired-bootstrap"
    assert pair.interval.low < pair.difference < pair.interval.high < 0
    assert pair.p < 0.05
    same = unseen.predictions({"a": a, "b": a}, truth="y", pred="p", measure="mcc")
    assert same["a", "b"].difference == 0
    assert same["a", "b"].p == 1


def test_a_named_test_of_areas_is_taken_by_splits_and_delong_is_the_default():
    models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    default, named = (
        unseen.compare(models, X, y, measure="auc", random_state=0, **kind) for kind in ({}, {"test": "corrected-t"})
    )
    assert default.pairs[0].test == "delong"
    assert named.pairs[0].test == "corrected-t"
    assert (default.pairs[0].estimate.n_fits, named.pairs[0].estimate.n_fits) == (2, 50)
