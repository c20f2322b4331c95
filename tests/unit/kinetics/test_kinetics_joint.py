from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unseen.kinetics.curve import fit_curve
from unseen.kinetics.intervals import delta_interval, profile, std_errors
from unseen.kinetics.joint import JointModel, SampledCurves
from unseen.kinetics.location_fit import fit_location, fit_locations, location_class, runs_test
from unseen.kinetics.locations import LOCATIONS, locations_for
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.outliers import rough_sigma
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.simulation import TABLE_4_1, TIMES, rates_to_curve

T = np.asarray(TIMES)
TIME, WHICH = np.concatenate([T, T, T]), np.repeat([0, 1, 2], 12)
LMFIT = Path(__file__).parents[2] / "reference" / "kinetics_lmfit.json"


def truth(model, factors=None):
    f = np.ones(9) if factors is None else factors
    k = TABLE_4_1
    a, l = rates_to_curve(k["k21"] * f[0], k["k12"] * f[1], k["k02"] * f[2], 0.3 * f[3])
    b, g = rates_to_curve(k["k43"] * f[4], k["k34"] * f[5], k["k04"] * f[6], 0.15 * f[7])
    return model.pack(a, l, b, g, k["kappa"] * f[8])


@pytest.mark.parametrize("orders", [(2, 2), (3, 2), (1, 3), (3, 3)])
def test_jacobian_against_central_differences(orders):
    rng = np.random.default_rng(sum(orders))
    for location in locations_for(*orders):
        model = JointModel(*orders, location)
        rates = [np.sort(rng.uniform(0.01, 0.4, k))[::-1] for k in orders]
        theta = model.pack(
            rng.uniform(0.05, 0.3, orders[0]), rates[0], rng.uniform(0.05, 0.3, orders[1]), rates[1], 0.03
        )
        value, slopes = model.predict_slopes(theta, TIME, WHICH)
        np.testing.assert_allclose(value, model.predict(theta, TIME, WHICH), rtol=1e-14)
        h = 1e-5
        for i, e in enumerate(np.eye(model.size)):
            central = (model.predict(theta + h * e, TIME, WHICH) - model.predict(theta - h * e, TIME, WHICH)) / (2 * h)
            np.testing.assert_allclose(slopes[:, i], central, rtol=1e-6, atol=1e-9 * np.abs(slopes).max())


@pytest.mark.slow
@pytest.mark.sample
def test_noise_free_recovery_in_100_of_100_random_truths():
    rng = np.random.default_rng(0)
    model = JointModel(2, 2, "EC-EC")
    keep = (WHICH != 1) | (TIME > 10)
    for _ in range(100):
        theta = truth(model, np.exp(0.4 * rng.standard_normal(9)))
        y = model.predict(theta, TIME, WHICH)[keep]
        curves = SampledCurves(TIME[keep], y, WHICH[keep], np.sqrt((0.02 * y) ** 2 + 4e-8))
        found = fit_location(curves, ErrorModel("sd"), "EC-EC")
        np.testing.assert_allclose(found.theta, theta, atol=1e-6)


@pytest.mark.parametrize("location", LOCATIONS)
def test_noise_free_recovery_at_every_location(location):
    model = JointModel(2, 2, location)
    theta = truth(model)
    y = model.predict(theta, TIME, WHICH)
    curves = SampledCurves(TIME, y, WHICH, np.sqrt((0.02 * y) ** 2 + 4e-8))
    found = fit_locations(curves, ErrorModel("sd"), LOCATIONS, (2, 2), curves.sd)
    best = min(found, key=lambda f: f.aicc)
    assert best.location == location
    np.testing.assert_allclose(best.theta, theta, atol=1e-6)
    assert all(f.chi2 > 1 for f in found if location_class(f.location) != location_class(location))


def test_three_by_one_exponentials_come_back():
    model = JointModel(3, 1, "EC-EC")
    theta = model.pack([0.3, 0.2, 0.05], [0.5, 0.1, 0.012], [0.2], [0.05], 0.02)
    t = np.array([1.0, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 240])
    time, which = np.tile(t, 3), np.repeat([0, 1, 2], t.size)
    y = model.predict(theta, time, which)
    found = fit_location(SampledCurves(time, y, which, 0.01 * y), ErrorModel("sd"), "EC-EC", (3, 1))
    np.testing.assert_allclose(found.theta, theta, atol=1e-5)


@pytest.fixture(scope="module")
def oracle():
    record = json.loads(LMFIT.read_text())
    which = np.repeat([0, 1, 2], [len(t) for t in record["times"]])
    curves = SampledCurves(
        *(np.concatenate(record[k]) for k in ("times", "values")), which, np.concatenate(record["sd"])
    )
    return record, curves, fit_location(curves, ErrorModel("sd"), "EC-EC")


