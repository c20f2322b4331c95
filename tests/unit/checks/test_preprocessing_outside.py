"""Preprocessing fitted outside the loop is seen where it leaves a trace, and its effect is that of moving it inside."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import unseen
from unseen.checks.preprocessing_outside import trace_in_data, trace_in_model
from unseen.datasets import as_data

RNG = np.random.default_rng(5)
RAW = RNG.gamma(2.0, [1.0, 5.0, 30.0, 2.0], (60, 4))
Y = (RAW[:, 0] + RNG.normal(0, 1, 60) > 2).astype(int)


@pytest.mark.parametrize(
    ("transformer", "words"),
    [
        (StandardScaler(), "mean 0 and standard deviation 1"),
        (MinMaxScaler(), "extremes 0 and 1"),
        (MinMaxScaler((-1, 1)), "extremes -1 and 1"),
        (PCA(), "uncorrelated"),
    ],
)
def test_traces(transformer, words):
    assert words in trace_in_data(as_data(transformer.fit_transform(RAW), Y)).finding


def test_divisor_n_minus_one_is_a_trace_too():
    assert trace_in_data(as_data((RAW - RAW.mean(0)) / RAW.std(0, ddof=1), Y)) is not None


@pytest.mark.parametrize(
    "X",
    [
        RAW,
        RAW - RAW.mean(0),
        StandardScaler().fit(RAW[:40]).transform(RAW),
        RNG.random((60, 4)),
        RNG.integers(0, 2, (60, 4)).astype(float),
        RNG.integers(0, 4, (60, 4)) / 3 * np.array([1.0, 2.0, 1.0, 1.0]),
        RAW[:8],
    ],
)
def test_no_false_alarm(X):
    assert trace_in_data(as_data(X, Y[: len(X)])) is None


def test_note_gives_the_error_of_the_raw_data_scaled_inside():
    scaled = StandardScaler().fit_transform(RAW)
    options = {"random_state": 3, "effort": "splits=25"}
    a = unseen.assess(KNeighborsClassifier(3), scaled, Y, **options)
    (found,) = [n for n in a.notes if n.code == "U029"]
    inside = unseen.assess(make_pipeline(StandardScaler(), KNeighborsClassifier(3)), RAW, Y, **options)
    assert f"on the same splits is {inside.error:.4g} and not {a.error:.4g}" in found.text
    assert not [n for n in inside.notes if n.code == "U029"]


def test_a_model_that_scales_for_itself_gets_no_note():
    scaled = StandardScaler().fit_transform(RAW)
    a = unseen.assess(
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)), scaled, Y, random_state=3, effort="quick"
    )
    assert not [n for n in a.notes if n.code == "U029"]


def test_frozen_selection_on_random_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2000)), np.repeat([0, 1], 25)
    chosen = FrozenEstimator(SelectKBest(k=10).fit(X, y))
    a = unseen.assess(make_pipeline(chosen, GaussianNB()), X, y, random_state=0, effort="quick")
    (found,) = [n for n in a.notes if n.code == "U029"]
    free = unseen.assess(make_pipeline(SelectKBest(k=10), GaussianNB()), X, y, random_state=0, effort="quick")
    before, inside = (one.estimates["range-t"].value for one in (a, free))
    assert before < 0.2 < 0.35 < inside
    assert f"on the same splits is {inside:.4g} and not {before:.4g}" in found.text


def test_prefit_selector_is_freed():
    selector = SelectFromModel(LogisticRegression().fit(RAW, Y), prefit=True)
    found = trace_in_model(make_pipeline(selector, GaussianNB()))
    assert "'selectfrommodel' was fitted before" in found.finding
    assert found.inside.steps[0][1].prefit is False
    found.inside.fit(RAW, Y)


def test_models_without_steps_are_left_alone():
    assert trace_in_model(GaussianNB()) is None
    assert trace_in_model(make_pipeline(StandardScaler(), GaussianNB())) is None
