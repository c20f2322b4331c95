"""Criteria and errors of kinetic fits against what must hold whatever the data: balance, scale, closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

import unseen
from unseen.kinetics.balance import tracee
from unseen.kinetics.curve import _distinct, fit_curve
from unseen.kinetics.group_comparison import differences
from unseen.kinetics.group_means import group_mean
from unseen.kinetics.identifiability import identifiability
from unseen.kinetics.intervals import BootstrapRefits
from unseen.kinetics.joint import Solution
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.kinetics.mammillary import interval_identifiability, outflows
from unseen.kinetics.noncompartmental import terminal_slope
from unseen.kinetics.outliers import _statistics
from unseen.kinetics.plausibility import Reference, appearance_bounds
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.systems import Bolus, CompartmentModel, Output
from unseen.kinetics.table import read_study

kinetics = unseen.kinetics

T = np.array([1.0, 2, 4, 6, 8, 12, 16, 20])


def decay(seed=0):
    return 5 * np.exp(-0.2 * T) * (1 + 0.05 * np.random.default_rng(seed).standard_normal(T.size))


ONE_POOL = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 10.0),), {"y": Output("1", "V")})


@pytest.fixture(scope="module")
def one():
    made = kinetics.simulate(subjects=1, noise=0.05, between=0.0, random_state=3)
    return kinetics.fit(made.ttr, made.doses, outliers=None, error="proportional")["s1"]


@pytest.mark.parametrize("location", ["EC-EC", "IC-IC", "IC-EC", "EC-IC"])
def test_total_product_appearance_has_the_error_of_the_loss_it_balances(one, location):
    """Breakdown and conversion together make up what is lost from pool 4, so their sum has that flux's error."""
    reference = Reference("appearance_product", 50.0, 2.0, "")
    judged = next(j for j in one.plausibility([reference]) if j.location == location)
    flux, error = one.values(location)["F04"], one.std_errors(location)["F04"]
    assert judged.distance == pytest.approx((flux - 50) ** 2 / (error**2 + 4), rel=1e-6)


def test_deviations_known_up_to_a_factor_cost_the_same_parameter_as_constant_ones():
    data = {"y": (T, decay())}
    plain = kinetics.fit_system(ONE_POOL, data, starts=2)
    given = kinetics.fit_system(ONE_POOL, data, error="sd", sigma={"y": 0.3}, starts=2)
    assert given.aicc == pytest.approx(plain.aicc, rel=1e-9)
    assert given.std_errors["k"] == pytest.approx(plain.std_errors["k"], rel=1e-6)
    assert fit_curve(T, decay(), 1, error="sd", sd=np.full(T.size, 0.3)).aicc == pytest.approx(plain.aicc, rel=1e-9)
    assert fit_curve(T, decay(), 1).aicc == pytest.approx(plain.aicc, rel=1e-9)


def test_known_errors_enter_the_criterion_as_a_normal_likelihood():
    y, cv, floor = decay(), 0.05, 0.01
    curve = fit_curve(T, y, 1, error="combined", cv=cv, floor=floor)
    system = kinetics.fit_system(ONE_POOL, {"y": (T, y)}, error="combined", cv=cv, floor=floor, starts=2)
    sigma = np.sqrt((cv * curve.fitted) ** 2 + floor**2)
    deviance = -2 * stats.norm.logpdf(y, curve.fitted, sigma).sum()
    wanted = deviance + 2 * 2 + 2 * 2 * 3 / (T.size - 2 - 1)
    assert curve.aicc == pytest.approx(wanted, rel=1e-4)
    assert system.aicc == pytest.approx(wanted, rel=1e-4)


def test_interval_of_a_group_mean_is_students():
    values = [1.0, 2.0, 6.0, 7.0]
    found = group_mean(values, [0.5] * 4, level=0.9)
    wanted = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert tuple(found.interval) == pytest.approx((wanted.low, wanted.high))


def test_group_means_of_logarithms_are_shown_as_geometric_means():
    X = np.log([[1.0], [2.0], [4.0], [10.0], [10.0], [1000.0]])
    labels = np.repeat(["a", "b"], 3)
    (found,) = differences(["k"], X, labels, [np.arange(6)] * 19)
    assert found.means == pytest.approx({"a": 2.0, "b": 10 ** (5 / 3)})