def test_same_minimum_as_lmfit(oracle):
    record, _, found = oracle
    assert found.chi2 == pytest.approx(record["chi2"], rel=1e-8)
    a, l, b, g, kappa = found.model.unpack(found.theta)
    ours = dict(zip(record["estimates"], (*a, *l, *b, *g, kappa)))
    for name, value in record["estimates"].items():
        assert ours[name] == pytest.approx(value, rel=1e-4)


def test_same_standard_errors_as_lmfit(oracle):
    record, _, found = oracle
    p = np.exp(found.theta)
    to_natural = np.diag(p)
    to_natural[2, 3], to_natural[6, 7] = p[3], p[7]
    errors = np.sqrt(np.diag(to_natural @ found.covariance @ to_natural.T))
    for value, wanted in zip(errors, record["std_errors"].values()):
        assert value == pytest.approx(wanted, rel=1e-3)


def test_same_profile_interval_as_lmfit(oracle):
    record, curves, found = oracle
    scaled = replace(found, df=float(found.spare))
    derived = Derived(model=found.model, doses=(3.6, 2.85), scheme=PHE_TYR)
    low, high = profile(scaled, derived, curves, "kappa", 0.95).interval
    assert (low, high) == pytest.approx(record["profile_95"]["kappa"], rel=2e-3)


def test_profile_of_a_flux_meets_its_threshold_by_a_grid(oracle):
    _, curves, found = oracle
    derived = Derived(model=found.model, doses=(3.6, 2.85), scheme=PHE_TYR)
    made = profile(found, derived, curves, "U_Phe", 0.95, points=7)
    assert made.threshold == pytest.approx(3.841459, abs=1e-5)
    assert np.interp(made.interval.high, made.values, made.rise) == pytest.approx(made.threshold, rel=0.02)
    centre, se = derived(found.theta)["U_Phe"], std_errors(found, derived)["U_Phe"]
    delta = delta_interval(centre, se, np.inf, 0.95, signed=False)
    assert made.interval.low == pytest.approx(delta.low, rel=0.05)
    assert made.interval.high == pytest.approx(delta.high, rel=0.05)


def test_dissertation_weights_by_hand():
    model = JointModel(2, 2, "EC-EC")
    y = model.predict(truth(model), TIME, WHICH) * (1 + 0.02 * np.random.default_rng(1).standard_normal(36))
    curves = SampledCurves(TIME, y, WHICH, np.full(36, np.nan))
    found = fit_location(curves, ErrorModel("dissertation"), "EC-EC")
    spread = np.array([np.ptp(y[c == WHICH]) for c in range(3)])[WHICH]
    np.testing.assert_allclose(1 / found.sigma, np.where(TIME <= 60, 1, 0.5) / spread, rtol=1e-14)


def test_proportional_weights_are_one_over_the_fit():
    model = JointModel(2, 2, "EC-EC")
    y = model.predict(truth(model), TIME, WHICH) * (1 + 0.02 * np.random.default_rng(1).standard_normal(36))
    found = fit_location(SampledCurves(TIME, y, WHICH, np.full(36, np.nan)), ErrorModel("proportional"), "EC-EC")
    np.testing.assert_allclose(found.sigma, found.fitted, rtol=1e-3)


def test_combined_error_finds_cv_and_floor():
    model = JointModel(2, 2, "EC-EC")
    f = model.predict(truth(model), TIME, WHICH)
    sd = np.sqrt((0.03 * f) ** 2 + 4e-4**2)
    rng = np.random.default_rng(5)
    found = []
    for _ in range(25):
        curves = SampledCurves(TIME, f + sd * rng.standard_normal(f.size), WHICH, np.full(36, np.nan))
        one = fit_location(curves, ErrorModel(), "EC-EC", start=truth(model))
        found.append(np.median(one.sigma / sd))
    assert np.median(found) == pytest.approx(1.0, abs=0.12)


def test_covariance_scales_with_the_given_errors():
    model = JointModel(2, 2, "EC-EC")
    y = model.predict(truth(model), TIME, WHICH) * (1 + 0.02 * np.random.default_rng(1).standard_normal(36))
    one = fit_location(SampledCurves(TIME, y, WHICH, 0.02 * y), ErrorModel("sd"), "EC-EC")
    double = fit_location(SampledCurves(TIME, y, WHICH, 0.04 * y), ErrorModel("sd"), "EC-EC")
    np.testing.assert_allclose(double.covariance, 4 * one.covariance, rtol=1e-4)
    assert double.chi2 == pytest.approx(one.chi2 / 4, rel=1e-6)


def test_rough_weights_follow_the_error_of_the_assay():
    model = JointModel(2, 2, "IC-IC")
    f = model.predict(truth(model), TIME, WHICH)
    sd = np.sqrt((0.02 * f) ** 2 + 2e-4**2)
    y = f + sd * np.random.default_rng(3).standard_normal(f.size)
    rough = rough_sigma(SampledCurves(TIME, y, WHICH, np.full(36, np.nan)), ErrorModel(), (2, 2))
    assert np.median(rough / sd) == pytest.approx(1.0, abs=0.35)


