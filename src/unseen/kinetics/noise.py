"""Error models of the samples and the reweighted fit that goes with each.

``"sd"`` takes the given standard deviations; ``"combined"`` is ``sd^2 = (cv f)^2 + floor^2``, with cv and floor given or
estimated; ``"proportional"`` divides by the fitted value; ``"constant"`` weighs all samples of a curve alike;
``"dissertation"`` divides by the range of the curve and halves the weight after 60 minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError, UnknownName
from unseen.kinetics.joint import SampledCurves, Solution

__all__ = ["ERRORS", "ErrorModel", "Weighted", "estimate_parts", "fit_weighted"]

ERRORS = ("combined", "sd", "proportional", "constant", "dissertation")
_LATE = 60.0  # minutes after which the dissertation halves the weight
_SMALL = 0.02  # of the curve's largest value; smaller samples count as that, since a proportional error would give them all weight
_ROUNDS = 15  # of reweighting; most fits need five
_CONVERGED = 1e-4  # change of the log parameters between rounds, far below their standard errors
_PRIOR = 2.0  # residuals that hold a curve's factor near one; without them few samples could take all weight
_ROUGH = 1e-7  # tolerance while the weights still change


@dataclass(frozen=True)
class ErrorModel:
    """How the standard deviation of a sample follows from its fitted value.

    Parameters
    ----------
    kind : str
        One of ``ERRORS``.
    cv, floor : float, optional
        Coefficient of variation and constant part; for ``"combined"`` both or neither are given, for
        ``"proportional"`` a given cv fixes the scale.

    Examples
    --------
    >>> ErrorModel("combined", cv=0.02, floor=2e-4).known
    True
    >>> ErrorModel("combined").known
    False
    """

    kind: str = "combined"
    cv: float | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ERRORS:
            raise UnknownName("error model", self.kind, ERRORS)
        for name in ("cv", "floor"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value >= 0):
                raise InputError(
                    f"{name} is {value!r}; it must be a number of at least 0, or left out to be estimated."
                )
        if self.kind == "combined" and (self.cv is None) != (self.floor is None):
            raise InputError("the combined error model needs both cv and floor, or neither (then both are estimated).")
        if self.kind == "combined" and self.cv == 0 and self.floor == 0:
            raise InputError("cv and floor are both 0: the samples would have no error at all; give at least one.")

    @property
    def known(self) -> bool:
        """Whether the standard deviations are known, so that chi2 tests the fit."""
        return self.kind == "sd" or self.cv is not None

    @property
    def remark(self) -> str:
        """Warning beside chi2: errors estimated from the residuals fit them whatever the model."""
        return "" if self.known else " (errors estimated, no test of the fit)"

    def n_estimated(self, curves: int) -> int:
        """Parameters of the error model estimated from the data of so many curves."""
        if self.known:
            return 0
        return 1 + curves if self.kind == "combined" else 1


@dataclass(frozen=True, kw_only=True)
class Weighted:
    """A fit with the standard deviations it ended with, and the estimated parts of the error model."""

    solution: Solution
    sigma: Array
    cv: float | None
    floor: float | None
    rounds: int
    scales: tuple[float, ...] = ()

    def minus_two_log_likelihood(self, known: bool) -> float:
        """Deviance; with an unknown scale the scale is at its maximum-likelihood value."""
        count, chi2 = self.sigma.size, self.solution.chi2
        log_sigma = 2 * float(np.sum(np.log(self.sigma))) + count * np.log(2 * np.pi)
        if known:
            return float(chi2 + log_sigma)
        return float(count * (1 + np.log(max(chi2, 1e-300) / count)) + log_sigma)


def fit_weighted(
    error: ErrorModel,
    curves: SampledCurves,
    run: Callable[..., Solution],
    start: Array | None = None,
) -> Weighted:
    """Fit with weights that follow from the error model, with new weights while they depend on the fit.

    Parameters
    ----------
    error : ErrorModel
    curves : SampledCurves
        The samples.
    run : callable
        ``run(sigma, start, tolerance)`` returns a :class:`Solution`; a start of None asks for all starting points, the
        tolerance is optional.
    start : ndarray, optional
        Where to start the first round.

    Returns
    -------
    Weighted
    """
    if error.kind in ("sd", "constant", "dissertation"):
        sigma = _fixed_sigma(error, curves)
        return Weighted(solution=run(sigma, start), sigma=sigma, cv=None, floor=None, rounds=1)
    cv, floor = error.cv, error.floor
    sigma = _sigma(error, _sizes_for_first_weights(curves), curves.which, cv, floor)
    solution = run(sigma, start, _ROUGH)
    rounds, scale = 1, np.ones(curves.value.size)
    for rounds in range(2, _ROUNDS + 1):
        if error.kind == "combined" and not error.known:
            cv, floor, scale = _estimate_error(solution, sigma, scale, curves)
        sigma = scale * _sigma(error, np.abs(solution.fitted), curves.which, cv, floor)
        before = solution.theta
        # the first weights are crude, so the second round tries all starts again
        solution = (
            _better(run(sigma, before), run(sigma, None)) if rounds == 2 and start is None else run(sigma, before)
        )
        if np.max(np.abs(solution.theta - before)) < _CONVERGED:
            break
    solution = run(sigma, solution.theta)
    scales = tuple(float(scale[curves.which == code][0]) for code in np.unique(curves.which))
    return Weighted(solution=solution, sigma=sigma, cv=cv, floor=floor, rounds=rounds, scales=scales)


def _better(one: Solution, other: Solution) -> Solution:
    return one if one.chi2 <= other.chi2 else other


def _sizes_for_first_weights(curves: SampledCurves) -> Array:
    """Sizes for the first weights: no sample counts as smaller than a tenth of its curve's largest."""
    size = np.abs(curves.value)
    for code in np.unique(curves.which):
        rows = curves.which == code
        size[rows] = np.maximum(size[rows], 0.1 * size[rows].max())
    result: Array = size
    return result