def test_chance_is_the_error_of_naming_the_largest_group(one):
    """Subjects that differ in their dose alone, and so in their pools: five of one group, three of the other."""
    subjects = tuple(
        replace(one, subject=f"s{i}", doses=(3.6 * (1 + 0.1 * i), 2.85), covariates={"diet": "a" if i < 5 else "b"})
        for i in range(8)
    )
    study = KineticStudy(subjects, {}, one.location, one.scheme)
    found = kinetics.compare_groups(
        study, group="diet", features=["Q1"], methods=["resub"], permutations=19, random_state=0
    )
    assert found.sizes == {"a": 5, "b": 3}
    assert found.chance == pytest.approx(3 / 8)


def test_loss_from_the_sampled_pools_alone_is_the_upper_end_of_their_loss(one):
    """Without loss from the unsampled pool all loss is K11 - P / K22, the end of figure 4.6 (conversion is a part of it)."""
    found = kinetics.fit_conventional(one, "4.6-a")
    a, l, b, g, _ = one.at("EC-EC").model.unpack(one.at("EC-EC").theta)
    phe, tyr = (interval_identifiability(*curve, 1.0) for curve in ((a, l), (b, g)))
    assert found.values["k01"] + found.values["k31"] == pytest.approx(phe.k01[1], rel=1e-4)
    assert found.values["k03"] == pytest.approx(tyr.k01[1], rel=1e-4)
    assert found.values["k12"] == pytest.approx(phe.k12[1], rel=1e-4)


def test_fitted_appearance_of_the_product_is_its_own_dose_over_its_own_area():
    made = kinetics.simulate(
        subjects=1, noise=0.0, floor=0.0, between=0.0, times=np.arange(2.0, 200, 4), random_state=0
    )
    one = kinetics.nca(made.ttr, made.doses)["s1"]
    ra = 60 * 19 * 0.127 * 0.020 / (0.023 + 0.020)  # Q3 g1 g2 / K44, with g1 g2 = k43 k04
    assert one.ra_product_fitted == pytest.approx(ra, rel=1e-4)
    assert one.ra_product == pytest.approx(ra, rel=2e-2)


def test_terminal_slope_prefers_by_adjusted_r_squared():
    """Three points have the larger R squared, four the larger adjusted one, which pays for each point left out."""
    t, z = np.array([1.0, 2, 3, 4]), np.array([-1.1, -1.3, -1.4, -2.6])
    plain = {k: np.corrcoef(t[-k:], z[-k:])[0, 1] ** 2 for k in (3, 4)}
    adjusted = {k: 1 - (1 - r) * (k - 1) / (k - 2) for k, r in plain.items()}
    assert plain[3] > plain[4]
    assert adjusted[4] > adjusted[3]
    rate, points = terminal_slope(t, np.exp(z))
    assert points == 4
    assert rate == pytest.approx(-np.polyfit(t, z, 1)[0])


def test_area_of_the_formed_product_starts_from_nothing():
    made = kinetics.simulate(subjects=1, noise=0.0, floor=0.0, between=0.0, random_state=0)
    first = {row["analyte"]: row["ttr"] for row in made.rows() if row["time"] == 5.0}
    areas = kinetics.nca(made.ttr, made.doses)["s1"].areas
    assert areas["Tyr-6"].back == pytest.approx(5 * first["Tyr-6"] / 2)
    assert areas["Phe-6"].back > 5 * first["Phe-6"]


def test_gross_errors_are_six_standard_deviations_and_early_mixing_is_of_the_dosed_product():
    settings = {"subjects": 1, "noise": 0.05, "floor": 1e-3, "between": 0.0, "random_state": 4}
    plain = {(r["analyte"], r["time"]): r["ttr"] for r in kinetics.simulate(**settings).rows()}
    exact = kinetics.simulate(**{**settings, "noise": 0.0, "floor": 0.0}).rows()
    made = kinetics.simulate(**settings, gross_errors=1)
    ((_, analyte, time),) = made.planted
    bad = next(r["ttr"] for r in made.rows() if (r["analyte"], r["time"]) == (analyte, time))
    true = next(r["ttr"] for r in exact if (r["analyte"], r["time"]) == (analyte, time))
    assert abs(bad - plain[analyte, time]) == pytest.approx(6 * np.hypot(0.05 * true, 1e-3))
    mixed = kinetics.simulate(**settings, early_mixing={5.0: 1.2}).rows()
    moved = {(r["analyte"], r["time"]): r["ttr"] / plain[r["analyte"], r["time"]] for r in mixed}
    assert {k for k, v in moved.items() if v != 1.0} == {("Tyr-4", 5.0)}
    assert moved["Tyr-4", 5.0] == pytest.approx(1.2)