def test_runs_of_signs():
    which = np.zeros(20)
    assert runs_test(np.repeat([1.0, -1.0], 10), which) < 0.001
    assert runs_test(np.tile([1.0, -1.0], 10), which) == 1  # alternating signs are no misfit
    assert runs_test(np.array([1.0, 1, -1, -1, 1, -1, 1, -1, -1, 1] * 2), which) > 0.3
    assert runs_test(np.ones(12), np.repeat([0, 1], 6)) < 0.01  # no change of sign at all: 4 in 4,096


def test_runs_of_independent_signs_follow_the_binomial():
    """Nine signs change eight times at most, each time with probability one half."""
    r = np.array([1.0, 1, 1, -1, -1, -1, -1, 1, 1])
    assert runs_test(r, np.zeros(9)) == pytest.approx((1 + 8 + 28) / 256, abs=0.02)


@pytest.mark.parametrize("size", [5, 12])
def test_run_test_keeps_its_level_after_a_fit(size):
    """Residuals of the right model alternate more often than its errors; the note on runs must not fire for that."""
    times = np.array([5.0, 15, 30, 60, 120]) if size == 5 else TIME[:12]
    time, which = np.tile(times, 3), np.repeat([0, 1, 2], size)
    model = JointModel(2, 2, "EC-EC")
    slopes = model.predict_slopes(truth(model), time, which)[1] / model.predict(truth(model), time, which)[:, None]
    taken = np.linalg.qr(slopes)[0]
    rng = np.random.default_rng(4)
    p = []
    for _ in range(400):
        e = rng.standard_normal(time.size)
        p.append(runs_test(e - taken @ (taken.T @ e), which, slopes))
    p = np.array(p)
    # counted as independent errors, about one in twenty would be below .2
    assert np.mean(p <= 0.05) <= 0.075
    assert np.mean(p <= 0.2) >= 0.09
    # a smooth misfit that the parameters cannot take up is found
    late = np.where(which == 2, np.sin(np.arange(time.size) * np.pi / size), 0.0)
    late -= taken @ (taken.T @ late)
    assert size == 5 or runs_test(20 * late + 0.1 * rng.standard_normal(time.size), which, slopes) < 0.05


# Bates and Watts (1988), appendix A4.1, as in R's NRAIA: labelled lipoprotein
LIPO_T = np.array([0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10])
LIPO_Y = np.array([46.10, 25.90, 17.00, 12.10, 7.22, 4.51, 3.19, 2.40, 1.82, 1.41, 1.00, 0.94])


def test_lipoprotein_against_nls():
    one = fit_curve(LIPO_T, LIPO_Y)
    assert one.amplitudes == pytest.approx([70.728428, 19.388265], rel=1e-4)
    assert one.rates == pytest.approx([1.732823, 0.347775], rel=1e-4)
    assert one.sse == pytest.approx(0.593192, rel=1e-4)
    weighted = fit_curve(LIPO_T, LIPO_Y, error="sd", sd=LIPO_Y)
    assert weighted.amplitudes == pytest.approx([62.576928, 11.334960], rel=1e-4)
    assert weighted.rates == pytest.approx([1.228848, 0.260291], rel=1e-4)
    assert weighted.sse == pytest.approx(0.0295988, rel=1e-4)


def test_indomethacin_against_nls(shared):
    import pandas as pd

    table = pd.read_csv(shared / "data/pk/indometh.csv.gz")
    fits = {s: fit_curve(g["time"], g["target"]) for s, g in table.groupby("subject")}
    one = fits[1]
    assert one.amplitudes == pytest.approx([2.029278, 0.191548], rel=1e-4)
    assert one.rates == pytest.approx([1.784949, 0.167331], rel=1e-4)
    assert one.sse == pytest.approx(0.0117820, rel=1e-4)
    assert len(fits) == 6
    assert all(f.df == 7 for f in fits.values())


def test_lanczos_problem_of_three_exponentials():
    x = np.linspace(0, 1.15, 24)
    y = 0.0951 * np.exp(-x) + 0.8607 * np.exp(-3 * x) + 1.5576 * np.exp(-5 * x)
    found = fit_curve(x, y, 3)
    assert found.rates == pytest.approx([5, 3, 1], rel=1e-6)
    assert found.amplitudes == pytest.approx([1.5576, 0.8607, 0.0951], rel=1e-6)


def test_order_of_one_curve_by_aicc():
    t = np.geomspace(1, 120, 16)
    rng = np.random.default_rng(2)
    for n, y in ((1, np.exp(-0.03 * t)), (2, np.exp(-0.2 * t) + 0.2 * np.exp(-0.01 * t))):
        noisy = y * (1 + 0.02 * rng.standard_normal(t.size))
        assert fit_curve(t, noisy, "auto", error="proportional").n == n