def _estimate_error(
    solution: Solution, sigma: Array, scale: Array, curves: SampledCurves, rounds: int = 10
) -> tuple[float, float, Array]:
    """Common cv and floor and one factor per curve, in turn, until they settle."""
    cv = floor = 0.0
    freedom = np.maximum(1 - solution.leverage(), 0.05)
    for _ in range(rounds):
        before = scale
        variance = (sigma / scale) ** 2 * max(solution.chi2 / freedom.sum(), 1e-12)
        square = (solution.residuals * sigma / scale) ** 2
        cv, floor = estimate_parts(square, freedom, solution.fitted, variance, _floor_unit(curves))
        scale = _curve_scales(solution, sigma, np.sqrt((cv * solution.fitted) ** 2 + floor**2), curves.which)
        if np.allclose(scale, before, rtol=1e-3):
            break
    return cv, floor, scale


def _curve_scales(solution: Solution, sigma: Array, expected: Array, which: Array) -> Array:
    """One factor per curve, drawn towards one as if `_PRIOR` further residuals had been as expected."""
    square = (solution.residuals * sigma / expected) ** 2
    freedom = 1 - solution.leverage()
    scale = np.ones(which.size)
    for code in np.unique(which):
        rows = which == code
        scale[rows] = np.sqrt((_PRIOR + square[rows].sum()) / (_PRIOR + freedom[rows].sum()))
    return scale


def _fixed_sigma(error: ErrorModel, curves: SampledCurves) -> Array:
    if error.kind == "sd":
        return curves.sd
    sigma = np.ones(curves.value.size)
    if error.kind == "constant":
        return sigma
    for code in np.unique(curves.which):
        rows = curves.which == code
        sigma[rows] = np.ptp(curves.value[rows])
    return np.where(curves.time > _LATE, 2 * sigma, sigma)


def _sigma(error: ErrorModel, size: Array, which: Array, cv: float | None, floor: float | None) -> Array:
    if error.kind == "combined" and cv is not None and floor is not None:
        return np.sqrt((cv * size) ** 2 + floor**2)
    small = np.zeros(size.size)
    for code in np.unique(which):
        rows = which == code
        small[rows] = _SMALL * size[rows].max()
    result: Array = (cv or 1.0) * np.maximum(size, small)
    return result


def estimate_parts(
    square: Array, freedom: Array, fitted: Array, variance: Array, smallest: float, rounds: int = 30
) -> tuple[float, float]:
    """Cv and floor by scoring on squared residuals, each divided by the freedom left to it (one minus leverage).

    This is extended least squares for the variance alone (pseudo-likelihood; Davidian and Carroll, 1987).

    Parameters
    ----------
    square, freedom, fitted : ndarray
        Squared residuals, their share of the degrees of freedom, and fitted values.
    variance : ndarray
        First guess of the variances.
    smallest : float
        Size of the smallest curve: a floor far below it cannot be distinguished from none.
    rounds : int
        Most rounds of scoring.

    Returns
    -------
    cv, floor : float

    Examples
    --------
    >>> f = np.array([0.01, 0.02, 0.1, 0.2])
    >>> square = (0.05 * f) ** 2 + 1e-6
    >>> cv, floor = estimate_parts(square, np.ones(4), f, f**2, 0.2)
    >>> round(cv, 4), round(floor, 4)
    (0.05, 0.001)
    """
    f2 = fitted**2
    unit = np.median(f2)
    design = np.stack([f2 / unit, np.ones_like(f2)], axis=1)
    lowest = np.array([1e-6 * unit, 1e-6 * smallest**2])
    parts = np.array([1.0, 1.0])
    for _ in range(rounds):
        weight = freedom / variance**2
        new = _positive_pair(design, square / freedom, weight / weight.max(), lowest)
        done = np.allclose(new, parts, rtol=1e-6)
        parts = new
        variance = design @ parts
        if done:
            break
    return float(np.sqrt(parts[0] / unit)), float(np.sqrt(parts[1]))


def _floor_unit(curves: SampledCurves) -> float:
    """Size of the smallest curve: a floor far below it cannot be distinguished from none."""
    return min(float(np.abs(curves.value[curves.which == code]).max()) for code in np.unique(curves.which))


def _positive_pair(design: Array, target: Array, weight: Array, lowest: Array) -> Array:
    """Weighted least squares in two coefficients, neither below its smallest value."""
    gram = design.T @ (weight[:, None] * design)
    moment = design.T @ (weight * target)
    try:
        free = np.linalg.solve(gram, moment)
    except np.linalg.LinAlgError:
        free = np.array([-1.0, -1.0])
    if (free >= lowest).all():
        return free
    best, best_cost = lowest, np.inf
    for i in (0, 1):
        other = 1 - i
        pair = lowest.copy()
        pair[i] = max((moment[i] - gram[i, other] * lowest[other]) / gram[i, i], lowest[i])
        cost = float(pair @ gram @ pair - 2 * pair @ moment)
        if cost < best_cost:
            best, best_cost = pair, cost
    return best
