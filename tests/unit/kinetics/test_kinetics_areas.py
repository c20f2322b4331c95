from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import unseen
from unseen.core.errors import InputError
from unseen.kinetics.group_means import group_mean
from unseen.kinetics.noncompartmental import terminal_slope, trapezoid_area
from unseen.kinetics.plausibility import REFERENCES, LocationCriteria, Reference, hard_violations, rank, soft_distance

kinetics = unseen.kinetics


def test_bolus_area_by_hand():
    t, y = [1.0, 2.0, 4.0, 8.0], [8.0, 4.0, 2.0, 1.0]
    area = trapezoid_area(t, y)
    ln2 = np.log(2)
    assert area.observed == pytest.approx(4 / ln2 + 2 * 2 / ln2 + 4 * 1 / ln2)
    assert area.back == pytest.approx((16 - 8) / ln2)
    slope = -np.polyfit(t[1:], np.log(y[1:]), 1)[0]
    assert area.points == 3
    assert area.tail == pytest.approx(1 / slope)
    assert area.total == pytest.approx(area.observed + area.back + area.tail)
    assert area.extrapolated == pytest.approx((area.back + area.tail) / area.total)


def test_rising_parts_are_linear_and_falling_ones_logarithmic():
    area = trapezoid_area([1.0, 3.0, 5.0, 7.0, 9.0], [2.0, 6.0, 3.0, 1.5, 0.75], starts_at_zero=True)
    ln2 = np.log(2)
    assert area.observed == pytest.approx(8 + (3 + 1.5 + 0.75) * 2 / ln2)
    assert area.back == pytest.approx(1.0)
    assert area.terminal_rate == pytest.approx(ln2 / 2)
    assert area.tail == pytest.approx(0.75 * 2 / ln2)


def test_terminal_slope_takes_the_straight_tail():
    t = np.array([1.0, 2, 3, 4, 5, 6])
    y = np.exp(-0.2 * t) + np.array([5.0, 2.0, 0, 0, 0, 0])
    rate, points = terminal_slope(t, y)
    assert rate == pytest.approx(0.2)
    assert points == 4


def test_a_tail_that_rises_is_refused():
    with pytest.raises(InputError, match="do not fall"):
        trapezoid_area([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], starts_at_zero=True)
    with pytest.raises(InputError, match="too few"):
        trapezoid_area([1, 2], [2.0, 1.0])


def test_appearance_and_conversion_against_the_closed_form():
    made = kinetics.simulate(subjects=1, noise=0.0, floor=0.0, between=0.0, times=np.arange(1.0, 400), random_state=0)
    one = kinetics.nca(made.ttr, made.doses)["s1"]
    l = np.array([0.16310, 0.02088])
    ra = 60 * 12 * l.prod() / (0.027 + 0.026)
    assert one.ra_precursor == pytest.approx(ra, rel=2e-3)
    assert one.ra_precursor_fitted == pytest.approx(ra, rel=2e-3)
    assert one.conversion == pytest.approx(60 * 0.033 * 2.85, rel=2e-3)
    exact = kinetics.fit(made.ttr, made.doses, error="proportional", outliers=None, locations=["EC-EC"])["s1"].ranges()[
        "Phe"
    ]
    assert one.ra_precursor == pytest.approx(exact.U[0], rel=2e-3)
    assert exact.U[0] / exact.U[1] == pytest.approx(0.027 / 0.053, rel=1e-6)


def test_what_areas_bound_and_what_they_estimate():
    """Appearance is bounded from below at every location, conversion at all but the one between the sampled pools."""
    for place in ("EC-EC", "IC-IC", "IC-EC"):
        made = kinetics.simulate(1, noise=0.0, floor=0.0, between=0.0, location=place, random_state=0)
        options = {"error": "proportional", "outliers": None, "locations": [place]}
        true, areas = (
            kinetics.fit(made.ttr, made.doses, **options)["s1"].values(),
            kinetics.nca(made.ttr, made.doses)["s1"],
        )
        assert areas.ra_precursor < true["U_Phe"]
        assert areas.ra_product < true["U_Tyr"] + true["Fconv"]
        if place == "EC-EC":
            assert areas.conversion == pytest.approx(true["Fconv"], rel=0.06)
            assert areas.conversion > true["Fconv"]
            assert "(lower bounds of appearance), conversion" in str(areas)
        else:
            assert areas.conversion < true["Fconv"]


def test_random_effects_against_published_values():
    """BCG vaccine trials (Colditz et al., 1994); metafor's documented results: REML -0.7145 (0.1798), tau2 0.3132.

    Recalled figures: the printed output was not at hand to compare with.
    """
    tpos = np.array([4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27])
    tneg = np.array([119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886])
    cpos = np.array([11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29])
    cneg = np.array([128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825])
    y = np.log(tpos / (tpos + tneg)) - np.log(cpos / (cpos + cneg))
    se = np.sqrt(1 / tpos - 1 / (tpos + tneg) + 1 / cpos - 1 / (cpos + cneg))
    found = group_mean(y, se)
    assert found.random_mean == pytest.approx(-0.7145, abs=5e-5)
    assert found.random_error == pytest.approx(0.1798, abs=5e-5)
    assert found.between_sd**2 == pytest.approx(0.3132, abs=5e-5)
    assert found.weighted_mean == pytest.approx(-0.4303, abs=5e-5)
    assert found.weighted_error == pytest.approx(0.0405, abs=5e-5)


def test_equal_errors_make_all_means_equal():
    found = group_mean([1.0, 2.0, 6.0], [0.5] * 3)
    assert found.mean == found.weighted_mean == pytest.approx(found.random_mean) == 3.0
    assert found.between_sd**2 == pytest.approx(7.0 - 0.25, rel=1e-6)