def test_a_fast_extra_pool_returns_its_outflow_rate_times_its_size():
    a, l, b, g = [0.2, 0.1, 0.1], [0.6, 0.15, 0.02], [0.1, 0.05], [0.15, 0.017]
    found = tracee(a, l, b, g, 0.03, (3.6, 2.85), "EC-EC")
    fast = outflows(a, l).peripheral[0]
    assert found["F2a1"] == found["F12a"] == pytest.approx(60 * fast * found["Q2a"])


@pytest.fixture(scope="module")
def two_terms():
    t = np.array([0.5, 1, 2, 3, 5, 8, 12, 18, 25, 40])
    y = 3 * np.exp(-0.5 * t) + np.exp(-0.06 * t) + 0.03 * np.random.default_rng(1).standard_normal(t.size)
    return t, y, fit_curve(t, y, 2)


def test_errors_of_amplitudes_rates_and_their_gap_are_scipys(two_terms):
    """The same least squares in amplitudes and rates, and in amplitudes, gap and slow rate."""
    t, y, found = two_terms

    def by_rates(t, a1, a2, l1, l2):
        return a1 * np.exp(-l1 * t) + a2 * np.exp(-l2 * t)

    def by_gap(t, a1, a2, gap, l2):
        return by_rates(t, a1, a2, gap + l2, l2)

    best, covariance = curve_fit(by_rates, t, y, [*found.amplitudes, *found.rates])
    assert [*found.amplitudes, *found.rates] == pytest.approx(best, rel=1e-5)
    assert found.std_errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-3)
    gap = curve_fit(by_gap, t, y, [*found.amplitudes, -np.diff(found.rates)[0], found.rates[1]])[1][2, 2]
    assert found.gap_errors == pytest.approx([np.sqrt(gap)], rel=1e-3)
    assert found.gap_errors[0] != pytest.approx(np.hypot(*found.std_errors[2:]), rel=1e-3)


@pytest.mark.parametrize(("share", "wanted"), [(0.49, True), (0.51, False)])
def test_terms_within_two_errors_of_nothing_are_refused(two_terms, share, wanted):
    found = two_terms[2]
    assert _distinct(found)
    assert _distinct(replace(found, gap_errors=-share * np.diff(found.rates))) is wanted
    loose = np.r_[share * found.amplitudes, found.std_errors[2:]]
    assert _distinct(replace(found, std_errors=loose)) is wanted


def test_collinearity_is_one_over_the_smallest_singular_value(one):
    """Brun, Reichert and Kuensch (2001): 1 / sqrt of the smallest eigenvalue of S'S, the columns of S of length one."""
    fit = one.at()
    slopes = fit.model.predict_slopes(fit.theta, one.curves.time, one.curves.which)[1] / fit.sigma[:, None]
    unit = slopes / np.sqrt(np.sum(slopes**2, axis=0))
    eigenvalues = np.linalg.eigvalsh(unit.T @ unit)
    found = one.identifiability()
    assert found.collinearity == pytest.approx(1 / np.sqrt(eigenvalues[0]), rel=1e-6)
    assert found.condition == pytest.approx(np.sqrt(eigenvalues[-1] / eigenvalues[0]), rel=1e-6)


@pytest.mark.parametrize(("error", "ratio"), [(0.51, 2.1), (0.49, 1.9)])
def test_loose_parameters_and_close_rates_are_flagged_at_their_limits(one, error, ratio):
    """More than half of itself is within two standard errors of zero; rates closer than a factor of two are close."""
    fit = one.at()
    a, l, b, _, kappa = fit.model.unpack(fit.theta)
    theta = fit.model.pack(a, l, b, np.array([0.02 * ratio, 0.02]), kappa)
    errors = np.full(theta.size, 0.1)
    errors[-1] = error
    words = [
        n.text for n in identifiability(replace(fit, theta=theta, covariance=np.diag(errors**2)), one.curves).notes
    ]
    assert any("kappa is within two standard errors" in w for w in words) == (error > 0.5)
    assert any("two rates of the product differ" in w for w in words) == (ratio < 2)


def resampled(one, monkeypatch, kind, draws):
    """Return the standardised noise that the bootstrap adds to the fitted curves, without refitting them."""
    fit, seen = one.at(), []

    def keep(curves, *args, **options):
        seen.append((curves.value - fit.fitted) / fit.sigma)
        return fit

    monkeypatch.setattr("unseen.kinetics.intervals.fit_location", keep)
    one.bootstrap(kind=kind, draws=draws, random_state=0)
    return np.array(seen)


