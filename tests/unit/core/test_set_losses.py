"""Measures of whole sets as losses: values by split, refusals by name, undefined splits, differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.errors import InputError, NotApplicable
from unseen.core.losses import SetLossTable
from unseen.core.scale import as_measure
from unseen.estimators.corrected_t import CorrectedT
from unseen.estimators.resampled_t import ResampledT

X, y = unseen.datasets.load("breast-cancer").xy
FEW = unseen.designs.MonteCarlo(0.2, 6)


@pytest.fixture(scope="module")
def table():
    return unseen.run(GaussianNB(), X, y, design=FEW, train=True, scores=True, random_state=0)


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
    (missing,) = (n for n in CorrectedT()(losses).notes if n.code == "U028")
    assert missing.text == f"AUC does not exist on {len(lacking)} of 20 test parts; they were left out"
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
    f1 = [f1_score(t.data.codes[t.test.row], t.test.value) for t in (table, other)]  # all test parts together
    assert c.pairs[0].difference == pytest.approx(f1[1] - f1[0])
    assert c["Gaussian naive Bayes", "decision tree (max_depth=1)"].share_of_splits == np.mean(
        table.losses("f1").split_means() < other.losses("f1").split_means()
    )
    assert c.pairs[0].estimate.loss == "1 - f1"
    assert c.pairs[0].effect is None
    assert c.winner.naive == pytest.approx(1 - max(f1))
    same = unseen.compare(table, other, measure="auc", test=ResampledT())
    assert same.pairs[0].difference == pytest.approx((a.split_means() - b.split_means()).mean())


def test_a_measure_of_predictions_is_that_of_the_pooled_parts_with_a_jackknife_over_splits():
    t = unseen.run("ols", *unseen.datasets.load("diabetes").xy, design=FEW, random_state=0)
    rows, truth = t.test.row, t.data.y
    losses = t.losses("r2")
    parts = losses.contributions()
    assert 1 - parts.mean() == pytest.approx(r2_score(truth[rows], t.test.value))
    for j, got in enumerate(parts):
        left = t.test.split != j
        others = [1 - r2_score(truth[rows[m]], t.test.value[m]) for m in (t.test.split != k for k in range(6))]
        without = 1 - r2_score(truth[rows[left]], t.test.value[left])
        assert got - parts.mean() == pytest.approx(-5 * (without - np.mean(others)))
    e = CorrectedT()(losses)
    n2, n1 = t.plan.mean_sizes()
    assert e.std_error == pytest.approx(parts.std(ddof=1) * np.sqrt(1 / 6 + n2 / n1))
    # where the measure is a mean of losses, a split adds its mean loss
    accuracy = table_of_classes().losses("accuracy")
    assert accuracy.contributions() == pytest.approx(accuracy.split_means())


def table_of_classes():
    return unseen.run(GaussianNB(), X, y, design=FEW, random_state=0)


def test_the_figure_of_new_cases_is_not_that_of_parts_of_five():
    """R^2 on new cases has a closed form; parts of five cases had it near -.05 on average."""
    values, spread = [], []
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        features = rng.normal(size=(50, 3))
        target = features.sum(axis=1) + rng.normal(0, np.sqrt(3), 50)
        t = unseen.run("ols", features, target, design=unseen.designs.MonteCarlo(0.1, 25), random_state=seed)
        e = CorrectedT()(t.losses("r2"))
        values.append(1 - e.value)
        spread.append(e.std_error)
    # trained on 45: 1 - (sigma^2 (1 + 4/(45 - 5)) / (3 + sigma^2)), an intercept and three weights
    truth = 1 - 3 * (1 + 4 / 40) / 6
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values, ddof=1) / np.sqrt(40))
    assert 0.7 < np.sqrt(np.mean(np.square(spread))) / np.std(values, ddof=1) < 1.4


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
    assert "expected AUC of 0.9" in a.sentence()
    assert a.baseline.value == pytest.approx(0.5)
    assert "an AUC of 0.5, and the whole interval is better" in a.verdict()
    assert a.error == a.headline.value < 0.1
    full = unseen.assess(
        GaussianNB(),
        X,
        y,
        measure="balanced-accuracy",
        random_state=0,
        effort={"splits": 5, "repeats": 1, "bootstrap": 10, "leave_out": 10, "curve": 1},
    )
    assert {e.loss for e in full.estimates.values()} == {"1 - balanced-accuracy"}
    full.report(tmp_path / "a.html")
    assert "expected balanced accuracy" in (tmp_path / "a.html").read_text()


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


@pytest.mark.slow
@pytest.mark.sample
def test_areas_are_compared_on_many_splits_unless_delong_is_named():
    models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    default, named, one = (
        unseen.compare(models, X, y, measure="auc", random_state=0, **kind)
        for kind in ({}, {"test": "corrected-t"}, {"test": "delong"})
    )
    assert [c.pairs[0].test for c in (default, named, one)] == ["subsampling", "corrected-t", "delong"]
    assert [c.pairs[0].estimate.n_fits for c in (default, named, one)] == [400, 50, 2]


def test_a_perfect_score_on_every_split_is_bounded_by_the_rarest_class():
    from scipy.stats import beta

    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], [60, 20])
    far = np.column_stack([10.0 * truth + rng.normal(size=80), rng.normal(size=80)])
    table = unseen.run(GaussianNB(), far, truth, design=unseen.designs.RepeatedKFold(4, 1), scores=True, random_state=0)
    for measure in ("auc", "f1"):
        e = CorrectedT()(table.losses(measure))
        assert (e.value, e.interval.low) == (0, 0)
        assert e.interval.high == pytest.approx(beta.ppf(0.975, 1, 20), abs=1e-12)
        assert "20 tested units of the rarest class" in e.notes[-1].text
    from sklearn.dummy import DummyClassifier

    flat = unseen.run(
        DummyClassifier(), far, truth, design=unseen.designs.RepeatedKFold(4, 1), scores=True, random_state=0
    )
    guess = CorrectedT()(flat.losses("auc"))
    assert (guess.value, guess.interval) == (0.5, None)


def test_figures_and_report_of_a_score_show_the_score(tmp_path):
    from unseen.show import info

    effort = "splits=6,repeats=0,bootstrap=0,leave_out=20,curve=2"
    a = unseen.assess("naive-bayes", X[:120], y[:120], measure="auc", random_state=0, effort=effort)
    areas = 1 - a.tables["monte-carlo"].split_means()
    shown = info(a, "estimates")
    head = shown.role.index("headline")
    assert (shown.loss, shown.values[head]) == ("auc", pytest.approx(areas.mean()))
    assert shown.span == (pytest.approx(1 - a.interval.high), pytest.approx(1 - a.interval.low))
    assert shown.low[head] <= shown.values[head] <= shown.high[head]
    gaps = info(a, "optimism")
    assert gaps.test == pytest.approx(areas)
    assert gaps.optimism.mean() == pytest.approx(gaps.mean_optimism) == pytest.approx((gaps.train - gaps.test).mean())
    spread = info(a, "distribution")
    assert np.all(np.diff(spread.fractiles) >= 0)
    assert spread.mean == pytest.approx(1 - a.tables["leave-out"].split_means().mean())
    assert spread.count.sum() == 20
    curve = info(a, "learning-curve")
    assert curve.loss == "auc"
    assert np.all((curve.test[:, 1] <= curve.test[:, 0]) & (curve.test[:, 0] <= curve.test[:, 2]))
    single = info(a.headline, "interval")
    assert (single.value, single.loss) == (pytest.approx(areas.mean()), "auc")
    page = Path(a.report(tmp_path / "a.html")).read_text("utf-8")
    assert a.verdict() in page
    assert "Training and test AUC" in page
    assert "1 - auc</text>" not in page
    assert a.title.startswith("Expected AUC of")


def test_bars_of_uneven_split_values_can_be_seen():
    from unseen.assessment.figures.distribution import distribution_info
    from unseen.core.distribution import ErrorDistribution

    values = np.array([0.0] * 10 + [0.0001, 0.03, 0.1, 0.1, 0.2])
    shown = distribution_info(ErrorDistribution(values, "1 - auc"))
    assert shown.count.sum() == 15
    assert shown.width.min() > 0.02 * 0.2


def test_comparisons_and_files_say_what_their_errors_are_of():
    rng = np.random.default_rng(4)
    label = np.repeat(["no", "yes"], 40)
    frame = pd.DataFrame({"y": label, "p": 1 / (1 + np.exp(-rng.normal(2.0 * (label == "yes") - 1)))})
    other = frame.assign(p=1 / (1 + np.exp(-rng.normal(1.0 * (label == "yes") - 0.5))))
    one = unseen.predictions({"a": frame}, truth="y", prob="p", measure="auc")
    row = one.by_file()[0]
    assert (row["measure"], row["estimate"]) == ("auc", pytest.approx(roc_auc_score(label, frame["p"])))
    assert row["lower"] < row["estimate"] < row["upper"]
    assert str(one).startswith(f"a has an AUC of {row['estimate']:.4g} (95% interval")
    assert f"\na: auc {row['estimate']:.4g}" in str(one)
    two = unseen.predictions({"a": frame, "b": other}, truth="y", prob="p", measure="auc")
    better = roc_auc_score(label, frame["p"]) > roc_auc_score(label, other["p"])
    assert (two.pairs[0].difference < 0) == better
    assert "Errors are 1 - auc: a difference below zero means that a has the larger AUC" in str(two)
    assert unseen.predictions({"a": frame}, truth="y", prob="p").scale_sentence() == ""


def test_a_comparison_by_score_shows_the_scores():
    from unseen.show import info

    c = unseen.compare("naive-bayes", "cart", X[:120], y[:120], measure="f1", random_state=0)
    assert c.scale_sentence() in str(c)
    assert f"naive-bayes {1 - c.estimates['naive-bayes'].value:.4g}" in c.scale_sentence()
    shown = info(c, "models")
    best = min(e.value for e in c.estimates.values())
    assert (shown.loss, shown.values[0]) == ("f1", pytest.approx(1 - best))
    assert np.all(shown.low <= shown.values)
    assert unseen.compare("naive-bayes", "cart", X[:120], y[:120], random_state=0).scale_sentence() == ""


def test_the_report_of_one_estimate_shows_the_score(tmp_path):
    e = unseen.estimate("naive-bayes", X[:120], y[:120], method="corrected-t", loss="auc", random_state=0)
    page = Path(e.report(tmp_path / "e.html")).read_text("utf-8")
    low, high = 1 - e.interval.high, 1 - e.interval.low
    assert f"Estimated AUC: {1 - e.value:.4g} (95% interval {low:.4g} to {high:.4g})" in page
    assert "higher is better" in page
