"""Calibration as inference: slope and intercept, debiased calibration error, a smooth curve with its band, Spiegelhalter's test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.estimate import Estimate
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.evaluation.measure_intervals import estimate_of
from unseen.evaluation.scored_cases import ScoredCases
from unseen.measures.calibration import bins_of

__all__ = ["CalibrationCurve", "CalibrationFit", "CalibrationTest", "calibration_fit"]

# probabilities nearer to 0 or 1 have logits that one case could move without end
NEAREST = 1e-6
# Newton's steps; a logistic fit that has not settled by then has no finite solution
STEPS, SETTLED = 60, 1e-10
# a slope beyond this says that the classes are separated by the probabilities, and that no finite fit exists
LARGEST_SLOPE = 1e3
# of the smooth curve: enough for a picture
GRID = 101
# knots of the restricted cubic spline by number of the rarer class (Harrell, 2015: three for few cases, four for more)
FEW_CASES, FEW_KNOTS, KNOTS = 50, (0.1, 0.5, 0.9), (0.05, 0.35, 0.65, 0.95)
# the Monte-Carlo error of a quantile at 95% is then .01 standard errors
DRAWS = 10_000


@dataclass(frozen=True)
class CalibrationTest:
    """A test of calibration: its name, statistic and p-value (None if it cannot be made)."""

    test: str
    statistic: float | None
    p: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationCurve:
    """Smooth observed share by predicted probability, with a band that holds the whole true curve."""

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationFit:
    """How far probabilities are from what is observed.

    Parameters
    ----------
    slope : Estimate or None
        Slope of the logit of the truth on the logit of the probability: 1 if calibrated, below 1 if probabilities are too
        extreme. None if the probabilities separate the classes.
    intercept : Estimate or None
        Calibration in the large: what is to be added to every logit so that probabilities are right on average; 0 if calibrated.
    ece : Estimate
        Expected calibration error: the mean distance of observed share and mean probability over bins, less what chance adds.
    raw_ece : float
        The same with what chance adds.
    spiegelhalter : CalibrationTest
        Test that the probabilities are right, from the Brier score.
    recalibration : CalibrationTest
        Likelihood-ratio test that slope and intercept are 1 and 0; it counts rows as independent, so there is none with groups.
    curve : CalibrationCurve or None
        Restricted cubic spline of the logit, with its simultaneous band.
    notes : tuple of Note
        Statistical weaknesses.

    References
    ----------
    Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45, 562-565. Spiegelhalter, D. J.
    (1986). Probabilistic prediction in patient management and clinical trials. Statistics in Medicine 5, 421-433. Roelofs, R. et
    al. (2022). Mitigating bias in calibration error estimation. AISTATS 25, 4036-4054. Van Calster, B. et al. (2016). A calibration
    hierarchy for risk models was defined. Journal of Clinical Epidemiology 74, 167-176.
    """

    slope: Estimate | None
    intercept: Estimate | None
    ece: Estimate
    raw_ece: float
    spiegelhalter: CalibrationTest
    recalibration: CalibrationTest
    curve: CalibrationCurve | None
    notes: tuple[Note, ...] = ()

    def sentence(self) -> str:
        """Return slope, intercept, calibration error and Spiegelhalter's test in words."""
        parts = []
        for name, e in (("slope", self.slope), ("intercept", self.intercept)):
            if e is not None and e.interval is not None:
                parts.append(f"{name} {e.value:.2f} ({e.interval.low:.2f} to {e.interval.high:.2f})")
        e = self.ece
        assert e.interval is not None
        parts.append(f"calibration error {e.value:.3f} ({e.interval.low:.3f} to {e.interval.high:.3f})")
        text = f"Calibration: {', '.join(parts)}"
        p = self.spiegelhalter.p
        if p is not None:
            clear = p < 1 - (e.level or 0.95)
            how = "the probabilities are off by more than chance" if clear else "no lack of calibration shown"
            text += f"; {how} (Spiegelhalter's p {'< 0.0001' if p < 0.0001 else f'= {p:.2g}'})"
        return f"{text}."


