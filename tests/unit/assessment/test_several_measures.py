"""Several measures of one assessment: each as if it had been asked for alone, and nothing fitted twice."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import unseen
from unseen.assessment.figures.curves import measures_of
from unseen.core.errors import InputError
from unseen.show import build, info
from unseen.show.sections import Pictures, Table, Text

EFFORT = "repeats=2,bootstrap=20"


class Counted(LogisticRegression):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(3)
    y = np.repeat(["ill", "well"], [40, 60])
    return rng.normal(size=(100, 3)) + 0.9 * (y == "ill")[:, None], y


def assess(sample, **options):
    Counted.fits = 0
    a = unseen.assess(Counted(), *sample, positive="ill", random_state=1, effort=EFFORT, **options)
    return a, Counted.fits


@pytest.fixture(scope="module")
def several(sample):
    return assess(sample, measures=["accuracy", "auc", "f1", "brier"])


def test_nothing_is_fitted_twice(sample, several):
    assert several[1] == assess(sample)[1] == 20 + 20 + 1


@pytest.mark.parametrize("name", ["auc", "f1", "brier"])
def test_each_measure_is_what_it_would_be_alone(sample, several, name):
    alone = assess(sample, measure=name)[0].headline
    beside = several[0].also[name]
    assert (beside.value, beside.interval, beside.method) == (alone.value, alone.interval, alone.method)


def test_accuracy_is_one_less_the_error_rate(sample, several):
    error = assess(sample)[0]
    a = several[0]
    assert error.headline.method == a.headline.method == "combined"
    shown = a.headline.on_scale()
    assert shown.loss == a.scale == "accuracy"
    assert shown.value == pytest.approx(1 - error.error, abs=1e-12)
    assert list(shown.interval) == pytest.approx([1 - error.interval.high, 1 - error.interval.low], abs=1e-12)
    assert a.baseline.on_scale().value == pytest.approx(0.6, abs=1e-12)
    assert {e.loss for e in a.estimates.values()} == {"1 - accuracy"}
    assert "expected accuracy of" in a.sentence()


def test_the_error_rate_beside_another_measure_is_the_best_there_is(sample):
    a = assess(sample, measures=["auc", "zero-one"])[0]
    alone = assess(sample)[0]
    assert alone.headline.method == "combined"
    beside = a.also["zero-one"]
    assert (beside.method, beside.value, beside.interval) == ("combined", alone.error, alone.interval)


def test_order_decides_what_leads(sample, several):
    turned = assess(sample, measures=["f1", "accuracy"])[0]
    assert turned.headline.value == several[0].also["f1"].value
    assert turned.also["accuracy"].value == several[0].error


def test_every_measure_is_shown_with_its_interval(several):
    a = several[0]
    text = " ".join(str(a).split())
    assert "Also: AUC " in text
    assert "Positive class: ill." in text
    measures = json.loads(json.dumps(a.to_dict()))["measures"]
    assert list(measures) == ["accuracy", "auc", "f1", "brier"]
    for name, values in measures.items():
        e = (a.headline if name == "accuracy" else a.also[name]).on_scale()
        assert (values["value"], values["lower"], values["upper"]) == (e.value, *e.interval)
    table = next(b for b in build(a)[0].blocks if isinstance(b, Table))
    assert [row[0] for row in table.rows] == ["Accuracy", "AUC", "F1", "Brier score"]
    assert table.rows[1][1].sort == a.also["auc"].on_scale().value
    assert table.rows[1][2].sort == a.also["auc"].on_scale().interval.low


def test_many_measures_and_long_names_still_fit_the_first_screen(sample):
    X, y = sample
    from unseen.core.notes import note

    labels = np.where(y == "ill", "a label " + "of many words " * 20, "well")
    wanted = ["auc", "accuracy", "f1", "brier", "log-loss", "balanced-accuracy", "mcc", "sensitivity"]
    a = unseen.assess("logistic", X, labels, measures=wanted, random_state=0, effort="quick")
    long = replace(a, model="Pipeline(" + "step, " * 100, notes=(note("U016", "of a long story " * 30),) * 3)
    lines = str(long).splitlines()
    assert len(lines) <= 12
    assert all(len(line) < 80 for line in lines)
    text = " ".join(lines)
    assert "and 3 more in the report." in text
    assert lines[-1] == "3 notes in the report."
    assert a.verdict() in text


def test_the_call_that_repeats_it_names_all(several, sample):
    call = several[0].settings["repeat"]
    assert "measures=['accuracy', 'auc', 'f1', 'brier']" in call
    assert "measure" not in assess(sample)[0].settings["repeat"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measures": ["auc"], "measure": "f1"}, "leave loss and measure out"),
        ({"measures": ["auc"], "loss": "brier"}, "leave loss and measure out"),
        ({"measures": "auc"}, "give a list"),
        ({"measures": []}, "give a list"),
        ({"measures": ["auc", "f1", "auc"]}, "name auc more than once"),
        ({"measures": ["auc", "acuracy"]}, "accuracy"),
    ],
)
def test_senseless_measures_are_refused_before_anything_is_fitted(sample, options, words):
    Counted.fits = 0
    with pytest.raises(InputError, match=words):
        assess(sample, **options)
    assert Counted.fits == 0


class Silent:
    """Decides and gives no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_a_measure_of_scores_needs_a_model_that_has_them(sample):
    with pytest.raises(InputError, match="auc needs class probabilities"):
        unseen.assess(Silent(), *sample, measures=["accuracy", "auc"], random_state=0, effort=EFFORT)
    a = unseen.assess(Silent(), *sample, measures=["accuracy", "f1"], random_state=0, effort=EFFORT)
    assert list(a.also) == ["f1"]
    assert info(a, "roc") is None


