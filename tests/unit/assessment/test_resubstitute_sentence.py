"""`unseen.resubstitute` opens with a sentence: the error, an interval if one was studied, and what it rests on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen.estimators.combined.predictive import predictive

RNG = np.random.default_rng(5)
X = RNG.standard_normal((600, 3))
Y = (X[:, 0] + 0.7 * RNG.standard_normal(600) > 0).astype(int)


def resubstitute(n, y=Y, methods=None, level=0.95):
    model = LogisticRegression().fit(X[:n], y[:n])
    return unseen.resubstitute(model, X[:n], y[:n], random_state=0, methods=methods, level=level)


def test_the_sentence_has_the_value_and_the_interval_of_auto_resub():
    found = resubstitute(60, level=0.9)
    e = found["auto-resub"]
    low, high = predictive("auto-resub").interval(e.value, 60, 0.9)
    assert found.headline is e
    assert found.sentence() == (
        f"logistic regression is expected to misclassify {100 * e.value:.1f}% of new cases (90% interval {100 * low:.1f}% to "
        f"{100 * high:.1f}%; auto-resub, without retraining)."
    )
    assert str(found).splitlines()[:2] == [found.sentence(), found.meaning()]
    assert found.meaning().startswith(
        "The interval holds the true errors of data sets on which auto-resub gave such a value."
    )
    assert "too narrow" not in found.meaning()
    stored = json.loads(found.to_json())
    assert (stored["error"], stored["interval"], stored["sentence"]) == (
        e.value,
        [
            low,
            high,
        ],
        found.sentence(),
    )


def test_samples_larger_than_most_of_the_study_say_that_the_interval_may_be_too_narrow():
    assert "It may be too narrow here: with 400 units it held in 85% of the samples." in resubstitute(101).meaning()
    assert "too narrow" not in resubstitute(100).meaning()


def test_outside_what_was_studied_one_line_says_why_there_is_no_interval():
    found = resubstitute(600)
    assert found.sentence().endswith("of new cases (auto-resub, without retraining).")
    assert found.meaning() == "No interval: 600 units (20 to 400 in the study)."
    assert "No expected RMS: 600 units are outside the 20 to 400 that were studied." in str(found)
    assert all(e.expected_rms is None and e.worst_rms is None for e in found.estimates)
    assert json.loads(found.to_json())["interval"] is None


@pytest.mark.parametrize(
    ("rare", "reason"),
    [
        (3, "the rarest class has 7.5% of the rows (10% or more in the study)"),
        (1, "auto-resub, which has one, was left out"),
    ],
)
def test_a_rare_class_was_not_studied(rare, reason):
    found = resubstitute(40, y=(np.arange(600) < rare).astype(int))
    assert found.headline.interval is None
    assert found.meaning() == f"No interval: {reason}."
    assert found.headline.method == ("auto-resub" if rare == 3 else "posterior")


def test_a_hundred_thousand_points_get_neither_an_interval_nor_an_expected_rms():
    big = np.random.default_rng(0).standard_normal((100_000, 2))
    y = (big[:, 0] > 0).astype(int)
    found = unseen.resubstitute(LogisticRegression().fit(big, y), big, y, methods=["resub"])
    assert found["resub"].expected_rms is None
    assert "No expected RMS: 100,000 units are outside the 20 to 400 that were studied." in str(found)


def test_methods_asked_for_lead_and_say_that_they_have_no_interval():
    found = resubstitute(60, methods=["semi-bolster", "bolster"])
    assert found.headline.method == "semi-bolster"
    assert found.sentence().endswith("of new cases (semi-bolster, without retraining).")
    assert found.meaning() == "No interval: only auto-resub has one."
    assert "expected RMS" in str(found)


def test_regression_has_nothing_but_the_error_on_its_own_points():
    z = X[:50] @ [1.0, 2.0, 0.0] + RNG.standard_normal(50)
    found = unseen.resubstitute(LinearRegression().fit(X[:50], z), X[:50], z)
    value = found["resub"].value
    assert found.sentence() == (
        f"linear regression predicts new cases with a typical error (RMSE) of {np.sqrt(value):.4g} (resub, without retraining)."
    )
    assert found.meaning() == (
        "No interval: this is the error on the points it was trained on, which is too low for new ones."
    )
    assert "expected RMS" not in str(found)
    assert "units" not in str(found)
    assert f"  resub  {np.sqrt(value):.4g}" in str(found)


def test_the_report_opens_with_the_sentence_and_shows_the_worst_data_set(tmp_path):
    model = KNeighborsClassifier(3).fit(X[:60], Y[:60])
    found = unseen.resubstitute(model, X[:60], Y[:60], random_state=0)
    page = tmp_path / "r.html"
    found.report(page)
    text = page.read_text()
    assert found.sentence() in text
    assert found.meaning().replace("`unseen assess`", "unseen assess").split(" If ")[0] in text
    assert "on the worst data set" in text
    assert "No interval can be given" not in text
