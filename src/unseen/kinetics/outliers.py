"""Outlier screening of each curve alone, before the joint fit.

The default rule compares externally studentised residuals with a Bonferroni limit. The 95% confidence band of the
dissertation removes one clean sample in six, and the 95% prediction band finds almost nothing; both stay available.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from unseen.core.arrays import Array
from unseen.core.errors import UnknownName
from unseen.kinetics.curve import CurveModel, curve_runner
from unseen.kinetics.joint import DOSED, FORMED, PRECURSOR, SampledCurves, Solution
from unseen.kinetics.locations import formed_curve, locations_for
from unseen.kinetics.noise import ErrorModel, estimate_parts

__all__ = ["RULES", "Outlier", "rough_sigma", "screen"]

RULES = ("deleted", "prediction", "confidence")
_ALPHA = 0.05  # chance to remove a clean sample of a curve
_ROUNDING = 1e-9  # residuals relative to the largest value that are rounding errors


@dataclass(frozen=True)
class Outlier:
    """A removed sample: its position, the statistic that removed it and the limit it passed."""

    index: int
    statistic: float
    limit: float


def screen(
    curves: SampledCurves, error: ErrorModel, rule: str = "deleted", order: tuple[int, int] = (2, 2)
) -> list[Outlier]:
    """Find samples that no smooth curve through their neighbours explains.

    Parameters
    ----------
    curves : SampledCurves
        All samples of a subject.
    error : ErrorModel
        Decides how samples are weighted against each other.
    rule : {"deleted", "prediction", "confidence"}
        Externally studentised residual with Bonferroni limit, or outside the 95% prediction or confidence band.
    order : tuple of int
        Exponentials of the two dosed curves.

    Returns
    -------
    list of Outlier
        At most two samples and a fifth of each curve, in order of removal.
    """
    if rule not in RULES:
        raise UnknownName("outlier rule", rule, RULES)
    sigma = rough_sigma(curves, error, order)
    found: list[Outlier] = []
    rates: list[tuple[Array, Array]] = []
    for code in (PRECURSOR, DOSED, FORMED):
        rows = np.flatnonzero(curves.which == code)
        found += _screen_curve(curves, sigma, rows, rule, order, rates)
        if code != FORMED:
            kept = np.setdiff1d(rows, [o.index for o in found])
            rates.append(CurveModel(order[code]).unpack(_fit_one(curves.take(kept), sigma[kept], order, rates).theta))
    return found


def _fit_one(curves: SampledCurves, sigma: Array, order: tuple[int, int], dosed: list[tuple[Array, Array]]) -> Solution:
    """Exponentials for a dosed curve; for the formed one every shape the conversion can give it.

    With the rates of the dosed curves known, all locations span three dimensions, so the formed curve is screened by
    linear regression and no location is preferred.
    """
    code = int(curves.which[0])
    if code != FORMED:
        return curve_runner(CurveModel(order[code]), curves)(sigma, None)
    shapes = _shapes(curves.time, dosed, order)
    weighted = shapes / sigma[:, None]
    amplitudes, *_ = np.linalg.lstsq(weighted, curves.value / sigma, rcond=None)
    fitted = shapes @ amplitudes
    return Solution(
        theta=amplitudes, residuals=(fitted - curves.value) / sigma, jacobian=weighted, fitted=fitted, converged=True
    )


def _shapes(t: Array, dosed: list[tuple[Array, Array]], order: tuple[int, int]) -> Array:
    (a, l), (b, g) = dosed
    places = [p for p in locations_for(*order) if p not in ("EC-IC" if order[0] > 1 else "", "whole-body")]
    return np.stack([formed_curve(t, a, l, b, g, place, slopes=False)[0] for place in places], axis=1)


def _size(code: int, order: tuple[int, int]) -> int:
    if code != FORMED:
        return 2 * order[code]
    return {(1, 1): 1}.get(order, 2 if 1 in order else 3)


def rough_sigma(curves: SampledCurves, error: ErrorModel, order: tuple[int, int]) -> Array:
    """Relative standard deviations of all samples; if unknown, cv and floor come from the three curves together."""
    if error.kind == "sd":
        return curves.sd
    if error.kind == "constant" or error.kind == "dissertation":
        return np.ones(curves.value.size)
    if error.kind == "combined" and error.cv is not None and error.floor is not None:
        return np.sqrt((error.cv * curves.value) ** 2 + error.floor**2)
    sigma, square, freedom, fitted = (np.empty(curves.value.size) for _ in range(4))
    dosed: list[tuple[Array, Array]] = []
    for code in (PRECURSOR, DOSED, FORMED):
        rows = np.flatnonzero(curves.which == code)
        part = curves.take(rows)
        sigma[rows] = np.maximum(np.abs(part.value), 0.1 * np.abs(part.value).max())
        solution = _fit_one(part, sigma[rows], order, dosed)
        if code != FORMED:
            dosed.append(CurveModel(order[code]).unpack(solution.theta))
        # one gross error must not set the error model that is to find it
        typical = np.median(solution.residuals**2) / 0.45
        square[rows] = np.minimum(solution.residuals**2, 9 * typical) * sigma[rows] ** 2
        freedom[rows] = np.maximum(1 - solution.leverage(), 0.05)
        fitted[rows] = np.maximum(np.abs(solution.fitted), 1e-12)
    smallest = min(np.abs(curves.value[curves.which == c]).max() for c in (PRECURSOR, DOSED, FORMED))
    guess = sigma**2 * (square.sum() / (sigma**2).sum()) + 1e-18
    cv, floor = estimate_parts(square, freedom, fitted, guess, smallest)
    return np.sqrt((cv * fitted) ** 2 + floor**2)


def _screen_curve(
    curves: SampledCurves, sigma: Array, rows: Array, rule: str, order: tuple[int, int], dosed: list[Any]
) -> list[Outlier]:
    p = _size(int(curves.which[rows[0]]), order)
    allowed = min(2, rows.size // 5)
    found: list[Outlier] = []
    while len(found) < allowed and rows.size > p + 2:
        solution = _fit_one(curves.take(rows), sigma[rows], order, dosed)
        # residuals this small are the arithmetic's, not the samples'
        if (np.abs(solution.residuals) * sigma[rows]).max() <= _ROUNDING * np.abs(curves.value[rows]).max():
            break
        statistic, limit = _statistics(solution, p, rule)
        worst = int(np.argmax(statistic))
        if not statistic[worst] > limit:
            break
        found.append(Outlier(int(rows[worst]), float(statistic[worst]), float(limit)))
        rows = np.delete(rows, worst)
    return found


def _statistics(solution: Solution, p: int, rule: str) -> tuple[Array, float]:
    r, h = solution.residuals, np.clip(solution.leverage(), 0, 1 - 1e-9)
    n = r.size
    s = np.sqrt(solution.chi2 / (n - p))
    if s == 0 or not np.isfinite(s):
        return np.zeros(n), np.inf
    if rule == "deleted":
        inside = r / (s * np.sqrt(1 - h))
        spare = np.maximum(n - p - inside**2, 1e-12)
        return np.abs(inside) * np.sqrt((n - p - 1) / spare), float(stats.t.ppf(1 - _ALPHA / (2 * n), n - p - 1))
    width = s * np.sqrt(h + (1 if rule == "prediction" else 0))
    return np.abs(r) / width, float(stats.t.ppf(1 - _ALPHA / 2, n - p))