def test_a_measure_of_another_task_is_refused_by_name(sample):
    X, _ = sample
    with pytest.raises(InputError, match="auc is a loss for classification"):
        unseen.assess("ols", X, X[:, 0] + X[:, 1], measures=["absolute", "auc"], random_state=0, effort=EFFORT)


# curves


def test_curves_are_those_of_one_round_of_folds(several):
    """Each row is scored once; the area of those scores by the rank sum."""
    from scipy.stats import mannwhitneyu

    a = several[0]
    table = a.tables["repeated-kfold"].source[0]
    first = np.array([table.plan.splits[j].repeat == 0 for j in table.test.split])
    rows, score = table.test.row[first], table.test.score[first]
    assert sorted(rows) == list(range(100))
    code = list(a.data.classes).index("ill")
    ill = a.data.y[rows] == "ill"
    area = mannwhitneyu(score[ill, code], score[~ill, code]).statistic / (40 * 60)
    roc = info(a, "roc")
    assert roc.labels == ("ill",)
    assert roc.areas[0] == pytest.approx(area, abs=1e-12)
    _, low, high = roc.band
    assert np.all(low <= high)
    assert (high - low).mean() > 0.2
    assert info(a, "precision-recall").prevalence == pytest.approx(0.4)
    calibration = info(a, "calibration")
    assert np.all((calibration.low <= calibration.observed) & (calibration.observed <= calibration.high))


def test_the_report_shows_them_beside_the_confusion_matrix(several, undrawn):
    blocks = next(s.blocks for s in build(several[0]) if s.id == "confusion")
    shown = next(b for b in blocks if isinstance(b, Pictures))
    assert [p.alt.split(":")[0] for p in shown.pictures] == [
        "Which class is taken for which",
        "ROC curve",
        "Precision and recall",
        "Calibration",
    ]
    decision = next(s for s in build(several[0]) if s.id == "decision-curve")
    assert decision.folded
    assert [b.text for b in decision.blocks if isinstance(b, Text)] == [
        measures_of(several[0]).decision_curve().sentence()
    ]
    text = " ".join(b.text for b in blocks if isinstance(b, Text))
    assert "the AUC above is the mean over test parts" in text


def test_the_usual_assessment_has_them_too_if_the_model_gives_scores(sample):
    a, _ = assess(sample)
    assert info(a, "roc") is not None
    X, y = sample
    svm = unseen.assess(LinearSVC(), X, y, random_state=0, effort=EFFORT)
    assert info(svm, "roc") is not None
    assert info(svm, "calibration") is None, "decision values are no probabilities"


def test_scores_that_cannot_be_had_stop_nothing(sample):
    class Mute(LogisticRegression):
        def predict_proba(self, X):
            raise RuntimeError("no scores today")

    X, y = sample
    a = unseen.assess(Mute(), X, y, random_state=0, effort=EFFORT)
    assert not a.tables["repeated-kfold"].source[0].failures
    assert info(a, "roc") is None


def test_more_classes_and_numbers_have_no_curves(classified, regressed):
    for a in (classified, regressed):
        assert info(a, "roc") is None
        assert info(a, "precision-recall") is None
        assert info(a, "calibration") is None


def test_curves_without_any_tested_row_are_left_out(several):
    a = several[0]
    tables = {name: t for name, t in a.tables.items() if name != "repeated-kfold"}
    assert info(replace(a, tables=tables), "roc") is None


def section(a, id):
    return next(s for s in build(a) if s.id == id)


def test_a_measure_made_from_more_than_the_predictions_is_named(sample, several):
    a = assess(sample, measures=["auc", "accuracy"])[0]
    assert a.also["accuracy"].method == "combined"
    table = next(b for b in section(a, "headline").blocks if isinstance(b, Table))
    assert table.caption.startswith("Accuracy is by combined, which weighs the errors of these predictions with other")
    assert table.caption.endswith("The others are of these predictions alone.")
    alone = assess(sample, measures=["auc", "brier"])[0]
    table = next(b for b in section(alone, "headline").blocks if isinstance(b, Table))
    assert table.caption == "All from the same predictions."


def test_counts_that_disagree_with_an_accuracy_say_why(sample):
    a = assess(sample, measures=["auc", "accuracy"])[0]
    folds = 1 - a.tables["repeated-kfold"].source[0].losses("zero-one").split_means().mean()
    above = f"{a.also['accuracy'].on_scale().value:.4g}"
    said = [b.text for b in section(a, "confusion").blocks if isinstance(b, Text) and "These counts" in b.text]
    assert said == [
        f"These counts come from 2 rounds of 10-fold cross-validation: their accuracy, {folds:.4g}, is that of models trained on 90% of the "
        f"data. The accuracy above is {above}: combined weighs such errors with other estimates of this model."
    ]
