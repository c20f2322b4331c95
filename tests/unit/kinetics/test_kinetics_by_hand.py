"""Kinetic pieces against systems solved directly: pools at steady state, counted parameters, rules of the screen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import unseen
from unseen.core.errors import InputError
from unseen.kinetics import fitting
from unseen.kinetics.joint import DOSED, FORMED, PRECURSOR, JointModel, SampledCurves
from unseen.kinetics.location_fit import fit_location
from unseen.kinetics.locations import locations_for
from unseen.kinetics.mammillary import interval_identifiability
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.outliers import screen
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.starts import _multiplier
from unseen.kinetics.systems import Bolus, CompartmentModel, Output
from unseen.kinetics.table import read_study

TIME = np.array([5.0, 10, 15, 20, 30, 40, 60, 90, 120, 150, 180, 240])
PARTS = np.array([0.2, 0.1]), np.array([0.16, 0.02]), np.array([0.1, 0.05]), np.array([0.15, 0.017])
KNOWN = ErrorModel("combined", cv=0.02, floor=1e-4)


def sampled(location="EC-EC", kappa=0.033, precursor=TIME, dosed=TIME, formed=TIME):
    """Return samples of a truth without noise: where each curve is sampled is free."""
    model = JointModel(2, 2, location)
    time = np.concatenate([precursor, dosed, formed])
    which = np.repeat([PRECURSOR, DOSED, FORMED], [len(precursor), len(dosed), len(formed)])
    value = model.predict(model.pack(*PARTS, kappa), time, which)
    return model, SampledCurves(time, value, which, np.full(time.size, np.nan))


def tables(curves):
    """Return the two tables of a study of one subject."""
    ttr = {
        "subject": ["s"] * curves.value.size,
        "time": curves.time.tolist(),
        "ttr": curves.value.tolist(),
        "analyte": [PHE_TYR.analytes[k] for k in curves.which],
    }
    return ttr, {"subject": ["s"], "dose_precursor": [3.6], "dose_product": [1.8]}


def spoiled(curves, factors):
    value = curves.value.copy()
    for row, factor in factors.items():
        value[row] *= factor
    return curves.with_values(value)


@pytest.mark.parametrize("end", [0, 1])
def test_either_end_of_the_ranges_is_a_system_with_one_loss_that_gives_the_same_curve(end):
    """Loss from pool 1 alone, or from pool 2 alone: the same sampled curve, and steady pools of the stated sizes."""
    a, l, dose = np.array([0.2, 0.1]), np.array([0.16, 0.02]), 3.6
    found = interval_identifiability(a, l, dose)
    k12 = found.k12[1 - end]
    k21 = found.k21[end]
    k01, k02 = (found.k01[1], 0.0) if end == 0 else (0.0, found.k02[1])
    matrix = np.array([[-(k21 + k01), k12], [k21, -(k12 + k02)]])
    t = np.array([1.0, 5.0, 20.0, 60.0, 120.0])
    q1 = dose / a.sum()
    curve = [(expm(matrix * s) @ [dose / q1, 0.0])[0] for s in t]
    assert curve == pytest.approx(a @ np.exp(-np.outer(l, t)), rel=1e-9)
    # tracee enters pool 2 at the rate U; at rest, matrix @ pools + (0, U) = 0
    pools = np.linalg.solve(matrix, [0.0, -found.U[end]])
    assert pools == pytest.approx([q1, found.Q2[end]], rel=1e-9)


@pytest.mark.parametrize(
    ("error", "curves", "wanted"),
    [
        (ErrorModel("combined"), 3, 4),  # a size for each curve, and the floor over the cv that all share
        (ErrorModel("combined"), 1, 2),
        (ErrorModel("proportional"), 3, 1),
        (ErrorModel("constant"), 3, 1),
        (ErrorModel("combined", cv=0.02, floor=1e-4), 3, 0),
        (ErrorModel("proportional", cv=0.02), 3, 0),
        (ErrorModel("sd"), 3, 0),
    ],
)
def test_parameters_of_the_error_model_are_counted(error, curves, wanted):
    assert error.n_estimated(curves) == wanted


@pytest.mark.parametrize("location", locations_for(2, 2))
def test_the_first_multiplier_is_the_least_squares_slope(location):
    """Twice the conversion doubles the formed curve, so the slope through the true shape is the conversion."""
    for kappa in (0.033, 0.066):
        model, curves = sampled(location, kappa)
        assert _multiplier(model, curves, *PARTS) == pytest.approx(kappa, rel=1e-9)


@pytest.mark.parametrize(
    ("gross", "found"), [({6: 3.0}, [6]), ({3: 1.4, 6: 3.0}, [3, 6]), ({3: 1.05, 6: 1.3, 9: 3.0}, [6, 9])]
)
def test_the_screen_takes_the_two_worst_samples_of_a_curve_and_no_more(gross, found):
    """The other samples have no error, so each gross one stands out once the larger ones are gone."""
    _, curves = sampled()
    removed = [o.index for o in screen(spoiled(curves, gross), KNOWN)]
    assert sorted(k for k in removed if k < TIME.size) == found


@pytest.mark.parametrize("location", locations_for(2, 2))
@pytest.mark.parametrize("rule", ["deleted", "prediction", "confidence"])
def test_samples_without_error_are_all_kept(location, rule):
    """Their residuals are rounding, one part in 10^16: no reason to take any of them out."""
    _, curves = sampled(location)
    assert screen(curves, KNOWN, rule) == []
    assert screen(curves, ErrorModel(), rule) == []


@pytest.mark.parametrize(("curve", "few"), [("precursor", 6), ("formed", 5)])
def test_a_curve_is_screened_from_three_samples_more_than_parameters_on(curve, few):
    """Two exponentials have four parameters and the formed curve three: one sample off among two spare ones stays."""
    for count, wanted in ((few, []), (few + 1, [3])):
        _, curves = sampled(**{curve: TIME[np.linspace(0, 11, count).astype(int)]})
        first = 0 if curve == "precursor" else curves.time.size - count
        found = screen(spoiled(curves, {first + 3: 1.001}), KNOWN)
        assert [o.index - first for o in found] == wanted


@pytest.mark.parametrize(("largest", "noted"), [(0.9, True), (1.1, False), (20.0, False)])
def test_per_cent_that_never_reach_one_are_asked_about(largest, noted):
    made = unseen.kinetics.simulate(subjects=1, noise=0.0, between=0.0, random_state=0)
    value = np.array(made.ttr["ttr"])
    dosed = np.array([a != PHE_TYR.analytes[FORMED] for a in made.ttr["analyte"]])
    as_percent = {**made.ttr, "ttr": (value * largest / value[dosed].max()).tolist()}
    (subject,), _ = read_study(as_percent, made.doses, PHE_TYR, unit="percent")
    assert ("K003" in [n.code for n in subject.notes]) == noted


def test_criteria_of_all_subjects_are_added_and_stand_above_the_best():
    made = unseen.kinetics.simulate(subjects=2, noise=0.05, between=0.1, random_state=3)
    study = unseen.kinetics.fit(made.ttr, made.doses, outliers=None, error="proportional")
    sums = {a.location: sum(f.at(a.location).aicc for f in study) for a in study.fits[0].alternatives}
    assert len(sums) > 2
    found = study.summed_aicc
    best = min(sums, key=sums.get)
    assert found[best] == 0.0
    assert found == pytest.approx({p: v - sums[best] for p, v in sums.items()})
    assert max(found.values()) > 1


@pytest.mark.parametrize(("cv", "noted"), [(0.05, False), (0.02, True)])
def test_a_chi2_too_large_for_the_stated_error_is_noted(cv, noted):
    """Samples with an error of 5%: a stated 2% makes chi2 about 6.25 times its degrees of freedom, 5% about once."""
    _, curves = sampled()
    value = curves.value * (1 + 0.05 * np.random.default_rng(0).standard_normal(curves.value.size))
    ttr, doses = tables(curves.with_values(value))
    study = unseen.kinetics.fit(ttr, doses, error="proportional", cv=cv, outliers=None, location="EC-EC")
    fit = study["s"].at()
    assert fit.chi2 / fit.spare == pytest.approx((0.05 / cv) ** 2, rel=0.6)
    assert any(n.code == "K005" and "chi2" in n.text for n in study.notes) == noted


@pytest.mark.parametrize(("counts", "largest"), [((6, 12), (2, 3)), ((7, 6), (3, 2))])
def test_orders_with_as_many_parameters_as_samples_are_not_tried(counts, largest, monkeypatch):
    """Three exponentials have six parameters: seven samples of a curve allow them, six do not."""
    spread = [TIME[np.linspace(0, 11, n).astype(int)] for n in counts]
    _, curves = sampled(precursor=spread[0], dosed=spread[1])
    tried = []

    def recorded(curves, error, place, order, like):
        tried.append(order)
        return fit_location(curves, error, place, order, like=like)

    monkeypatch.setattr(fitting, "fit_location", recorded)
    fitting._best_order(curves, KNOWN)
    assert (max(n for n, _ in tried), max(m for _, m in tried)) == largest


def test_a_system_needs_more_samples_than_parameters():
    """A rate and a volume from two samples leave nothing to judge the fit by; from three, one degree of freedom."""
    model = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 10.0),), {"y": Output("1", "V")})
    t = np.array([1.0, 4.0, 9.0])
    y = 10 / 2 * np.exp(-0.3 * t)
    with pytest.raises(InputError, match="2 samples cannot determine 2 parameters"):
        unseen.kinetics.fit_system(model, {"y": (t[:2], y[:2])}, starts=2)
    fit = unseen.kinetics.fit_system(model, {"y": (t, y)}, starts=2)
    assert fit.df == 1
    assert fit.values == pytest.approx({"k": 0.3, "V": 2.0})
