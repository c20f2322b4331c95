"""Pools and fluxes against the dissertation's formulas, the four-pool steady state and its matrix exponential."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.kinetics.balance import imbalance, printed_tracee, tracee, tracer_rates
from unseen.kinetics.joint import JointModel
from unseen.kinetics.locations import LOCATIONS, formed_curve, locations_for
from unseen.kinetics.mammillary import interval_identifiability, outflows
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.simulation import TABLE_4_1, rates_to_curve
from unseen.kinetics.systems import Bolus, CompartmentModel, Output

ERRORS = {"k21": 0.036, "k12": 0.007, "k02": 0.005, "k43": 0.013, "k34": 0.010, "k04": 0.001, "kappa": 0.0082}
# spec/kinetics.md, section 3.1: printed convention, Q1 = 12 (1.2), Q3 = 19 (1.9), independent errors
VECTOR_A = {
    "IC-IC": {
        "Q2": (58.222222, 22.754049), "Q4": (104.913043, 48.021525), "F21": (94.32, 27.582767), "F12": (94.32, 27.582767),
        "F43": (144.78, 20.718226), "F34": (144.78, 20.718226), "F02": (90.826667, 39.561002), "F04": (125.895652, 57.968617),
        "Fconv": (115.28, 53.388477), "U_precursor": (206.106667, 87.257289), "U_product": (10.615652, 78.807931),
    },
    "EC-EC": {
        "Q2": (72.888889, 26.067432), "Q4": (87.695652, 41.236515), "F12": (118.08, 29.088356), "F34": (121.02, 21.673659),
        "F02": (113.706667, 46.171518), "F04": (105.234783, 49.762779), "Fconv": (23.76, 6.364165),
        "U_precursor": (137.466667, 47.890265), "U_product": (81.474783, 50.865274),
    },
    "whole-body": {
        "Q2": (58.222222, 22.754049), "Q4": (104.913043, 48.021525), "F02": (109.546667, 41.728920),
        "F04": (148.695652, 58.639740), "Fconv": (139.04, 57.304949), "U_precursor": (248.586667, 91.207509),
        "U_product": (9.655652, 81.990708),
    },
}  # fmt: skip
A, L = rates_to_curve(0.131, 0.027, 0.026, 0.3)
B, G = rates_to_curve(0.127, 0.023, 0.020, 0.15)
DOSES = (3.6, 2.85)


@pytest.mark.parametrize("location", VECTOR_A)
def test_vector_a_to_the_printed_digits(location):
    x = np.array([TABLE_4_1[k] for k in ERRORS] + [12.0, 19.0])
    se = np.array([*ERRORS.values(), 1.2, 1.9])

    def fluxes(v):
        return printed_tracee(dict(zip(ERRORS, v)), v[-2], v[-1], location)

    h = 1e-30
    slopes = [fluxes(x + 1j * h * e) for e in np.eye(x.size)]
    for name, (value, error) in VECTOR_A[location].items():
        assert fluxes(x)[name] == pytest.approx(value, abs=5.1e-7)
        propagated = np.sqrt(sum((s[name].imag / h * e) ** 2 for s, e in zip(slopes, se)))
        assert propagated == pytest.approx(error, abs=5.1e-7)


def four_pools(x, location):
    """The conventional model with the rates that a tracee result implies."""
    k = {
        "k21": ("1", "2", x["F21"] / x["Q1"]),
        "k12": ("2", "1", x["F12"] / x["Q2"]),
        "k02": ("2", None, x["F02"] / x["Q2"]),
        "k43": ("3", "4", x["F43"] / x["Q3"]),
        "k34": ("4", "3", x["F34"] / x["Q4"]),
        "k04": ("4", None, x["F04"] / x["Q4"]),
    }
    if location == "whole-body":
        k |= {"k01": ("1", None, x["F01"] / x["Q1"]), "k03": ("3", None, x["F03"] / x["Q3"])}
        k |= {"c1": ("1", "3", x["kconv"]), "c2": ("2", "4", x["kconv"])}
    else:
        source, target = location.split("-")
        k["c"] = ({"EC": "1", "IC": "2"}[source], {"EC": "3", "IC": "4"}[target], x["kconv"])
    model = CompartmentModel(
        tuple("1234"),
        {n: v[:2] for n, v in k.items()},
        (Bolus("1", DOSES[0], "6"), Bolus("3", DOSES[1], "4")),
        {"Phe-6": Output("1", x["Q1"], "6"), "Tyr-4": Output("3", x["Q3"], "4"), "Tyr-6": Output("3", x["Q3"], "6")},
    )
    return model, {n: v[2] for n, v in k.items()}


@pytest.mark.parametrize("location", LOCATIONS)
def test_every_alternative_is_the_steady_state_of_its_four_pools(location):
    x = tracee(A, L, B, G, 0.033, DOSES, location, per=1.0)
    model, rates = four_pools(x, location)
    pools = model.steady_state(rates, {"2": x["U_precursor"], "4": x["U_product"]})
    for pool in "1234":
        assert pools[pool] == pytest.approx(x[f"Q{pool}"], rel=1e-9)
    assert max(abs(v) for v in imbalance(x, location).values()) < 1e-9


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize(
    "product", [(B, G), (B, L), (B, L * (1 + 1e-11))], ids=["table 4.1", "equal rates", "near-equal"]
)
def test_every_shape_is_the_curve_of_its_four_pools(location, product):
    b, g = product
    x = tracee(A, L, b, g, 0.01, DOSES, location, per=1.0)
    model, rates = four_pools(x, location)
    t = np.array([0.0, 5, 10, 30, 60, 120, 400])
    curves = model.predict(t, rates)
    np.testing.assert_allclose(curves["Phe-6"], np.exp(-np.outer(t, L)) @ A, rtol=1e-12)
    formed = 0.01 * formed_curve(t, A, L, b, g, location)[0]
    np.testing.assert_allclose(curves["Tyr-6"], formed, rtol=1e-10, atol=1e-12 * formed.max())


def test_published_tracer_rates_come_back_from_their_exponentials():
    rates = tracer_rates(A, L, B, G, 0.033)
    for name, value in TABLE_4_1.items():
        assert rates[name] == pytest.approx(value, rel=1e-12)


def test_conversion_between_sampled_pools_is_the_non_compartmental_flux():
    x = tracee(A, L, B, G, 0.033, DOSES, "EC-EC")
    ra_tyr, formed = 60 * DOSES[1] / np.sum(B / G), 0.033 * np.sum(A / L) * np.sum(B / G)
    assert x["Fconv"] == pytest.approx(ra_tyr * formed / np.sum(A / L), rel=1e-12)


def test_dose_halves_kappa_but_not_the_flux():
    once = tracee(A, L, B, G, 0.033, DOSES, "IC-IC")
    twice = tracee(A, L, 2 * B, G, 0.033 / 2, (DOSES[0], 2 * DOSES[1]), "IC-IC")
    for name in ("Fconv", "U_precursor", "U_product", "Q3"):
        assert twice[name] == pytest.approx(once[name], rel=1e-12)


def test_printed_convention_adds_conversion_to_a_loss_that_contains_it():
    model = JointModel(2, 2, "EC-EC")
    theta = model.pack(A, L, B, G, 0.033)
    printed = Derived(model=model, doses=DOSES, scheme=PHE_TYR, convention="printed", location="IC-IC").fluxes(theta)
    total = TABLE_4_1["k02"] * printed["Q2"] * 60
    assert printed["U_Phe"] == pytest.approx(total + printed["Fconv"])
    assert Derived(model=model, doses=DOSES, scheme=PHE_TYR).fluxes(theta)["U_Phe"] < printed["U_Phe"]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (3, 2), (3, 3), (2, 1)])
def test_other_orders_balance_too(n, m):
    rng = np.random.default_rng(n * 10 + m)
    a, l = rng.uniform(0.05, 0.3, n), np.sort(rng.uniform(0.02, 0.5, n))[::-1]
    b, g = rng.uniform(0.05, 0.3, m), np.sort(rng.uniform(0.02, 0.5, m))[::-1]
    for location in locations_for(n, m):
        x = tracee(a, l, b, g, 0.003, DOSES, location, per=1.0)
        loss = x.get("F02", 0.0) + x.get("F01", 0.0)
        assert x["U_precursor"] == pytest.approx(loss + x["Fconv"], rel=1e-12)
        lost = x.get("F04", 0.0) + x.get("F03", 0.0)
        assert x["U_product"] + x["Fconv"] == pytest.approx(lost, rel=1e-12)
        if n > 1:
            away = x["Fconv"] if location.startswith("EC") else 0.0
            assert x["F12"] == pytest.approx(x["F21"] + away, rel=1e-10)


def test_three_pools_from_their_exponentials():
    k = np.array([[-0.55, 0.3, 0.04], [0.4, -0.3, 0.0], [0.15, 0.0, -0.07]])
    values, vectors = np.linalg.eig(k)
    order = np.argsort(values)
    amplitudes = (vectors[0] * np.linalg.inv(vectors)[:, 0])[order]
    found = outflows(amplitudes, -values[order])
    assert found.central == pytest.approx(0.55, rel=1e-12)
    np.testing.assert_allclose(found.peripheral, [0.3, 0.07], rtol=1e-10)
    np.testing.assert_allclose(found.exchange, [0.3 * 0.4, 0.04 * 0.15], rtol=1e-10)


def test_interval_ends_are_models_with_one_loss_and_the_same_curve():
    r = interval_identifiability(A, L, DOSES[0])
    t = np.array([1.0, 20, 90])
    wanted = np.exp(-np.outer(t, L)) @ A
    for k21, k12, k01, k02 in ((r.k21[1], r.k12[0], 0.0, r.k02[1]), (r.k21[0], r.k12[1], r.k01[1], 0.0)):
        model = CompartmentModel(
            ("1", "2"),
            {"k21": ("1", "2"), "k12": ("2", "1"), "k01": ("1", None), "k02": ("2", None)},
            (Bolus("1", DOSES[0]),),
            {"y": Output("1", 12.0)},
        )
        rates = {"k21": k21, "k12": k12, "k01": k01, "k02": k02}
        np.testing.assert_allclose(model.predict(t, rates)["y"], wanted, rtol=1e-10)
        appearance = r.U[1] if k01 == 0 else r.U[0]
        assert model.steady_state(rates, {"2": appearance})["1"] == pytest.approx(12.0, rel=1e-9)
    assert r.U[0] == pytest.approx(DOSES[0] / np.sum(A / L), rel=1e-12)
    assert r.U[0] / r.U[1] == pytest.approx(0.027 / (0.027 + 0.026), rel=1e-9)


def test_locations_need_an_unsampled_pool():
    assert locations_for(1, 1) == ("EC-EC",)
    assert locations_for(2, 2) == LOCATIONS
