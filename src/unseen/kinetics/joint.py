"""The joint model of the three curves, its parameters on the log scale and its least-squares fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import least_squares, leastsq

from unseen.core.arrays import Array
from unseen.kinetics.exponentials import exponential_sum
from unseen.kinetics.locations import formed_curve

__all__ = ["DOSED", "FORMED", "PRECURSOR", "JointModel", "SampledCurves", "Solution", "quick_solve", "solve"]

PRECURSOR, DOSED, FORMED = 0, 1, 2
RATE_BOUNDS = (1e-5, 5.0)  # per minute: half-lives from 8 seconds to 48 days
_WIDE = (1e-12, 100.0)  # amplitudes and kappa; only keeps the arithmetic finite


@dataclass(frozen=True)
class SampledCurves:
    """Samples of one subject that enter a fit: times, values and which of the three curves each belongs to.

    ``sd`` holds the given standard deviations, NaN if none was given. Times are in minutes, values fractions.
    """

    time: Array
    value: Array
    which: Array
    sd: Array

    def of(self, which: int) -> tuple[Array, Array, Array]:
        """Times, values and standard deviations of one curve."""
        m = self.which == which
        return self.time[m], self.value[m], self.sd[m]

    def take(self, rows: Array) -> SampledCurves:
        """The samples at some positions."""
        return SampledCurves(self.time[rows], self.value[rows], self.which[rows], self.sd[rows])

    def with_values(self, value: Array) -> SampledCurves:
        """The same samples with other values."""
        return SampledCurves(self.time, value, self.which, self.sd)


class CurveLike(Protocol):
    """A model as the optimiser sees it."""

    def predict_slopes(self, theta: Array, time: Array, which: Array) -> tuple[Array, Array]:
        """Values and Jacobian."""
        ...

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds."""
        ...


@dataclass(frozen=True)
class JointModel:
    """n precursor exponentials, m product exponentials and one conversion, at one location.

    The parameters are logarithms: amplitudes, gaps between successive rates and the slowest rate, for each dosed
    curve, then kappa. Positive amplitudes and ordered rates therefore need no constraint.

    Examples
    --------
    >>> model = JointModel(2, 2, "EC-EC")
    >>> theta = model.pack([.2, .1], [.16, .02], [.1, .05], [.15, .017], .033)
    >>> [x.round(6).tolist() for x in model.unpack(theta)[:2]]
    [[0.2, 0.1], [0.16, 0.02]]
    """

    n: int
    m: int
    location: str

    @property
    def size(self) -> int:
        """Number of parameters, 2 (n + m) + 1."""
        return 2 * (self.n + self.m) + 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters before the logarithm."""
        parts: list[str] = []
        for count, amplitude, rate in ((self.n, "A", "lambda"), (self.m, "B", "gamma")):
            parts += [f"{amplitude}{i + 1}" for i in range(count)]
            parts += [f"{rate}{i + 1}-{rate}{i + 2}" for i in range(count - 1)] + [f"{rate}{count}"]
        return (*parts, "kappa")

    def pack(self, a: Any, l: Any, b: Any, g: Any, kappa: float) -> Array:
        """Parameters on the log scale from amplitudes, rates and kappa."""
        steps = [np.append(-np.diff(r), r[-1]) for r in (np.asarray(l, float), np.asarray(g, float))]
        result: Array = np.log(np.concatenate([a, steps[0], b, steps[1], [kappa]]))
        return result

    def unpack(self, theta: Array) -> tuple[Array, Array, Array, Array, float]:
        """Amplitudes and rates of both dosed curves, and kappa."""
        p = np.exp(theta)
        n, m = self.n, self.m
        l = np.cumsum(p[n : 2 * n][::-1])[::-1]
        g = np.cumsum(p[2 * n + m : 2 * (n + m)][::-1])[::-1]
        return p[:n], l, p[2 * n : 2 * n + m], g, p[-1]

    def predict(self, theta: Array, time: Array, which: Array) -> Array:
        """Curve values at given times."""
        a, l, b, g, kappa = self.unpack(theta)
        out = np.empty(time.shape)
        for code, amplitudes, rates in ((PRECURSOR, a, l), (DOSED, b, g)):
            m = which == code
            out[m] = exponential_sum(time[m], amplitudes, rates)
        m = which == FORMED
        if m.any():
            out[m] = kappa * formed_curve(time[m], a, l, b, g, self.location, slopes=False)[0]
        return out

    def predict_slopes(self, theta: Array, time: Array, which: Array) -> tuple[Array, Array]:
        """Curve values and their Jacobian by the log parameters."""
        a, l, b, g, kappa = self.unpack(theta)
        n, m = self.n, self.m
        out, jac = np.empty(time.shape), np.zeros((time.size, self.size))
        for code, amplitudes, rates, at in ((PRECURSOR, a, l, 0), (DOSED, b, g, 2 * n)):
            rows, count = which == code, rates.size
            decay = np.exp(-np.outer(time[rows], rates))
            out[rows] = decay @ amplitudes
            jac[rows, at : at + count] = decay
            jac[rows, at + count : at + 2 * count] = -time[rows, None] * decay * amplitudes
        rows = which == FORMED
        curve, slopes = formed_curve(time[rows], a, l, b, g, self.location)
        out[rows] = kappa * curve
        jac[rows, :-1] = kappa * np.asarray(slopes)
        jac[rows, -1] = curve
        for at, count in ((n, n), (2 * n + m, m)):
            # a rate is the sum of all slower steps, so a step moves every rate above it
            jac[:, at : at + count] = np.cumsum(jac[:, at : at + count], axis=1)
        return out, jac * np.exp(theta)

    def bounds(self) -> tuple[Array, Array]:
        """Wide bounds on the log parameters: rates within 1e-5 and 5 per minute."""
        low, high = np.full(self.size, np.log(_WIDE[0])), np.full(self.size, np.log(_WIDE[1]))
        for at, count in ((self.n, self.n), (2 * self.n + self.m, self.m)):
            low[at : at + count], high[at : at + count] = np.log(RATE_BOUNDS)
            low[at : at + count - 1] = np.log(1e-9)
        return low, high


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A weighted least-squares minimum: parameters, weighted residuals and weighted Jacobian."""

    theta: Array
    residuals: Array
    jacobian: Array
    fitted: Array
    converged: bool

    @property
    def chi2(self) -> float:
        """Sum of squared weighted residuals."""
        return float(self.residuals @ self.residuals)

    def leverage(self) -> Array:
        """Diagonal of the hat matrix."""
        q = np.linalg.qr(self.jacobian, mode="reduced")[0]
        result: Array = np.sum(q**2, axis=1)
        return result