def calibration_fit(cases: ScoredCases, code: int, n_bins: int, level: float, seed: int) -> CalibrationFit:
    """Return how well the probabilities of one class are calibrated; groups are the independent units."""
    y, p = (cases.y == code).astype(float), cases.column(code)
    near = np.clip(p, NEAREST, 1 - NEAREST)
    moved = int((near != p).sum())
    notes = (
        (note("U049", f"{moved} of {len(p)} probabilities are 0 or 1, or within {NEAREST:g} of them"),) if moved else ()
    )
    logit = np.log(near / (1 - near))
    line = _fit(np.column_stack([np.ones_like(logit), logit]), y, cases)
    shift = _fit(np.ones((len(y), 1)), y, cases, offset=logit)
    slope = None if line is None else _wald(cases, "calibration-slope", line.beta[1], line.covariance[1, 1], level)
    intercept = (
        None if shift is None else _wald(cases, "calibration-intercept", shift.beta[0], shift.covariance[0, 0], level)
    )
    raw, ece = _calibration_error(cases, y, p, n_bins, level, seed)
    return CalibrationFit(
        slope=slope,
        intercept=intercept,
        ece=ece,
        raw_ece=raw,
        spiegelhalter=_spiegelhalter(y, p, cases),
        recalibration=_recalibration(line, y, logit, cases),
        curve=_curve(logit, y, cases, level, seed),
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _LogisticFit:
    """Coefficients of a logistic regression, their covariance and the log-likelihood."""

    beta: Floats
    covariance: Floats
    likelihood: float


def _fit(design: Floats, y: Floats, cases: ScoredCases, offset: Array | None = None) -> _LogisticFit | None:
    """Fit a logistic regression by Newton's method; None without a finite solution. Units give the covariance if rows are not they."""
    weight = cases.weight
    shift = np.zeros(len(y)) if offset is None else offset
    beta = np.zeros(design.shape[1])
    if offset is None and design.shape[1] > 1:
        beta[1] = 1.0
    for _ in range(STEPS):
        mean = _expit(shift + design @ beta)
        score = design.T @ (weight * (y - mean))
        information = (design * (weight * mean * (1 - mean))[:, None]).T @ design
        try:
            step = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            return None
        size = float(np.abs(step).max())
        beta = beta + step * min(1.0, 5.0 / max(size, 1e-12))  # long steps of a flat likelihood would overshoot
        if not np.isfinite(beta).all() or np.abs(beta).max() > LARGEST_SLOPE:
            return None
        if size < SETTLED:
            break
    else:
        return None
    eta = shift + design @ beta
    mean = _expit(eta)
    information = (design * (weight * mean * (1 - mean))[:, None]).T @ design
    inverse = np.linalg.pinv(information)
    covariance = inverse
    if not cases.simple:
        pull = design * (weight * (y - mean))[:, None]
        by_unit = np.stack([np.bincount(cases.units, column, cases.n_units) for column in pull.T], axis=1)
        n = cases.n_units
        covariance = inverse @ (by_unit.T @ by_unit) @ inverse * (n / max(n - 1, 1))
    likelihood = float(weight @ (y * eta - np.logaddexp(0, eta)))
    return _LogisticFit(beta, np.asarray(covariance), likelihood)


def _expit(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -700, 700))))


def _wald(cases: ScoredCases, name: str, value: float, variance: float, level: float) -> Estimate:
    from scipy.special import ndtri, stdtrit

    se = float(np.sqrt(max(variance, 0.0)))
    tail = (1 + level) / 2
    quantile = float(ndtri(tail) if cases.simple else stdtrit(max(cases.n_units - 1, 1), tail))
    ends = (value - quantile * se, value + quantile * se)
    return estimate_of(cases, name, float(value), se, ends, level, "logistic")


def _spiegelhalter(y: Floats, p: Floats, cases: ScoredCases) -> CalibrationTest:
    """Spiegelhalter's z: how far the Brier score is from what these probabilities promise; over units if rows are grouped."""
    from scipy.special import ndtr, stdtr

    pull = cases.weight * (y - p) * (1 - 2 * p)
    if cases.simple:
        variance = float((np.square(1 - 2 * p) * p * (1 - p)).sum())
    else:
        variance = float(np.square(np.bincount(cases.units, pull, cases.n_units)).sum())
    if variance <= 0:
        return CalibrationTest("spiegelhalter", None, None)
    z = float(pull.sum() / np.sqrt(variance))
    tail = float(ndtr(-abs(z)) if cases.simple else stdtr(max(cases.n_units - 1, 1), -abs(z)))
    return CalibrationTest("spiegelhalter", z, 2 * tail)


def _recalibration(line: _LogisticFit | None, y: Floats, logit: Floats, cases: ScoredCases) -> CalibrationTest:
    from scipy.special import chdtrc

    if line is None or not cases.simple:
        return CalibrationTest("likelihood ratio", None, None)
    before = float((y * logit - np.logaddexp(0, logit)).sum())
    statistic = max(2 * (line.likelihood - before), 0.0)
    return CalibrationTest("likelihood ratio", statistic, float(chdtrc(2, statistic)))


