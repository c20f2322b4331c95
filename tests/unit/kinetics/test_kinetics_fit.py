from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.kinetics.intervals import delta_interval
from unseen.kinetics.joint import JointModel
from unseen.kinetics.quantities import PrintedConvention

kinetics = unseen.kinetics


@pytest.fixture(scope="module")
def made():
    return kinetics.simulate(subjects=3, noise=0.02, between=0.2, random_state=4)


@pytest.fixture(scope="module")
def study(made):
    return kinetics.fit(made.ttr, made.doses)


def test_rates_pools_and_fluxes_lie_near_the_truth(made, study):
    for true in made.truth:
        one = study[true["subject"]]
        assert one.location == "EC-EC"
        for name in ("k21", "k12", "k02", "k43", "k34", "k04", "kappa", "Q1", "Q3"):
            low, high = one.interval(name, level=0.9999)
            assert low <= true[name] <= high
        assert one.fluxes("EC-EC")["Fconv"] == pytest.approx(60 * one.rates["kappa"] * 2.85)


def test_every_alternative_balances_in_a_real_fit(study):
    for place in kinetics.LOCATIONS:
        v = study["s1"].values(place)
        assert v["U_Phe"] == pytest.approx(v["F02"] + v.get("F01", 0.0) + v["Fconv"], rel=1e-9)
        assert v["U_Tyr"] == pytest.approx(v["F04"] + v.get("F03", 0.0) - v["Fconv"], rel=1e-9)


def test_frame_has_one_row_per_subject_and_means_are_over_subjects(study):
    frame = study.frame()
    assert list(frame["subject"]) == ["s1", "s2", "s3"]
    mean = study.means()["U_Phe"]
    assert mean.mean == pytest.approx(frame["U_Phe"].mean())
    assert mean.std_error == pytest.approx(frame["U_Phe"].std(ddof=1) / np.sqrt(3))


def test_mean_of_a_flux_is_not_the_product_of_means(study):
    frame = study.frame()
    product = 60 * frame["k21"].mean() * frame["Q1"].mean()
    assert study.means()["F21"].mean != pytest.approx(product, rel=1e-4)


def test_full_covariance_narrows_fluxes(study):
    one = study["s1"]
    errors, values = one.std_errors(), one.values()
    independent = values["F21"] * np.hypot(errors["k21"] / values["k21"], errors["Q1"] / values["Q1"])
    assert errors["F21"] < 0.6 * independent


def test_per_cent_and_hours_give_the_same_fit(made, study):
    table = dict(made.ttr)
    table["ttr"] = [100 * v for v in table["ttr"]]
    table["time"] = [v / 60 for v in table["time"]]
    other = kinetics.fit(table, made.doses, unit="percent", time_unit="h", locations=["EC-EC"])
    alone = kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])
    for name, value in alone["s1"].values().items():
        assert other["s1"].values()[name] == pytest.approx(value, rel=1e-5)


def test_dose_scales_pools_and_fluxes_and_nothing_else(made):
    doses = {**made.doses, "dose_precursor": [7.2] * 3, "dose_product": [5.7] * 3}
    one, two = (kinetics.fit(made.ttr, d, locations=["EC-EC"])["s1"] for d in (made.doses, doses))
    assert two.rates == pytest.approx(one.rates)
    assert two.pools["Q2"] == pytest.approx(2 * one.pools["Q2"])
    assert two.fluxes()["U_Tyr"] == pytest.approx(2 * one.fluxes()["U_Tyr"])


def test_printed_convention_warns_and_counts_conversion_twice(study):
    one = study["s1"]
    with pytest.warns(PrintedConvention, match="twice"):
        printed = one.fluxes("IC-IC", convention="printed")
    assert printed["U_Phe"] == pytest.approx(printed["F02"] + printed["Fconv"])
    assert printed["F02"] == pytest.approx(
        60 * one.rates["k02"] * one.rates["k21"] / one.rates["k12"] * one.pools["Q1"]
    )


def test_printed_convention_of_a_whole_study_carries_a_note(made):
    study = kinetics.fit(made.ttr, made.doses, convention="printed", locations=["EC-EC"])
    assert any(n.code == "K009" for n in study.notes)


