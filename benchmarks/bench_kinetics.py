"""Tracer kinetics against lmfit: one joint fit, a profile interval, and the limits on a whole subject."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy import stats

import unseen
from benchmarks.timing import alternating, row, same_numbers, same_value, time_of
from unseen.core.rng import stream
from unseen.kinetics.intervals import profile
from unseen.kinetics.joint import SampledCurves
from unseen.kinetics.location_fit import fit_location
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.quantities import Derived

DRAWS, ALONE = 50, 10  # refits that are timed, and those that are made again one by one
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
    best = peer.result
    rows = [
        row(
            "joint fit of one subject, one start",
            own,
            peer,
            against="lmfit",
            same=same_value("chi2", own.result.chi2, best.chisqr, rtol=1e-7).also(
                same_value("kappa", _kappa(own.result), best.params["kappa"].value, rtol=1e-4)
            ),
            target="not slower, same minimum",
            met=peer.cpu >= own.cpu,
        )
    ]
    derived = Derived(model=fitted.model, doses=(3.6, 2.85), scheme=unseen.kinetics.PHE_TYR)
    # lmfit asks an F test and we, who know the errors, a chi-squared one: this confidence of its test is our 95%
    rise = stats.chi2.ppf(0.95, 1)
    confidence = float(stats.f.cdf(rise / best.redchi, 1, best.nfree))
    own, peer = alternating(
        lambda: profile(fitted, derived, curves, "kappa", 0.95),
        lambda: lmfit.conf_interval(fitter, best, p_names=["kappa"], sigmas=[confidence]),
        3,
    )
    ends = [value for _, value in peer.result["kappa"][::2]]
    rows.append(
        row(
            "profile interval of kappa",
            own,
            peer,
            against="lmfit",
            same=same_value("low end", own.result.interval.low, ends[0], rtol=1e-3).also(
                same_value("high end", own.result.interval.high, ends[1], rtol=1e-3)
            ),
            target="not slower",
            met=peer.cpu >= own.cpu,
        )
    )
    return rows


def _kappa(fit) -> float:
    """Return the rate of conversion of a fit."""
    return float(fit.model.unpack(fit.theta)[-1])


def _refitted(curves: SampledCurves, fit) -> float:
    """Return the rate of conversion that lmfit finds for the same samples with the standard deviations of a fit."""
    parts = [curves.which == code for code in np.unique(curves.which)]
    (a1, a2), (l1, l2), (b1, b2), (g1, g2), kappa = fit.model.unpack(fit.theta)
    record = {
        "times": [curves.time[part] for part in parts],
        "values": [curves.value[part] for part in parts],
        "sd": [fit.sigma[part] for part in parts],
        "estimates": {"A1": a1, "A2": a2, "l1": l1, "l2": l2, "B1": b1, "B2": b2, "g1": g1, "g2": g2, "kappa": kappa},
    }
    return float(_peer(record)[1].minimize().params["kappa"].value)


def _one_by_one(one, count: int) -> list[float]:
    """Return the rates of conversion of the first resamples, each fitted alone from all starts, then by lmfit."""
    fit, _ = one.derivation()
    rates = []
    for i in range(count):
        noise = stream(0, "kinetics-bootstrap", i).standard_normal(fit.sigma.size)
        again = one.curves.with_values(fit.fitted + fit.sigma * noise * np.sqrt(fit.chi2 / fit.spare))
        found = fit_location(again, one.error, fit.location, (fit.model.n, fit.model.m))
        rates.append(_refitted(again, found))
    return rates


def _limits() -> list[dict]:
    """What a user waits for: a whole subject, and 500 bootstrap refits."""
    made = unseen.kinetics.simulate(subjects=1, noise=0.03, between=0.0, random_state=0)
    fit = unseen.kinetics.fit
    whole = time_of(lambda: fit(made.ttr, made.doses), 3)
    one = whole.result["s1"]
    refits = time_of(lambda: one.bootstrap(draws=DRAWS, random_state=0), 1).times(500 / DRAWS)
    at = one.at("EC-EC")
    alone = _one_by_one(one, ALONE)
    return [
        row(
            "one subject, five locations, error estimated",
            whole,
            same=same_value("kappa and lmfit's with the same errors", _kappa(at), _refitted(one.curves, at), rtol=1e-4),
            target="under 1 s",
            met=whole.cpu < 1,
        ),
        row(
            "500 bootstrap refits of one subject",
            refits,
            same=same_numbers(
                refits.result.draws["kappa"][:ALONE], alone, "kappas and lmfit's, refitted one by one,", rtol=1e-3
            ),
            target="under 60 s",
            met=refits.cpu < 60,
            remark=f"{500 // DRAWS} times {DRAWS} refits",
        ),
    ]


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_fits(json.loads(REFERENCE.read_text())), *_limits()]
