"""Simulated tracer studies with a known answer: efficiency, coverage, location and outlier rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unseen.kinetics.intervals import bootstrap, std_errors
from unseen.kinetics.joint import JointModel, SampledCurves
from unseen.kinetics.location_fit import fit_location, fit_locations, location_class
from unseen.kinetics.locations import LOCATIONS
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.outliers import rough_sigma, screen
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.simulation import TABLE_4_1, TIMES, rates_to_curve

T = np.asarray(TIMES)
TIME = np.concatenate([T, T[2:], T])
WHICH = np.repeat([0, 1, 2], [12, 10, 12])
NAMES = ("k21", "k12", "k02", "k43", "k34", "k04", "kappa", "Q1", "Q3", "Fconv", "U_Phe", "U_Tyr")
FLOOR = 2e-4


def made_at(location, cv):
    k, model = TABLE_4_1, JointModel(2, 2, location)
    a, l = rates_to_curve(k["k21"], k["k12"], k["k02"], 0.3)
    b, g = rates_to_curve(k["k43"], k["k34"], k["k04"], 0.15)
    theta = model.pack(a, l, b, g, k["kappa"])
    f = model.predict(theta, TIME, WHICH)
    return model, theta, f, np.sqrt((cv * f) ** 2 + FLOOR**2)


def efficiency(error, cv, replicates, seed=0):
    """Relative root mean squared error over the Cramer-Rao bound, and coverage of 95% delta intervals."""
    model, theta, f, sd = made_at("EC-EC", cv)
    derived = Derived(model=model, doses=(3.6, 2.85), scheme=PHE_TYR)
    true = np.array([derived(theta)[n] for n in NAMES])
    slopes = model.predict_slopes(theta, TIME, WHICH)[1] / sd[:, None]
    gradients = derived.gradients(theta)
    inverse = np.linalg.inv(slopes.T @ slopes)
    bound = np.array([np.sqrt(gradients[n] @ inverse @ gradients[n]) for n in NAMES]) / true
    rng = np.random.default_rng(seed)
    wrong, inside = [], []
    for _ in range(replicates):
        curves = SampledCurves(TIME, f + sd * rng.standard_normal(f.size), WHICH, sd)
        fit = fit_location(curves, error, "EC-EC")
        values, errors = derived(fit.theta), std_errors(fit, derived)
        estimate, se = (np.array([d[n] for n in NAMES]) for d in (values, errors))
        wrong.append(estimate / true - 1)
        q = stats.t.ppf(0.975, fit.df) if np.isfinite(fit.df) else 1.959964
        inside.append(np.abs(np.log(estimate / true)) <= q * se / estimate)
    return np.sqrt(np.mean(np.square(wrong), axis=0)) / bound, np.mean(inside, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("cv", [0.02, 0.05])
@pytest.mark.parametrize(
    ("error", "limit"), [(ErrorModel("sd"), 1.3), (ErrorModel("combined"), 1.6)], ids=["known", "estimated"]
)
def test_rates_reach_the_cramer_rao_bound_and_intervals_cover(error, limit, cv):
    ratio, coverage = efficiency(error, cv, 200)
    assert ratio.max() <= limit, dict(zip(NAMES, ratio.round(2)))
    assert ratio.min() >= 0.8, dict(zip(NAMES, ratio.round(2)))
    assert coverage.min() >= 0.88, dict(zip(NAMES, coverage))
    assert coverage.max() <= 0.99, dict(zip(NAMES, coverage))


@pytest.mark.slow
def test_bootstrap_intervals_cover_with_six_samples_per_curve():
    """Percentiles of the refits alone cover four times in five: six residuals in 18 tell little of the errors."""
    t = np.array([5.0, 12, 25, 45, 75, 120])
    time, which = np.tile(t, 3), np.repeat([0, 1, 2], 6)
    model, theta, _, _ = made_at("EC-EC", 0.03)
    f = model.predict(theta, time, which)
    derived = Derived(model=model, doses=(3.6, 2.85), scheme=PHE_TYR)
    rng, inside = np.random.default_rng(5), []
    for _ in range(25):
        curves = SampledCurves(time, f * (1 + 0.03 * rng.standard_normal(f.size)), which, f)
        fit = fit_location(curves, ErrorModel(), "EC-EC")
        refits = bootstrap(fit, derived, curves, ErrorModel(), draws=60, random_state=1)
        inside.append([derived(theta)[n] in refits.interval(n) for n in NAMES])
    assert np.mean(inside) >= 0.88


@pytest.mark.slow
@pytest.mark.sample
def test_a_sample_of_the_efficiency_study():
    ratio, coverage = efficiency(ErrorModel("sd"), 0.02, 40, seed=1)
    assert ratio.max() <= 1.6
    assert coverage.mean() >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("cv", [0.02, 0.05])
@pytest.mark.parametrize("kind", ["sd", "combined"])
def test_location_class_is_found_in_95_of_100_subjects(kind, cv):
    """The four locations of the specification, 25 subjects each; the two mixed ones count as one class."""
    error, four = ErrorModel(kind), LOCATIONS[:4]
    right = []
    for location in four:
        _, _, f, sd = made_at(location, cv)
        rng = np.random.default_rng(7)
        for _ in range(25):
            curves = SampledCurves(TIME, f + sd * rng.standard_normal(f.size), WHICH, sd)
            fits = fit_locations(curves, error, four, (2, 2), rough_sigma(curves, error, (2, 2)))
            right.append(location_class(min(fits, key=lambda a: a.aicc).location) == location_class(location))
    assert np.mean(right) >= 0.95


@pytest.mark.slow
def test_outlier_rules_keep_their_rates():
    """Clean samples removed and planted errors of six standard deviations found."""
    _, _, f, _ = made_at("EC-EC", 0.03)
    sd = 0.03 * f
    rates = {}
    for rule in ("deleted", "prediction", "confidence"):
        rng = np.random.default_rng(11)
        false, hit, replicates = 0, 0, 100
        for _ in range(replicates):
            y = f + sd * rng.standard_normal(f.size)
            false += sum(WHICH[o.index] == 0 for o in screen(SampledCurves(TIME, y, WHICH, sd), ErrorModel(), rule))
            at = int(rng.integers(2, 10))
            y[at] += 6 * sd[at] * rng.choice([-1, 1])
            hit += any(o.index == at for o in screen(SampledCurves(TIME, y, WHICH, sd), ErrorModel(), rule))
        rates[rule] = false / (12 * replicates), hit / replicates
    assert rates["deleted"][0] <= 0.015
    assert rates["deleted"][1] >= 0.6
    assert rates["prediction"][1] <= 0.1
    assert rates["confidence"][0] >= 0.1