@pytest.mark.slow
@pytest.mark.sample
def test_a_printed_study_is_shown_whole_and_refuses_what_was_never_printed(made, undrawn, tmp_path):
    study = kinetics.fit(made.ttr, made.doses, convention="printed")
    assert study.location == "EC-EC"
    assert study.means()["U_Phe"].n == 3
    study.report(tmp_path / "printed.html")
    study["s1"].report(tmp_path / "one.html")
    assert "count conversion twice" in (tmp_path / "printed.html").read_text()
    assert kinetics.fit_conventional(study["s1"], "4.2b").chi2 == pytest.approx(study["s1"].at("EC-EC").chi2, rel=1e-6)
    with pytest.raises(UnknownName, match="IC-EC"):
        kinetics.fit(made.ttr, made.doses, convention="printed", location="IC-EC")


def test_locations_table_is_ordered_and_weighted(study):
    rows = study["s1"].locations
    assert [r["aicc"] for r in rows] == sorted(r["aicc"] for r in rows)
    assert sum(r["weight"] for r in rows) == pytest.approx(1)
    assert {r["location"] for r in rows} == set(kinetics.LOCATIONS)


@pytest.mark.slow
@pytest.mark.sample
def test_profile_and_bootstrap_agree_with_delta(study):
    one = study["s1"]
    delta = one.interval("k02")
    profile = one.interval("k02", "profile")
    refits = one.bootstrap(draws=60, random_state=1)
    assert profile.low == pytest.approx(delta.low, rel=0.05)
    assert profile.high == pytest.approx(delta.high, rel=0.05)
    spread = np.std(np.log(refits.draws["k02"]), ddof=1)
    assert spread == pytest.approx(one.std_errors()["k02"] / one.rates["k02"], rel=0.4)
    assert refits.failed == 0