def test_residual_bootstrap_draws_residuals_freed_of_leverage_within_their_curve(one, monkeypatch):
    fit, which = one.at(), one.curves.which
    slopes = fit.model.predict_slopes(fit.theta, one.curves.time, which)[1] / fit.sigma[:, None]
    hat = np.diag(slopes @ np.linalg.solve(slopes.T @ slopes, slopes.T))
    free = (one.curves.value - fit.fitted) / fit.sigma / np.sqrt(1 - np.minimum(hat, 0.95))
    noise = resampled(one, monkeypatch, "residual", 40)
    for code in range(3):
        own = free[which == code] - free[which == code].mean()
        nearest = np.abs(noise[:, which == code].ravel()[:, None] - own).min(axis=1)
        assert nearest.max() < 1e-6 * np.abs(own).max()


def test_parametric_bootstrap_has_the_fitted_scale_where_none_is_known(one, monkeypatch):
    fit = one.at()
    noise = resampled(one, monkeypatch, "parametric", 400)
    assert np.mean(noise**2) == pytest.approx(fit.chi2 / fit.spare, rel=0.05)
    assert fit.chi2 / fit.spare < 0.5


def test_percentile_interval_leaves_half_of_the_rest_on_either_side():
    found = BootstrapRefits(kind="parametric", draws={"k21": np.arange(101.0)}, failed=0)
    assert tuple(found.interval("k21", 0.9)) == pytest.approx((5.0, 95.0))


def test_bootstrap_interval_widens_as_student_does():
    """Refits that are normal around the estimate give the interval of Student's t; on the log scale where all are positive."""
    z = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    found = BootstrapRefits(
        kind="parametric", draws={"U": 5 + 2 * z, "k": np.exp(0.1 * z)}, failed=0, centre={"U": 5.0, "k": 1.0}, df=3.0
    )
    low, high = found.interval("U", 0.8)
    assert (low - 5, high - 5) == pytest.approx((2 * stats.t.ppf(0.1, 3), 2 * stats.t.ppf(0.9, 3)), rel=2e-3)
    assert tuple(found.interval("U", 0.95)) == pytest.approx((0.0, 5 + 2 * stats.t.ppf(0.975, 3)), rel=2e-3)
    low, high = found.interval("k", 0.95)
    assert (np.log(low), np.log(high)) == pytest.approx(
        (0.1 * stats.t.ppf(0.025, 3), 0.1 * stats.t.ppf(0.975, 3)), rel=2e-3
    )


def test_profile_of_an_unknown_scale_is_judged_by_f(one):
    """The rise of the sum of squares, in units of the residual variance, is F with 1 and n - p degrees of freedom."""
    found, fit = one.profile("k02", level=0.9, points=0), one.at()
    assert found.threshold == pytest.approx(stats.t.ppf(0.95, fit.spare) ** 2)


def test_band_is_students_t_times_the_delta_error(one):
    fit, t = one.at(), np.array([7.0, 45.0])
    code = np.full(2, 2)
    slopes = []
    for step in 1e-6 * np.eye(fit.theta.size):
        ends = [fit.model.predict(fit.theta + sign * step, t, code) for sign in (1, -1)]
        slopes.append((ends[0] - ends[1]) / 2e-6)
    se = np.sqrt(np.diag(np.transpose(slopes) @ fit.covariance @ np.array(slopes)))
    low, high = one.band(t, "Tyr-6", level=0.8)
    half = stats.t.ppf(0.9, fit.spare) * se
    assert high - one.predict(t, "Tyr-6") == pytest.approx(half, rel=1e-4)
    assert one.predict(t, "Tyr-6") - low == pytest.approx(half, rel=1e-4)


def test_criteria_of_a_joint_fit_are_those_of_a_normal_sample(one):
    """Nine parameters and one scale, the scale at its maximum-likelihood value; misfit is a tail of chi-square."""
    fit, n = one.at(), one.curves.value.size
    sigma = fit.sigma * np.sqrt(fit.chi2 / n)
    deviance = -2 * stats.norm.logpdf(one.curves.value, fit.fitted, sigma).sum()
    assert fit.deviance == pytest.approx(deviance)
    assert fit.aicc == pytest.approx(deviance + 2 * 10 + 2 * 10 * 11 / (n - 10 - 1))
    known = replace(fit, df=np.inf, chi2=40.0)
    assert known.chi2_p == pytest.approx(stats.chi2.sf(40.0, n - 9))
    assert np.isnan(fit.chi2_p)


