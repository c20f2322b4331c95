"""Tracer kinetics against lmfit: one joint fit, a profile interval, and the limits on a whole subject."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import unseen
from benchmarks.timing import alternating, cpu_seconds, row
from unseen.kinetics.intervals import profile
from unseen.kinetics.joint import SampledCurves
from unseen.kinetics.location_fit import fit_location
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.quantities import Derived

REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "kinetics_lmfit.json"


def _peer(record: dict):
    """The same residuals for lmfit: natural parameters, its own finite differences."""
    import lmfit

    times = [np.array(t) for t in record["times"]]
    values, sd = np.concatenate(record["values"]), np.concatenate(record["sd"])

    def residual(p):
        v = p.valuesdict()
        pre = v["A1"] * np.exp(-v["l1"] * times[0]) + v["A2"] * np.exp(-v["l2"] * times[0])
        pro = v["B1"] * np.exp(-v["g1"] * times[1]) + v["B2"] * np.exp(-v["g2"] * times[1])
        formed = sum(
            v[a] * v[b] * (np.exp(-v[l] * times[2]) - np.exp(-v[g] * times[2])) / (v[g] - v[l])
            for a, l in (("A1", "l1"), ("A2", "l2"))
            for b, g in (("B1", "g1"), ("B2", "g2"))
        )
        return (np.concatenate([pre, pro, v["kappa"] * formed]) - values) / sd

    start = lmfit.Parameters()
    for name, value in record["estimates"].items():
        start.add(name, value=1.2 * value, min=1e-8)
    return lmfit, lmfit.Minimizer(residual, start, scale_covar=False)


def _fits(record: dict) -> list[dict]:
    which = np.repeat([0, 1, 2], [len(t) for t in record["times"]])
    curves = SampledCurves(
        *(np.concatenate(record[k]) for k in ("times", "values")), which, np.concatenate(record["sd"])
    )
    error = ErrorModel("sd")
    fitted = fit_location(curves, error, "EC-EC")
    start = fitted.theta + np.log(1.2)
    lmfit, fitter = _peer(record)
    own, peer = alternating(lambda: fit_location(curves, error, "EC-EC", start=start), fitter.minimize)
    same = abs(fitted.chi2 - fitter.minimize().chisqr) < 1e-6
    rows = [
        row("joint fit of one subject, one start", own, peer, "lmfit", "not slower, same minimum", peer >= own and same)
    ]
    found = fitter.minimize()
    derived = Derived(model=fitted.model, doses=(3.6, 2.85), scheme=unseen.kinetics.PHE_TYR)
    own, peer = alternating(
        lambda: profile(fitted, derived, curves, "kappa", 0.95),
        lambda: lmfit.conf_interval(fitter, found, p_names=["kappa"], sigmas=[0.95]),
        3,
    )
    rows.append(row("profile interval of kappa", own, peer, "lmfit", "not slower", peer >= own))
    return rows


def _limits() -> list[dict]:
    """What a user waits for: a whole subject, and 500 bootstrap refits."""
    made = unseen.kinetics.simulate(subjects=1, noise=0.03, between=0.0, random_state=0)
    fit = unseen.kinetics.fit
    whole = cpu_seconds(lambda: fit(made.ttr, made.doses), 3)
    one = fit(made.ttr, made.doses)["s1"]
    refits = cpu_seconds(lambda: one.bootstrap(draws=50, random_state=0), 1) * 10
    nan = float("nan")
    return [
        row("one subject, five locations, error estimated", whole, nan, "none", "under 1 s", whole < 1),
        row(
            "500 bootstrap refits of one subject", refits, nan, "none", "under 60 s", refits < 60, "ten times 50 refits"
        ),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_fits(json.loads(REFERENCE.read_text())), *_limits()]