@pytest.mark.parametrize("kind", ["parametric", "residual"])
def test_bootstrap_repeats_itself(study, kind):
    a, b, c = (study["s2"].bootstrap(kind=kind, draws=4, random_state=s).draws["U_Phe"] for s in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.slow
@pytest.mark.sample
def test_order_is_chosen_from_the_data():
    made = kinetics.simulate(subjects=1, noise=0.01, floor=1e-5, between=0.0, random_state=2)
    assert kinetics.fit(made.ttr, made.doses, order="auto")["s1"].order == (2, 2)


@pytest.mark.slow
@pytest.mark.sample
def test_a_single_pool_precursor_is_found():
    t = np.array([5.0, 10, 15, 20, 30, 45, 60, 90, 120])
    model = JointModel(1, 2, "EC-EC")
    theta = model.pack([0.3], [0.03], [0.12, 0.03], [0.15, 0.0166], 0.03)
    rng = np.random.default_rng(0)
    rows = []
    for code, analyte in enumerate(kinetics.PHE_TYR.analytes):
        y = model.predict(theta, t, np.full(t.size, code)) * (1 + 0.01 * rng.standard_normal(t.size))
        rows += [("a", x, analyte, v) for x, v in zip(t, y)]
    table = pd.DataFrame(rows, columns=["subject", "time", "analyte", "ttr"])
    doses = {"subject": ["a"], "dose_precursor": [3.6], "dose_product": [2.85]}
    one = kinetics.fit(table, doses, order="auto", error="proportional")["a"]
    assert one.order == (1, 2)
    assert one.rates["k01"] == pytest.approx(0.03, rel=0.05)
    assert one.values()["U_Phe"] == pytest.approx(60 * one.rates["k01"] * one.pools["Q1"])


def test_excluded_and_early_samples_are_recorded(made):
    table = dict(made.ttr)
    table["exclude"] = [0] * len(table["ttr"])
    table["exclude"][2], table["ttr"] = 1, ["oops" if i == 2 else v for i, v in enumerate(table["ttr"])]
    study = kinetics.fit(table, made.doses, drop_early={"Tyr-4": 10}, locations=["EC-EC"], outliers=None)
    reasons = [(r.analyte, r.time, r.row) for r in study["s1"].removed]
    assert ("Phe-6", 15.0, 3) in reasons
    assert [r for r in reasons if r[0] == "Tyr-4"] == [("Tyr-4", 5.0, 13), ("Tyr-4", 10.0, 14)]
    assert study["s1"].curves.value.size == 36 - 3


def test_a_planted_error_is_removed_and_named():
    made = kinetics.simulate(subjects=1, noise=0.02, between=0.0, random_state=8)
    table = dict(made.ttr)
    table["ttr"] = [1.4 * v if i == 4 else v for i, v in enumerate(table["ttr"])]
    study = kinetics.fit(table, made.doses, locations=["EC-EC"])
    (gone,) = (r for r in study["s1"].removed if r.row == 5)
    assert (gone.analyte, gone.time) == ("Phe-6", 25.0)
    assert gone.statistic > gone.limit
    assert any(n.code == "K001" and "Phe-6 at 25 min" in n.text for n in study.notes)
    kept = kinetics.fit(table, made.doses, locations=["EC-EC"], outliers=None)["s1"]
    assert not kept.removed
    assert abs(study["s1"].rates["k21"] - 0.131) < abs(kept.rates["k21"] - 0.131)


@pytest.mark.slow
@pytest.mark.sample
def test_workers_do_not_change_the_numbers(made):
    one, two = (kinetics.fit(made.ttr, made.doses, locations=["EC-EC"], n_jobs=j) for j in (1, 2))
    pd.testing.assert_frame_equal(one.frame(), two.frame())


def test_json_form_is_plain(study):
    import json

    text = json.dumps(study.to_dict(), allow_nan=False)
    back = json.loads(text)
    assert back["subjects"][0]["quantities"][0]["quantity"] == "k21"
    assert len(back["means"]) > 15


def test_predictions_and_band_surround_the_samples(study):
    one = study["s1"]
    t = np.array([5.0, 60])
    low, high = one.band(t, "Phe-6")
    middle = one.predict(t, "Phe-6")
    assert ((low < middle) & (middle < high)).all()
    with pytest.raises(UnknownName, match="Tyr"):
        one.predict(t, "Tyr-5")


def test_ranges_hold_the_point_estimates(study):
    one = study["s1"]
    r = one.ranges()["Phe"]
    assert r.U[0] <= one.values("IC-IC")["U_Phe"] * 1.001
    assert r.U[0] == pytest.approx(60 * 3.6 / np.sum(_area(one)), rel=1e-9)
    assert r.k21[1] == pytest.approx(one.rates["k21"])


def _area(one):
    a, l, *_ = one.at().model.unpack(one.at().theta)
    return a / l


def test_plausibility_counts_broken_limits_first(study):
    judged = study["s1"].plausibility()
    assert [j.rank for j in judged] == [1, 2, 3, 4, 5]
    assert [len(j.violations) for j in judged] == sorted(len(j.violations) for j in judged)
    assert judged[0].distance > 0


def test_identifiability_flags_what_the_data_cannot_tell(study):
    good = study["s1"].identifiability()
    assert 5 < good.condition < 200
    assert np.allclose(np.diag(good.correlations), 1)
    t = [5.0, 10, 15, 20, 25, 30, 35, 40]
    short = kinetics.simulate(subjects=1, noise=0.05, between=0.0, times=t, random_state=0)
    poor = kinetics.fit(short.ttr, short.doses, locations=["EC-EC"], outliers=None)["s1"]
    assert poor.identifiability().condition > good.condition
    assert any(n.code == "K007" for n in poor.notes)


def test_unknown_choices_are_refused(made):
    for option in (
        {"location": "EC"},
        {"error": "nosuch"},
        {"outliers": "all"},
        {"convention": "both"},
        {"scheme": "leu"},
        {"unit": "ppm"},
        {"time_unit": "s"},
        {"drop_early": {"Tyr-5": 10}},
    ):
        with pytest.raises(UnknownName):
            kinetics.fit(made.ttr, made.doses, **option)
    with pytest.raises(InputError, match="order"):
        kinetics.fit(made.ttr, made.doses, order=(4, 2))
    with pytest.raises(InputError, match="cv"):
        kinetics.fit(made.ttr, made.doses, cv=0.02)
    with pytest.raises(UnknownName, match="U_Phe"):
        kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])["s1"].interval("U_phe")


def test_a_forced_location_that_fits_badly_is_noted(made):
    study = kinetics.fit(made.ttr, made.doses, location="IC-IC")
    assert study.location == study["s1"].location == "IC-IC"
    assert any(n.code == "K005" and "worse than EC-EC" in n.text for n in study.notes)
    assert study["s1"].values()["Fconv"] == study["s1"].fluxes("IC-IC")["Fconv"]


def test_a_broken_limit_is_noted():
    made = kinetics.simulate(1, noise=0.01, between=0.0, rates={"kappa": 0.6}, random_state=0)
    study = kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])
    assert study["s1"].values()["F02"] < 0
    assert any(n.code == "K008" and "F02 is negative" in n.text for n in study.notes)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("location", ["IC-IC", "whole-body"])
def test_very_noisy_data_still_give_an_order(location):
    times = [4.0, 9, 30, 60, 100, 150]
    made = kinetics.simulate(1, noise=0.4, between=0.3, times=times, location=location, random_state=6)
    study = kinetics.fit(made.ttr, made.doses, order="auto", outliers=None)
    assert all(k in (1, 2, 3) for k in study["s1"].order)
    assert study["s1"].notes