def solve(model: CurveLike, curves: SampledCurves, sigma: Array, start: Array, tolerance: float = 1e-12) -> Solution:
    """Minimise the weighted sum of squares from one start with the analytic Jacobian.

    Parameters
    ----------
    model : JointModel or CurveModel
    curves : SampledCurves
        The samples.
    sigma : ndarray
        Standard deviation of each sample; residuals are divided by it.
    start : ndarray
        Log parameters to start from.
    tolerance : float
        Relative tolerance on cost, step and gradient.

    Returns
    -------
    Solution
    """
    time, which = curves.time, curves.which
    cache: dict[bytes, tuple[Array, Array]] = {}

    def both(theta: Array) -> tuple[Array, Array]:
        key = theta.tobytes()
        if key not in cache:
            cache.clear()
            cache[key] = model.predict_slopes(np.clip(theta, -80, 80), time, which)
        return cache[key]

    low, high = model.bounds()

    def residuals(theta: Array) -> Array:
        result: Array = (both(theta)[0] - curves.value) / sigma
        return result

    def slopes(theta: Array) -> Array:
        result: Array = both(theta)[1] / sigma[:, None]
        return result

    first = np.clip(start, low + 1e-9, high - 1e-9)
    theta, converged = quick_solve(residuals, slopes, first, tolerance)
    if not converged or not ((theta > low) & (theta < high)).all():
        found = least_squares(
            residuals,
            first,
            jac=slopes,
            bounds=(low, high),
            x_scale="jac",
            ftol=tolerance,
            xtol=tolerance,
            gtol=tolerance,
            max_nfev=400,
        )
        theta, converged = found.x, found.status > 0
    fitted, jac = model.predict_slopes(theta, time, which)
    return Solution(
        theta=theta,
        residuals=(fitted - curves.value) / sigma,
        jacobian=jac / sigma[:, None],
        fitted=fitted,
        converged=converged,
    )


def quick_solve(
    residuals: Callable[..., Any], slopes: Callable[..., Any], start: Array, tolerance: float
) -> tuple[Array, bool]:
    """MINPACK without bounds: a third faster, and enough if the minimum lies inside them."""
    with np.errstate(all="ignore"):
        theta, _, _, _, flag = leastsq(
            residuals, start, Dfun=slopes, ftol=tolerance, xtol=tolerance, gtol=0.0, maxfev=200, full_output=True
        )
    return theta, flag in (1, 2, 3, 4) and bool(np.isfinite(theta).all())
