"""Make `kinetics_lmfit.json`: the same residuals minimised by lmfit, with its standard errors and profile intervals.

Run with an interpreter that has lmfit and numpy: `python tests/reference/oracles_kinetics.py`. The data are one synthetic
subject written into the file; the model is coded here anew, with ordinary differences of exponentials and lmfit's own
finite differences, so that nothing of the package is used.
"""

from __future__ import annotations

import json
from pathlib import Path

import lmfit
import numpy as np

TIMES = np.array([5.0, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 120])
TRUTH = {
    "A1": 0.2325,
    "A2": 0.0675,
    "l1": 0.1631,
    "l2": 0.0209,
    "B1": 0.12,
    "B2": 0.03,
    "g1": 0.1534,
    "g2": 0.0166,
    "kappa": 0.033,
}


def curves(p, t_pre, t_pro, t_formed):
    pre = p["A1"] * np.exp(-p["l1"] * t_pre) + p["A2"] * np.exp(-p["l2"] * t_pre)
    pro = p["B1"] * np.exp(-p["g1"] * t_pro) + p["B2"] * np.exp(-p["g2"] * t_pro)
    formed = 0.0
    for a, l in (("A1", "l1"), ("A2", "l2")):
        for b, g in (("B1", "g1"), ("B2", "g2")):
            gap = p[g] - p[l]
            formed = formed + p[a] * p[b] * (np.exp(-p[l] * t_formed) - np.exp(-p[g] * t_formed)) / gap
    return pre, pro, p["kappa"] * formed


def main() -> None:
    rng = np.random.default_rng(20220401)
    times = (TIMES, TIMES[2:], TIMES)
    clean = curves(TRUTH, *times)
    sd = [np.sqrt((0.02 * f) ** 2 + 2e-4**2) for f in clean]
    data = [f + s * rng.standard_normal(f.size) for f, s in zip(clean, sd)]

    def residual(parameters):
        p = parameters.valuesdict()
        return np.concatenate([(f - y) / s for f, y, s in zip(curves(p, *times), data, sd)])

    start = lmfit.Parameters()
    for name, value in TRUTH.items():
        start.add(name, value=value * 1.1, min=1e-8)
    options = {"xtol": 1e-14, "ftol": 1e-14}
    fitter = lmfit.Minimizer(residual, start, scale_covar=False, **options)
    found = fitter.minimize(method="leastsq")
    profile = lmfit.conf_interval(fitter, found, p_names=["kappa", "l2", "A2"], sigmas=[0.95])
    record = {
        "source": "tests/reference/oracles_kinetics.py",
        "versions": {"lmfit": lmfit.__version__, "numpy": np.__version__},
        "times": [t.tolist() for t in times],
        "values": [y.tolist() for y in data],
        "sd": [s.tolist() for s in sd],
        "chi2": found.chisqr,
        "estimates": {k: v.value for k, v in found.params.items()},
        "std_errors": {k: v.stderr for k, v in found.params.items()},
        "profile_95": {k: [v[0][1], v[2][1]] for k, v in profile.items()},
    }
    Path(__file__).with_name("kinetics_lmfit.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