def test_chi2_of_estimated_errors_is_not_shown_as_a_test_of_the_fit():
    """With an estimated combined error chi2 is near its degrees of freedom even where the noise is ten times what was said."""
    for noise in (0.01, 0.1):
        made = kinetics.simulate(1, noise=noise, between=0.0, random_state=5)
        one = kinetics.fit(made.ttr, made.doses, locations=["EC-EC"], outliers=None)["s1"]
        assert one.at().chi2 / one.at().spare == pytest.approx(1, abs=0.35)
        assert "errors estimated, no test of the fit" in str(one)
    known = kinetics.fit(made.ttr, made.doses, locations=["EC-EC"], outliers=None, cv=0.01, floor=2e-4)["s1"]
    assert "no test" not in str(known)
    assert known.at().chi2 > 5 * known.at().spare


@pytest.mark.parametrize("error", ["combined", "proportional", "constant", "dissertation"])
def test_a_perfect_fit_is_no_poor_fit(error):
    """Samples without noise leave rounding errors, whose signs keep no order that means anything."""
    exact = kinetics.simulate(1, noise=0.0, floor=0.0, random_state=0)
    one = kinetics.fit(exact.ttr, exact.doses, error=error, locations=["EC-EC"])["s1"]
    assert np.abs(one.at().fitted / one.curves.value - 1).max() < 1e-6
    assert one.at().runs_p == 1.0
    assert "K005" not in [n.code for n in one.notes]


def test_an_order_in_small_residuals_is_still_seen():
    """A misfit of a tenth of a per cent is far above rounding."""
    exact = kinetics.simulate(1, noise=0.0, floor=0.0, location="IC-IC", random_state=0)
    one = kinetics.fit(exact.ttr, exact.doses, locations=["EC-EC"])["s1"]
    assert one.at().runs_p < 0.01
    assert "K005" in [n.code for n in one.notes]


def test_no_interval_of_what_cannot_be_negative_is(study):
    """The example of the README with two subjects had 16 such intervals of 21."""
    for name, mean in study.means().items():
        assert 0 <= mean.interval.low < mean.mean < mean.interval.high, name
    for one in study:
        for place in kinetics.LOCATIONS:
            for row in one.rows(location=place):
                assert row["lower"] >= 0 or row["upper"] <= 0, (place, row)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("seed", "sign"), [(1, 1), (4, -1)])
def test_a_difference_near_zero_has_an_interval_that_begins_there(seed, sign):
    """With 20% noise breakdown to tyrosine is hardly known, and its estimate may be negative; it is a flux for all that."""
    few = kinetics.simulate(1, noise=0.2, between=0.0, rates={"k04": 0.004, "kappa": 0.03}, random_state=seed)
    one = kinetics.fit(few.ttr, few.doses, locations=["EC-EC"], outliers=None)["s1"]
    value, error = one.values()["U_Tyr"], one.std_errors()["U_Tyr"]
    assert 0 < sign * value < 2 * error
    assert one.interval("U_Tyr").low == 0.0
    assert one.interval("U_Tyr").high > value + error
    assert one.interval("U_Tyr", "profile").low == 0.0
    assert one.interval("U_Tyr", "bootstrap", draws=40, random_state=0).low == 0.0


def test_an_interval_below_zero_speaks_against_the_alternative():
    found = delta_interval(-3.0, 1.0, np.inf, 0.95, signed=True)
    assert found.low < -3.0 < found.high < 0


def test_a_profile_that_walks_to_where_a_rate_vanishes_comes_back():
    """The optimiser tried a point without return from the unsampled pool, and a division by zero escaped."""
    few = kinetics.simulate(1, noise=0.2, between=0.0, rates={"k04": 0.004, "kappa": 0.03}, random_state=0)
    one = kinetics.fit(few.ttr, few.doses, locations=["EC-EC"], outliers=None)["s1"]
    found = one.interval("U_Tyr", "profile")
    assert one.values()["U_Tyr"] in found


def test_two_subjects_are_shown_by_their_values(study):
    two = replace(study, fits=study.fits[:2])
    lines = str(two).splitlines()
    (u,) = (line for line in lines if line.startswith("U_Phe"))
    first, second = (f"{f.values()['U_Phe']:.4g}" for f in two)
    assert u.endswith(f"{first}, {second}")
    assert "An interval of a mean needs 3 subjects or more." in lines
    assert not any("[" in line for line in lines)
    assert all(m["lower"] is None for m in two.to_dict()["means"])
