"""Criteria and errors of kinetic fits against what must hold whatever the data: balance, scale, closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import unseen
from unseen.kinetics.curve import fit_curve
from unseen.kinetics.plausible import Reference
from unseen.kinetics.systems import Bolus, CompartmentModel, Output

kinetics = unseen.kinetics

T = np.array([1.0, 2, 4, 6, 8, 12, 16, 20])


def decay(seed=0):
    return 5 * np.exp(-0.2 * T) * (1 + 0.05 * np.random.default_rng(seed).standard_normal(T.size))


ONE_POOL = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 10.0),), {"y": Output("1", "V")})


@pytest.fixture(scope="module")
def one():
    made = kinetics.simulate(subjects=1, noise=0.05, between=0.0, random_state=3)
    return kinetics.fit(made.ttr, made.doses, outliers=None)["s1"]


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
