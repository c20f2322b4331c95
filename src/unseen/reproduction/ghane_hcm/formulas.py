"""Which formulas can have given the published fluxes: the smallest misfit over pools, and rates within their rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import minimize

__all__ = ["FORMULAS", "worst_misfit"]

FORMULAS = ("plus", "minus", "once")
# half a unit of the last digit printed in table 4.1
_HALF_DIGIT = {"k02": 0.0005, "k04": 0.005, "k21": 0.0005, "k12": 0.0005, "k34": 0.0005, "k43": 0.0005}


def _fluxes(k: Mapping[str, float], q1: float, q3: float, formula: str) -> dict[str, float]:
    """The seven published numbers by one reading of section 4.4.2."""
    from unseen.kinetics import printed_tracee

    out: dict[str, float] = {}
    for label, place in (("alternative1", "IC-IC"), ("alternative2", "EC-EC"), ("alternative3", "whole-body")):
        x = printed_tracee(k, q1, q3, place)
        u = x["U_precursor"]
        if formula == "once":
            u = x["F02"]
        elif formula == "minus" and place == "whole-body":
            u = x["Fconv"] - x["F02"]
        out |= {f"{label}.U_phe": u, f"{label}.U_tyr": x["U_product"], f"{label}.F_phe_tyr": x["Fconv"]}
    return out


def worst_misfit(rows: Mapping[str, Any], formula: str) -> float:
    """Smallest possible largest misfit, in published standard errors, over pools, k and rates within their rounding.

    Parameters
    ----------
    rows : mapping
        Published quantities with mean and se.
    formula : {"plus", "minus", "once"}
        Printed formulas with the sign of alternative 3 mended, as printed, or with conversion left out of U_Phe.

    Returns
    -------
    float

    Examples
    --------
    >>> from unseen.reproduction import read_published
    >>> rows = {row["quantity"]: row for row in read_published("ghane_hcm")}
    >>> worst_misfit(rows, "plus") < 0.5 < 3 < worst_misfit(rows, "minus")
    True
    """
    wanted = {k: (float(v["mean"]), float(v["se"])) for k, v in rows.items() if k.startswith("alternative")}
    names = list(_HALF_DIGIT)
    centre = np.array([float(rows[n]["mean"]) for n in names])
    half = np.array([_HALF_DIGIT[n] for n in names])

    def misfits(x: np.ndarray) -> np.ndarray:
        k = dict(zip(names, centre + half * np.clip(x[:6], -1, 1))) | {"kappa": x[6]}
        fluxes = _fluxes(k, x[7], x[8], formula)
        return np.array([(fluxes[n] - mean) / se for n, (mean, se) in wanted.items()])

    best = np.inf
    least: Any = minimize
    for kappa in (0.02, 0.028, 0.035):
        start = np.array([*np.zeros(6), kappa, 12.5, 18.7, 3.0])
        limits: Any = [
            {"type": "ineq", "fun": lambda x: x[-1] - misfits(x)},
            {"type": "ineq", "fun": lambda x: x[-1] + misfits(x)},
        ]
        bounds: Any = [(-1, 1)] * 6 + [(0.005, 0.06), (5, 150), (5, 40), (0, 50)]
        found = least(lambda x: float(x[-1]), start, method="SLSQP", bounds=bounds, constraints=limits, tol=1e-10)
        best = min(best, float(np.max(np.abs(misfits(found.x)))))
    return best