def _calibration_error(
    cases: ScoredCases, y: Floats, p: Floats, n_bins: int, level: float, seed: int
) -> tuple[float, Estimate]:
    """Return the plain calibration error, and the one less what chance adds with its interval.

    Distances of the bins are about normal around the true ones. If these were s times the distances seen, the plain error would have
    a known distribution: the estimate is the error of the s for which the one seen is its median, the limits those for which it lies
    in a tail. Zero is inside unless calibrated probabilities would hardly give such an error. The upper limit is at least the plain error: luck
    that makes it small is no proof that there is none.
    """
    bins = bins_of(p, n_bins)
    mass = np.asarray(np.bincount(bins, cases.weight), dtype=float)
    share, distance = mass / mass.sum(), np.bincount(bins, cases.weight * (y - p)) / mass
    error = _errors_of_bins(cases, y, p, bins, distance, mass)
    plain = float(share @ np.abs(distance))
    z = stream(seed, "calibration", "ece").standard_normal((DRAWS, len(mass))) * error

    def above(scale: float) -> float:
        """Share of plain errors above the one seen, if the true distances were so many times those seen."""
        return float((np.abs(scale * distance + z) @ share > plain).mean())

    tail = (1 - level) / 2
    value, low, high = (plain * _scale_at(above, chance) for chance in (0.5, tail, 1 - tail))
    se = float(np.sqrt(np.square(share * error).sum()))
    return plain, estimate_of(cases, "ece", value, se, (low, min(max(high, value, plain), 1.0)), level, "debiased-ece")


def _errors_of_bins(cases: ScoredCases, y: Floats, p: Floats, bins: Ints, distance: Floats, mass: Floats) -> Floats:
    """Return the standard error of the distance in each bin: binomial at the share seen and half a case more, or over units."""
    count = np.bincount(bins).astype(float)
    rate = (np.bincount(bins, y) + 0.5) / (count + 1)
    binomial = np.sqrt(rate * (1 - rate) / count)
    if cases.simple:
        return np.asarray(binomial)
    out = []
    for k in range(len(mass)):
        rows = bins == k
        pull = np.bincount(cases.units[rows], cases.weight[rows] * (y[rows] - p[rows] - distance[k]), cases.n_units)
        n = len(np.unique(cases.units[rows]))
        out.append(np.sqrt(np.square(pull).sum() * n / (n - 1)) / mass[k] if n > 1 else binomial[k])
    return np.asarray(np.maximum(out, binomial / 2))


def _scale_at(above: Any, chance: float) -> float:
    """Return the scale at which a share `chance` of errors lies above the one seen; 0 if more do even at 0."""
    if above(0.0) >= chance:
        return 0.0
    low, high = 0.0, 1.0
    while above(high) < chance and high < 1e3:
        high *= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) < chance else (low, middle)
    return (low + high) / 2


def _spline(x: Floats, knots: Floats) -> Floats:
    """Return a restricted cubic spline basis: constant, linear, and cubic terms that are straight beyond the outer knots."""
    last, before, scale = knots[-1], knots[-2], (knots[-1] - knots[0]) ** 2

    def cube(t: float) -> Floats:
        return np.maximum(x - t, 0.0) ** 3

    terms = [
        (cube(k) - cube(before) * (last - k) / (last - before) + cube(last) * (before - k) / (last - before)) / scale
        for k in knots[:-2]
    ]
    return np.column_stack([np.ones_like(x), x, *terms])


def _curve(logit: Floats, y: Floats, cases: ScoredCases, level: float, seed: int) -> CalibrationCurve | None:
    """Return the smooth curve over the range of probabilities seen, with a band for the whole of it."""
    rarer = min(y.sum(), len(y) - y.sum())
    knots = np.unique(np.quantile(logit, FEW_KNOTS if rarer < FEW_CASES else KNOTS))
    if len(knots) < 3:
        return None
    made = _fit(_spline(logit, knots), y, cases)
    if made is None:
        return None
    first, last = _expit(np.quantile(logit, (0.005, 0.995)))
    grid = np.linspace(float(first), float(last), GRID)
    basis = _spline(np.log(grid / (1 - grid)), knots)
    middle = basis @ made.beta
    values, vectors = np.linalg.eigh(made.covariance)
    root = basis @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    error = np.sqrt(np.square(root).sum(axis=1))
    z = stream(seed, "calibration", "band").standard_normal((DRAWS, root.shape[1]))
    width = float(np.quantile((np.abs(z @ root.T) / error).max(axis=1), level))
    return CalibrationCurve(
        predicted=grid,
        observed=_expit(middle),
        low=_expit(middle - width * error),
        high=_expit(middle + width * error),
    )
