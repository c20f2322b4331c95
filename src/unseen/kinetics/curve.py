"""One sampled curve as a sum of exponentials, alone: bolus data, screening and non-compartmental areas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array
from unseen.core.errors import InputError
from unseen.core.result import Result
from unseen.kinetics.joint import SampledCurves, Solution, solve
from unseen.kinetics.noise import ErrorModel, fit_weighted
from unseen.kinetics.starts import curve_starts

__all__ = ["CurveFit", "CurveModel", "aicc", "curve_runner", "fit_curve"]


@dataclass(frozen=True)
class CurveModel:
    """A sum of n exponentials with positive amplitudes and ordered positive rates."""

    n: int
    rate_bounds: tuple[float, float] = (1e-5, 5.0)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return 2 * self.n

    def pack(self, a: Array, l: Array) -> Array:
        """Log parameters from amplitudes and rates."""
        result: Array = np.log(np.concatenate([a, np.append(-np.diff(l), l[-1])]))
        return result

    def unpack(self, theta: Array) -> tuple[Array, Array]:
        """Amplitudes and rates."""
        p = np.exp(theta)
        return p[: self.n], np.cumsum(p[self.n :][::-1])[::-1]

    def predict_slopes(self, theta: Array, time: Array, which: Array) -> tuple[Array, Array]:
        """Curve and Jacobian by the log parameters."""
        a, l = self.unpack(theta)
        decay = np.exp(-np.outer(time, l))
        by_rate = np.cumsum(-time[:, None] * decay * a, axis=1)
        return decay @ a, np.concatenate([decay, by_rate], axis=1) * np.exp(theta)

    def bounds(self) -> tuple[Array, Array]:
        """Wide bounds on the log parameters."""
        low, high = np.full(self.size, -60.0), np.full(self.size, 60.0)
        low[self.n :], high[self.n :] = np.log(self.rate_bounds)
        low[self.n : -1] = np.log(self.rate_bounds[0]) - 10
        return low, high


def aicc(deviance: float, count: int, parameters: int) -> float:
    """Akaike's criterion with the small-sample correction (Hurvich and Tsai, 1989).

    Parameters
    ----------
    deviance : float
        Minus twice the log likelihood.
    count, parameters : int
        Samples and estimated parameters.

    Returns
    -------
    float
        Infinity if the correction is not defined.

    Examples
    --------
    >>> aicc(10.0, 20, 3)
    17.5
    """
    spare = count - parameters - 1
    return float(deviance) + 2 * parameters + 2 * parameters * (parameters + 1) / spare if spare > 0 else np.inf


@dataclass(frozen=True, kw_only=True)
class CurveFit(Result):
    """A fitted sum of exponentials.

    Attributes
    ----------
    amplitudes, rates : ndarray
        Fast term first.
    std_errors : ndarray
        Standard errors of the amplitudes, then of the rates.
    sse : float
        Weighted residual sum of squares.
    df : int
        Residual degrees of freedom.
    aicc : float
        Criterion by which orders are compared.
    time, value, fitted, sigma : ndarray
        The samples, the curve and the standard deviations that weighted them.
    gap_errors : ndarray
        Standard errors of the gaps between neighbouring rates, whose own errors are correlated.

    Examples
    --------
    >>> t = np.array([1.0, 2, 3, 5, 8, 12])
    >>> fit = fit_curve(t, 2 * np.exp(-0.25 * t), 1)
    >>> round(fit.area, 4), fit.df                              # 2 / 0.25
    (8.0, 4)
    """

    amplitudes: Array
    rates: Array
    std_errors: Array
    sse: float
    df: int
    aicc: float
    time: Array
    value: Array
    fitted: Array
    sigma: Array
    gap_errors: Array

    @property
    def n(self) -> int:
        """Number of exponentials."""
        return self.rates.size

    @property
    def area(self) -> float:
        """Area under the curve from zero to infinity."""
        return float(np.sum(self.amplitudes / self.rates))

    def predict(self, t: ArrayLike) -> Array:
        """Curve at given times."""
        result: Array = np.exp(-np.multiply.outer(np.asarray(t, float), self.rates)) @ self.amplitudes
        return result

    def rows(self) -> list[dict[str, Any]]:
        """One row per exponential."""
        n = self.n
        return [
            {
                "term": i + 1,
                "amplitude": self.amplitudes[i],
                "amplitude_se": self.std_errors[i],
                "rate": self.rates[i],
                "rate_se": self.std_errors[n + i],
                "half_life": np.log(2) / self.rates[i],
            }
            for i in range(n)
        ]

    def __str__(self) -> str:
        terms = " + ".join(f"{a:.4g} exp(-{r:.4g} t)" for a, r in zip(self.amplitudes, self.rates))
        return f"{terms}; residual sum of squares {self.sse:.4g} on {self.df} df, AICc {self.aicc:.2f}"


def fit_curve(
    time: ArrayLike,
    value: ArrayLike,
    n: int | str = 2,
    *,
    error: str = "constant",
    sd: ArrayLike | None = None,
    cv: float | None = None,
    floor: float | None = None,
) -> CurveFit:
    """Fit a sum of exponentials to one bolus curve.

    Parameters
    ----------
    time, value : array_like
        Samples; any units.
    n : int or "auto"
        Number of exponentials; ``"auto"`` takes the smallest AICc of 1 to 3, refusing an order whose smallest amplitude
        or gap between rates is within two standard errors of zero.
    error : str
        Error model: ``"constant"``, ``"proportional"``, ``"sd"`` or ``"combined"``.
    sd : array_like, optional
        Standard deviations (up to a factor) for ``error="sd"``.
    cv, floor : float, optional
        Of the combined model.

    Returns
    -------
    CurveFit

    Examples
    --------
    >>> t = np.array([0.5, 1, 2, 3, 4, 6, 8, 12])
    >>> fit_curve(t, 3 * np.exp(-0.9 * t) + np.exp(-0.1 * t)).rates.round(6).tolist()
    [0.9, 0.1]
    """
    t, y = np.asarray(time, float), np.asarray(value, float)
    if t.ndim != 1 or t.shape != y.shape:
        raise InputError(f"time has shape {t.shape} and value {y.shape}; give two columns of the same length.")
    if not (np.isfinite(t).all() and np.isfinite(y).all()) or (t < 0).any():
        raise InputError("times and values must be finite, and times not negative.")
    model = ErrorModel(error, cv, floor)
    if error == "sd" and (sd is None or not (np.asarray(sd, float) > 0).all()):
        raise InputError("error='sd' needs sd, one number above 0 for each sample.")
    spread = np.full(t.size, np.nan) if sd is None else np.broadcast_to(np.asarray(sd, float), t.shape)
    curves = SampledCurves(t, y, np.zeros(t.size, int), spread)
    orders = range(1, 4) if n == "auto" else [int(n)]
    fits = [f for order in orders if t.size >= 2 * order + 1 and (f := _fit_order(curves, order, model)) is not None]
    if not fits:
        raise InputError(f"{t.size} samples are too few for {orders[0]} exponentials; {2 * orders[0] + 1} are needed.")
    usable = [f for f in fits if f.n == 1 or _distinct(f)] if n == "auto" else fits
    return min(usable, key=lambda f: f.aicc)


def _fit_order(curves: SampledCurves, n: int, error: ErrorModel) -> CurveFit | None:
    t = curves.time
    model = CurveModel(n, (1e-3 / t.max(), 100 / max(t[t > 0].min(), t.max() / 1e4)))
    weighted = fit_weighted(error, curves, curve_runner(model, curves))
    solution = weighted.solution
    a, l = model.unpack(solution.theta)
    spare = t.size - model.size
    gram = solution.jacobian.T @ solution.jacobian
    # given standard deviations hold up to a common factor, which is then estimated like any other parameter
    scaled = error.known and error.kind != "sd"
    factor = 1.0 if scaled else solution.chi2 / max(spare, 1)
    covariance = np.linalg.pinv(gram, hermitian=True) * factor
    to_natural = np.zeros((2 * n, 2 * n))
    to_natural[:n, :n] = np.diag(a)
    to_natural[n:, n:] = np.triu(np.ones((n, n))) * np.exp(solution.theta[n:])
    errors = np.sqrt(np.diag(to_natural @ covariance @ to_natural.T))
    estimated = 0 if scaled else max(error.n_estimated(1), 1)
    criterion = aicc(weighted.minus_two_log_likelihood(scaled), t.size, model.size + estimated)
    gaps = -np.diff(l) * np.sqrt(np.diag(covariance)[n:-1])
    return CurveFit(
        amplitudes=a,
        rates=l,
        std_errors=errors,
        sse=solution.chi2,
        df=spare,
        aicc=criterion,
        time=t,
        value=curves.value,
        fitted=solution.fitted,
        sigma=weighted.sigma,
        gap_errors=gaps,
    )


def curve_runner(model: CurveModel, curves: SampledCurves) -> Callable[..., Solution]:
    """A fit of one curve from all its starts, or from a given one."""

    def run(sigma: Array, start: Array | None, tolerance: float = 1e-12) -> Solution:
        if start is not None:
            return solve(model, curves, sigma, start, tolerance)
        starts = [model.pack(a, l) for a, l in curve_starts(curves.time, curves.value, model.n)]
        return min((solve(model, curves, sigma, s, tolerance) for s in starts), key=lambda s: s.chi2)

    return run


def _distinct(fit: CurveFit) -> bool:
    """Whether every amplitude and every gap between rates is more than two standard errors from zero."""
    n = fit.n
    gaps = -np.diff(fit.rates)
    return bool((fit.amplitudes > 2 * fit.std_errors[:n]).all() and (gaps > 2 * fit.gap_errors).all())
