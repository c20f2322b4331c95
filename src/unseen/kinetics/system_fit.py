"""Fit any linear compartment system to sampled curves, by the same weighted least squares as the hybrid model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError, UnknownName
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, stream
from unseen.kinetics.curve import aicc
from unseen.kinetics.joint import SampledCurves, Solution, solve
from unseen.kinetics.noise import ErrorModel, fit_weighted
from unseen.kinetics.systems import Bolus, CompartmentModel

__all__ = ["SystemFit", "fit_system"]


@dataclass(frozen=True)
class SystemCurves:
    """A compartment system as the optimiser sees it: log parameters, curves numbered by output."""

    model: CompartmentModel
    doses: Mapping[str, float]
    low: Array
    high: Array

    def predict_slopes(self, theta: Array, time: Array, which: Array) -> tuple[Array, Array]:
        """Curve values and Jacobian by the log parameters."""
        values = dict(zip(self.model.parameters, np.exp(theta)))
        at, place = np.unique(time, return_inverse=True)
        curves = self.model.sensitivities(at, values, self.doses)
        out, jac = np.empty(time.size), np.empty((time.size, theta.size))
        for code, name in enumerate(self.model.outputs):
            rows = which == code
            curve, slopes = curves[name]
            out[rows] = curve[place[rows]]
            jac[rows] = slopes[place[rows]] * np.exp(theta)
        return out, jac

    def bounds(self) -> tuple[Array, Array]:
        """Bounds on the log parameters."""
        return self.low, self.high


@dataclass(frozen=True, kw_only=True)
class SystemFit(Result):
    """A fitted compartment system.

    Attributes
    ----------
    model : CompartmentModel
    values, std_errors : dict
        Every rate and size, and its standard error.
    covariance : ndarray
        Of the logarithms of the parameters.
    chi2, aicc : float
        Weighted sum of squares and criterion.
    df : int
        Samples minus parameters.
    curves : SampledCurves
        The samples.
    fitted, sigma : ndarray
        Fitted values and the standard deviations used.

    Examples
    --------
    >>> from unseen.kinetics.systems import Output
    >>> one = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 10.0),), {"y": Output("1", "V")})
    >>> t = np.array([1.0, 2, 4, 8])
    >>> fit_system(one, {"y": (t, 2 * np.exp(-0.3 * t))}).df
    2
    """

    model: CompartmentModel
    values: Mapping[str, float]
    std_errors: Mapping[str, float]
    covariance: Array
    chi2: float
    aicc: float
    df: int
    curves: SampledCurves
    fitted: Array
    sigma: Array

    def rows(self) -> list[dict[str, Any]]:
        """One row per parameter."""
        return [{"parameter": k, "estimate": v, "std_error": self.std_errors[k]} for k, v in self.values.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"parameters": self.rows(), "chi2": self.chi2, "df": self.df, "aicc": self.aicc}

    def __str__(self) -> str:
        lines = [f"{len(self.model.pools)} pools, chi2 {self.chi2:.4g} on {self.df} df, AICc {self.aicc:.2f}"]
        return "\n".join([*lines, *(f"  {k:<8} {v:.4g} +- {self.std_errors[k]:.2g}" for k, v in self.values.items())])


def fit_system(
    model: CompartmentModel,
    data: Mapping[str, Any],
    doses: Mapping[str, float] | None = None,
    *,
    error: str = "constant",
    cv: float | None = None,
    floor: float | None = None,
    sigma: Mapping[str, Any] | None = None,
    start: Mapping[str, float] | None = None,
    starts: int = 12,
    random_state: RandomState = 0,
) -> SystemFit:
    """Fit a compartment system of any graph.

    Parameters
    ----------
    model : CompartmentModel
    data : mapping
        ``{output: (times, values)}``.
    doses : mapping, optional
        Value of every dose the model names.
    error : str
        Error model, as in :func:`unseen.kinetics.fit`; ``"sd"`` takes `sigma`.
    cv, floor : float, optional
    sigma : mapping, optional
        ``{output: standard deviations}``, up to a common factor.
    start : mapping, optional
        First values of some parameters.
    starts : int
        Random starting points besides, on a log scale set by the sampling times.
    random_state : int or Generator, optional
        Of the starting points.

    Returns
    -------
    SystemFit

    Examples
    --------
    >>> from unseen.kinetics.systems import Output
    >>> one = CompartmentModel(("1",), {"k": ("1", None)}, (Bolus("1", 10.0),), {"y": Output("1", "V")})
    >>> t = np.array([1.0, 2, 4, 8])
    >>> {k: round(v, 4) for k, v in fit_system(one, {"y": (t, 10 / 5 * np.exp(-0.3 * t))}).values.items()}
    {'k': 0.3, 'V': 5.0}
    """
    curves = _gather(model, data, sigma)
    noise = ErrorModel(error, cv, floor)
    if error == "sd" and sigma is None:
        raise InputError("error='sd' needs sigma, the standard deviations of each output.")
    names = model.parameters
    if curves.value.size <= len(names):
        raise InputError(f"{curves.value.size} samples cannot determine {len(names)} parameters ({', '.join(names)}).")
    first, low, high = _first_guess(model, curves, doses or {}, start or {})
    seen = SystemCurves(model, doses or {}, low, high)
    rng = stream(root_seed(random_state), "system-starts")
    spread = np.array([0.0 if n in (start or {}) else 1.2 for n in names])
    points = [first] + [first + spread * rng.standard_normal(first.size) for _ in range(starts)]

    def run(weights: Array, at: Array | None, tolerance: float = 1e-12) -> Solution:
        if at is not None:
            return solve(seen, curves, weights, at, tolerance)
        best = min((solve(seen, curves, weights, np.clip(p, low, high), 1e-4) for p in points), key=lambda s: s.chi2)
        return solve(seen, curves, weights, best.theta, tolerance)

    weighted = fit_weighted(noise, curves, run)
    return _summary(model, names, curves, noise, weighted)


def _summary(model: CompartmentModel, names: Any, curves: SampledCurves, noise: ErrorModel, weighted: Any) -> SystemFit:
    s = weighted.solution
    spare = curves.value.size - len(names)
    # given standard deviations hold up to a common factor, which is then estimated like any other parameter
    scaled = noise.known and noise.kind != "sd"
    factor = 1.0 if scaled else s.chi2 / spare
    covariance = np.linalg.pinv(s.jacobian.T @ s.jacobian, hermitian=True) * factor
    values = dict(zip(names, map(float, np.exp(s.theta))))
    errors = {k: values[k] * float(e) for k, e in zip(names, np.sqrt(np.maximum(np.diag(covariance), 0)))}
    estimated = 0 if scaled else max(noise.n_estimated(len(model.outputs)), 1)
    criterion = aicc(weighted.minus_two_log_likelihood(scaled), curves.value.size, len(names) + estimated)
    return SystemFit(
        model=model,
        values=values,
        std_errors=errors,
        covariance=covariance,
        chi2=s.chi2,
        aicc=criterion,
        df=spare,
        curves=curves,
        fitted=s.fitted,
        sigma=weighted.sigma,
    )


def _gather(model: CompartmentModel, data: Mapping[str, Any], sigma: Mapping[str, Any] | None) -> SampledCurves:
    parts = []
    for name in data:
        if name not in model.outputs:
            raise UnknownName("output", name, model.outputs)
    for code, name in enumerate(model.outputs):
        if name not in data:
            raise InputError(f"there are no samples of the output {name!r}.")
        t, y = (np.asarray(v, float) for v in data[name])
        if t.shape != y.shape or t.ndim != 1:
            raise InputError(f"{name}: times and values must be two columns of the same length.")
        if not (np.isfinite(t).all() and np.isfinite(y).all()) or (t < 0).any():
            raise InputError(f"{name}: times and values must be finite, and times not negative.")
        spread = np.full(t.size, np.nan) if sigma is None else np.broadcast_to(np.asarray(sigma[name], float), t.shape)
        parts.append((t, y, np.full(t.size, code), spread))
    return SampledCurves(*(np.concatenate(columns) for columns in zip(*parts)))


def _first_guess(
    model: CompartmentModel, curves: SampledCurves, doses: Mapping[str, float], start: Mapping[str, float]
) -> Any:
    """Rates near the inverse of the middle time; sizes from dose over first value, or one."""
    positive = curves.time[curves.time > 0]
    middle = 1 / np.exp(np.mean(np.log(positive)))
    low, high = np.log(1e-4 / curves.time.max()), np.log(100 / positive.min())
    given = [i.dose if isinstance(i, Bolus) else i.rate for i in model.inputs]
    dose = max(float(doses[d]) if isinstance(d, str) else float(d) for d in given)
    sizes = {o.size for o in model.outputs.values() if isinstance(o.size, str)}
    guess, lows, highs = [], [], []
    for name in model.parameters:
        if name in sizes:
            level = np.log(max(dose / max(np.abs(curves.value).max(), 1e-300), 1e-300))
            guess.append(np.log(start[name]) if name in start else level)
            lows.append(level - 15)
            highs.append(level + 15)
        else:
            guess.append(np.log(start.get(name, middle)))
            lows.append(low)
            highs.append(high)
    return np.array(guess), np.array(lows), np.array(highs)