def test_relative_errors_are_taken_at_the_common_mean():
    y, rel = np.array([1.0, 2.0, 6.0]), np.array([0.1, 0.2, 0.1])
    w = 1 / rel**2
    found = group_mean(y, rel * y, relative=True)
    assert found.weighted_mean == pytest.approx(np.sum(w * y) / w.sum())
    assert found.weighted_error == pytest.approx(3 / np.sqrt(w.sum()))
    assert group_mean(-y, rel * y, relative=True).weighted_mean == pytest.approx(-found.weighted_mean)
    with pytest.raises(InputError, match="one sign"):
        group_mean([-1.0, 2.0], [0.1, 0.1], relative=True)


def test_means_of_quantities_with_relative_errors_are_not_drawn_down():
    """Lognormal subjects known to about 20%: weighted by the errors themselves the two means are 21 and 8% too low."""
    rng = np.random.default_rng(3)
    fixed, mixed, z = [], [], []
    for _ in range(400):
        truth = np.exp(0.3 * rng.standard_normal(12) - 0.045)
        rel = 0.2 * np.exp(0.3 * rng.standard_normal(12))
        y = truth * np.exp(rel * rng.standard_normal(12) - rel**2 / 2)
        found = group_mean(y, rel * y, relative=True)
        fixed.append(found.weighted_mean)
        mixed.append(found.random_mean)
        z.append((found.random_mean - 1) / found.random_error)
    assert abs(np.mean(fixed) - 1) < 0.02
    assert abs(np.mean(mixed) - 1) < 0.02
    assert np.sqrt(np.mean(np.square(z))) < 1.25


def test_means_of_a_study_weigh_by_relative_errors():
    """Twenty subjects whose sizes alone differ are equally well known, so that all means of a pool are nearly the plain one."""
    made = kinetics.simulate(20, noise=0.03, floor=0.0, between=0.0, random_state=2)
    scale = np.geomspace(0.5, 2.0, 20)
    doses = {
        **made.doses,
        **{k: (scale * np.array(made.doses[k])).tolist() for k in ("dose_precursor", "dose_product")},
    }
    study = kinetics.fit(
        made.ttr, doses, locations=["EC-EC"], error="proportional", cv=0.03, outliers=None, progress=False
    )
    for name in ("Q1", "U_Phe", "U_Tyr"):
        found = study.means()[name]
        assert found.weighted_mean == pytest.approx(found.mean, rel=0.06)


def test_one_subject_has_no_spread():
    found = group_mean([2.0], [0.1])
    assert found.mean == 2.0
    assert np.isnan(found.std_error)
    with pytest.raises(InputError):
        group_mean([1.0, 2.0], [0.1])


def test_mean_of_a_positive_quantity_has_an_interval_symmetric_on_the_log_scale():
    y = np.array([1.0, 2.0, 6.0])
    found = group_mean(y, [0.1] * 3, level=0.9, positive=True)
    half = stats.t.ppf(0.95, 2) * y.std(ddof=1) / np.sqrt(3)
    assert tuple(found.interval) == pytest.approx((3 * np.exp(-half / 3), 3 * np.exp(half / 3)))
    assert group_mean(y, [0.1] * 3, level=0.9).interval.low < 0 < found.interval.low


def test_an_estimate_below_zero_leaves_the_interval_of_the_mean_at_zero():
    found = group_mean([-1.0, 2.0, 6.0], [0.1] * 3, positive=True)
    assert found.interval.low == 0.0
    assert found.interval.high == pytest.approx(group_mean([-1.0, 2.0, 6.0], [0.1] * 3).interval.high)
    impossible = group_mean([-1.0, -2.0, -1.5], [0.1] * 3, positive=True)
    assert impossible.interval.low < impossible.mean < impossible.interval.high < 0


def test_two_subjects_have_a_spread_and_no_interval():
    found = group_mean([44.4, 132.0], [2.6, 5.0], "Q2", positive=True)
    assert found.interval is None
    assert found.spread == (44.4, 132.0)
    row = found.rows()[0]
    assert (row["lower"], row["upper"], row["smallest"], row["largest"]) == (None, None, 44.4, 132.0)


def test_hard_limits():
    good = {"Q1": 12.0, "F02": 50.0, "Fconv": 6.0, "U_Phe": 56.0, "U_Tyr": 60.0}
    names = ("U_Phe", "U_Tyr")
    assert hard_violations(good, names, (50.0, 40.0), (90.0, 90.0)) == ()
    assert len(hard_violations({**good, "F02": -1.0}, names)) == 1
    assert "below" in hard_violations(good, names, (57.0, 40.0), (90.0, 90.0))[0]
    assert "above" in hard_violations(good, names, (50.0, 40.0), (90.0, 65.0))[0]
    assert "exceeds" in hard_violations({**good, "Fconv": 57.0}, names)[0]


def test_distance_and_ranking():
    values, errors = {"U_Phe": 90.0, "U_Tyr": 50.0, "Fconv": 8.0}, {"U_Phe": 3.0, "U_Tyr": 3.0, "Fconv": 1.0}
    refs = [Reference("appearance_precursor", 95.0, 4.0, ""), Reference("appearance_product", 58.0, 1.0, "")]
    assert soft_distance(values, errors, ("U_Phe", "U_Tyr"), refs) == pytest.approx(1.0)
    assert soft_distance(values, errors, ("U_Phe", "U_Tyr"), []) is None
    assert len(REFERENCES) == 12
    a, b = LocationCriteria("a", (), 10.0, 5.0), LocationCriteria("b", (), 10.0, 1.0)
    judged = rank([a, b, LocationCriteria("c", ("bad",), 1.0, 0.0)])
    assert [j.location for j in judged] == ["b", "a", "c"]
    assert judged[2].aicc_difference == 0.0