def test_a_flux_that_may_be_negative_has_an_interval_on_its_own_scale(one):
    value, (low, high) = one.values()["U_Tyr"], one.interval("U_Tyr")
    assert high - value == pytest.approx(value - low)
    value, (low, high) = one.values()["U_Phe"], one.interval("U_Phe")
    assert high / value == pytest.approx(value / low)


def straight_line():
    """A line through twelve points by least squares, one of them off, as the screen sees a fitted curve."""
    x = np.linspace(0, 1, 12)
    y = 1 + 2 * x + 0.1 * np.random.default_rng(0).standard_normal(12)
    y[5] += 0.6
    design = np.column_stack([np.ones(12), x])
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return (
        x,
        y,
        design,
        Solution(theta=np.zeros(2), residuals=fitted - y, jacobian=design, fitted=fitted, converged=True),
    )


def test_deleted_residuals_are_those_of_fits_without_the_sample():
    _, y, design, solution = straight_line()
    statistic, limit = _statistics(solution, 2, "deleted")
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        coef, (rss,), *_ = np.linalg.lstsq(design[rest], y[rest], rcond=None)
        spread = 1 + design[i] @ np.linalg.inv(design[rest].T @ design[rest]) @ design[i]
        assert statistic[i] == pytest.approx(abs(y[i] - design[i] @ coef) / np.sqrt(rss / (11 - 2) * spread))
    assert limit == pytest.approx(stats.t.isf(0.05 / 12 / 2, 12 - 2 - 1))
    assert int(np.argmax(statistic)) == 5


@pytest.mark.parametrize(("rule", "own"), [("prediction", 1.0), ("confidence", 0.0)])
def test_bands_of_the_other_rules_are_the_textbook_ones(rule, own):
    x, _, _, solution = straight_line()
    statistic, limit = _statistics(solution, 2, rule)
    s = np.sqrt(np.sum(solution.residuals**2) / 10)
    width = s * np.sqrt(own + 1 / 12 + (x - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
    assert statistic == pytest.approx(np.abs(solution.residuals) / width)
    assert limit == pytest.approx(stats.t.ppf(0.975, 10))


def test_given_deviations_are_in_the_unit_of_the_samples():
    made = kinetics.simulate(subjects=1, noise=0.02, between=0.0, random_state=0)
    value = np.array(made.ttr["ttr"])
    as_share = {**made.ttr, "sd": (0.02 * np.abs(value) + 1e-4).tolist()}
    as_percent = {**as_share, "ttr": (100 * value).tolist(), "sd": [100 * v for v in as_share["sd"]]}
    (one,), _ = read_study(as_share, made.doses, PHE_TYR, need_sd=True)
    (other,), _ = read_study(as_percent, made.doses, PHE_TYR, unit="percent", need_sd=True)
    assert other.curves.value == pytest.approx(one.curves.value)
    assert other.curves.sd == pytest.approx(one.curves.sd)
    early, _ = read_study(as_share, made.doses, PHE_TYR, drop_early={"Tyr-4": 10})
    assert [(r.analyte, r.time) for r in early[0].removed] == [("Tyr-4", 5.0), ("Tyr-4", 10.0)]


def test_limits_of_total_appearance_are_per_hour_and_begin_at_dose_over_area(one):
    a, l, b, g, _ = one.at().model.unpack(one.at().theta)
    lower, upper = appearance_bounds(one.at(), one.doses)
    areas = np.sum(a / l), np.sum(b / g)
    assert lower == pytest.approx((60 * one.doses[0] / areas[0], 60 * one.doses[1] / areas[1]))
    assert upper[0] / lower[0] == pytest.approx(1 + one.rates["k02"] / one.rates["k12"])


def test_covariance_of_an_unknown_scale_is_scaled_by_the_residual_variance(one):
    fit = one.at()
    slopes = fit.model.predict_slopes(fit.theta, one.curves.time, one.curves.which)[1] / fit.sigma[:, None]
    wanted = np.linalg.inv(slopes.T @ slopes) * fit.chi2 / (one.curves.value.size - 9)
    np.testing.assert_allclose(np.diag(fit.covariance), np.diag(wanted), rtol=1e-5)
