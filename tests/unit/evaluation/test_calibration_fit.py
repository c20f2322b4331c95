"""Calibration as inference, and decision curves: another package's numbers, closed forms, known populations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

import unseen
from unseen.core.errors import InputError

PEERS = json.loads((Path(__file__).parents[2] / "reference" / "evaluation.json").read_text())
Y, P = np.array(PEERS["y"]), np.array(PEERS["p"])
OFF = expit(0.6 * np.log(P / (1 - P)) + 0.4)


@pytest.fixture(scope="module")
def measured():
    return unseen.measure(Y, P, measures=["accuracy"])


def test_slope_and_intercept_equal_statsmodels():
    fit = unseen.measure(Y, OFF, measures=["accuracy"]).calibration().fit
    assert (fit.slope.value, fit.slope.std_error) == pytest.approx(PEERS["slope"], rel=1e-6)
    assert (fit.intercept.value, fit.intercept.std_error) == pytest.approx(PEERS["intercept"], rel=1e-6)
    value, error = PEERS["slope"]
    assert tuple(fit.slope.interval) == pytest.approx((value - 1.959964 * error, value + 1.959964 * error))
    before = np.sum(np.where(Y == 1, np.log(OFF), np.log1p(-OFF)))
    assert fit.recalibration.statistic == pytest.approx(2 * (PEERS["log_likelihood"] - before), abs=1e-6)


def test_slope_of_groups_equals_statsmodels():
    group = np.arange(len(Y)) // 5
    fit = unseen.measure(Y, OFF, groups=group, measures=["accuracy"]).calibration().fit
    value, error = PEERS["slope_in_groups_of_5"]
    assert fit.slope.value == pytest.approx(value, rel=1e-6)
    assert fit.slope.std_error == pytest.approx(error * np.sqrt(150 / 149), rel=1e-5)
    assert fit.recalibration.p is None


def test_spiegelhalter_s_z_is_his_formula_and_knows_the_sign():
    y, p = np.array([0, 1, 1, 0, 1, 0]), np.array([0.2, 0.7, 0.9, 0.4, 0.6, 0.1])
    z = np.sum((y - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    found = unseen.measure(y, p, measures=["accuracy"]).calibration(n_bins=2).fit.spiegelhalter
    assert found.statistic == pytest.approx(z)
    assert found.p == pytest.approx(2 * norm.sf(abs(z)))


def test_too_extreme_probabilities_have_a_slope_below_one():
    rng = np.random.default_rng(1)
    logit = rng.normal(0, 1.5, 4000)
    y = rng.random(4000) < expit(logit)
    fit = unseen.measure(y.astype(int), expit(2 * logit + 0.7), measures=["accuracy"]).calibration().fit
    assert 0.5 in fit.slope.interval
    assert 1.0 not in fit.slope.interval
    assert fit.intercept.interval.high < 0
    assert fit.spiegelhalter.p < 1e-6
    # the true curve, inside the band everywhere
    grid = fit.curve.predicted
    truth = expit((np.log(grid / (1 - grid)) - 0.7) / 2)
    assert np.all((fit.curve.low <= truth) & (truth <= fit.curve.high))
    assert not np.all((fit.curve.low <= grid) & (grid <= fit.curve.high))


def test_calibration_error_of_calibrated_probabilities_holds_zero_though_the_plain_one_is_far_from_it():
    rng = np.random.default_rng(2)
    hits, plain, debiased = 0, [], []
    for _ in range(20):
        p = rng.random(200)
        fit = unseen.measure((rng.random(200) < p).astype(int), p, measures=["accuracy"]).calibration().fit
        hits += fit.ece.interval.low == 0.0
        plain.append(fit.raw_ece)
        debiased.append(fit.ece.value)
    assert hits >= 17
    assert np.mean(plain) > 0.06
    assert np.mean(debiased) < np.mean(plain) / 2


def test_calibration_error_is_found_where_it_is_known():
    rng = np.random.default_rng(3)
    p = rng.choice([0.2, 0.8], 20_000)
    y = rng.random(20_000) < np.where(p == 0.2, 0.3, 0.7)
    fit = unseen.measure(y.astype(int), p, measures=["accuracy"]).calibration(n_bins=2).fit
    assert 0.1 in fit.ece.interval
    assert fit.ece.value == pytest.approx(0.1, abs=0.01)


def test_an_error_that_is_small_by_luck_has_an_upper_limit_above_it():
    """Half of each group is positive, exactly as predicted but for a thousandth: chance alone would give far more."""
    p = np.repeat([0.499, 0.501], 100)
    fit = unseen.measure(np.tile([0, 1], 100), p, measures=["accuracy"]).calibration(n_bins=2).fit
    assert fit.raw_ece == pytest.approx(0.001)
    assert fit.ece.interval.low == 0.0
    assert fit.ece.interval.high >= 0.001


def test_separated_classes_have_no_slope_and_say_no_more():
    y = np.repeat([0, 1], 30)
    c = unseen.measure(
        y, np.where(y == 1, 0.9, 0.1) + np.linspace(-0.05, 0.05, 60), measures=["accuracy"]
    ).calibration()
    assert c.fit.slope is None
    assert c.fit.curve is None
    assert "slope" not in c.fit.sentence()


def test_probabilities_of_zero_and_one_are_noted():
    p = np.array([0.0, 1.0, 0.3, 0.6, 0.4, 0.7, 0.2, 0.9] * 5)
    y = np.array([1, 0, 0, 1, 0, 1, 0, 1] * 5)
    assert [n.code for n in unseen.measure(y, p, measures=["accuracy"]).calibration().notes] == ["U049"]


def test_net_benefits_equal_dcurves(measured):
    curve = measured.decision_curve(PEERS["thresholds"])
    assert curve.net_benefit == pytest.approx(PEERS["net_benefit"]["cancerpredmarker"], abs=1e-12)
    assert curve.treat_all == pytest.approx(PEERS["net_benefit"]["all"], abs=1e-12)


def test_net_benefit_is_its_closed_form():
    y, p = np.array([1, 1, 0, 0, 1, 0, 0, 0]), np.array([0.9, 0.3, 0.8, 0.2, 0.6, 0.5, 0.1, 0.05])
    curve = unseen.measure(y, p, measures=["accuracy"]).decision_curve([0.25, 0.5])
    # at .25: 3 hits and 2 false alarms; at .5: 2 hits and 2 false alarms; of 8
    assert curve.net_benefit == pytest.approx([3 / 8 - 2 / 8 / 3, 2 / 8 - 2 / 8])
    assert curve.treat_all == pytest.approx([3 / 8 - 5 / 8 / 3, 3 / 8 - 5 / 8])


def test_band_at_one_threshold_is_the_normal_one_with_four_cases_more(measured):
    curve = measured.decision_curve([0.2])
    v = (P >= 0.2) * (Y - (1 - Y) * 0.25)
    half = 1.96 * np.sqrt(v.var(ddof=1) / len(v) + 2 * (1 + 0.25**2) / len(v) ** 2)
    assert curve.low[0] == pytest.approx(v.mean() - half, abs=0.02 * half)
    assert curve.high[0] == pytest.approx(v.mean() + half, abs=0.02 * half)
    wide = measured.decision_curve([0.2, *np.linspace(0.05, 0.5, 40)])
    assert wide.high[0] - wide.low[0] > 1.2 * (curve.high[0] - curve.low[0])  # many thresholds were looked at


def test_a_useful_model_is_said_to_be_useful_and_a_useless_one_is_not(measured):
    assert measured.decision_curve().useful
    rng = np.random.default_rng(5)
    useless = unseen.measure(Y, np.clip(rng.normal(0.14, 0.02, len(Y)), 0, 1), measures=["accuracy"])
    assert useless.decision_curve().useful == []
    assert "no threshold" in useless.decision_curve().sentence()


def test_figures_draw(measured):
    for made in (measured.calibration(), measured.decision_curve(), measured.confusion(), measured.precision_recall()):
        assert made.plot().has_data() or made.plot().texts


def test_messages(measured):
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        measured.decision_curve([0.0, 0.5])
    with pytest.raises(InputError, match="no probabilities"):
        unseen.measure(Y, P * 10 - 3, measures=["accuracy"]).decision_curve()


def test_the_text_opens_with_the_answer_and_shows_ten_measures():
    m = unseen.measure(Y, OFF, n_bootstrap=100)
    wrong = 100 * np.mean((OFF >= 0.5) != Y)
    assert str(m).startswith(f"{wrong:.1f}% of the cases are misclassified (95% interval ")
    assert len(m.known) == 10
    assert len(m.table().splitlines()) == len(m.estimates) > 10
    assert m.to_dict()["calibration"]["slope"]["estimate"] == pytest.approx(PEERS["slope"][0])
    assert list(unseen.measure(Y, P, measures=["log-loss"], n_bootstrap=100).known) == ["log-loss"]
