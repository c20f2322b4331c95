"""Intervals for any rate, pool or flux: delta, profile and bootstrap, all with the full covariance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import least_squares

from unseen.core.arrays import Array
from unseen.core.errors import UnknownName
from unseen.core.estimate import Interval
from unseen.core.rng import RandomState, root_seed, stream
from unseen.kinetics.joint import SampledCurves, quick_solve
from unseen.kinetics.location_fit import LocationFit, fit_location
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.quantities import Derived

__all__ = ["BootstrapRefits", "Profile", "bootstrap", "cut_at_zero", "delta_interval", "profile", "std_errors"]


BOOTSTRAPS = ("parametric", "residual")
# residual of a deviation by one standard error: the quantity then stays within a few thousandths of its target
_PENALTY = 300.0
_NEAR = 1e-3  # relative error of the root of the rise, far below what an interval is read to
_BEYOND = 1e6  # standard errors that stand for a quantity that has no value
_FARTHEST = 30  # standard errors; a profile that is flat up to there has no end


def std_errors(
    fit: LocationFit, derived: Derived, sums: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, float]:
    """Delta-method standard errors of every derived quantity.

    Parameters
    ----------
    fit : LocationFit
    derived : Derived
    sums : mapping, optional
        Names of further quantities, each the sum of two others, whose errors are correlated.

    Returns
    -------
    dict
    """
    gradients = derived.gradients(fit.theta)
    gradients |= {name: gradients[one] + gradients[other] for name, (one, other) in (sums or {}).items()}
    return {name: float(np.sqrt(max(float(g @ fit.covariance @ g), 0.0))) for name, g in gradients.items()}


def delta_interval(value: float, se: float, df: float, level: float, signed: bool) -> Interval:
    """Interval by the delta method: on the log scale for a positive quantity, else on its own.

    No rate, pool or flux is negative. Some are computed as differences, so that their estimates may be near zero or below it; the
    interval of these is symmetric and begins at zero if it would begin below. That loses no coverage: what is cut away cannot be
    true. An interval that lies below zero altogether is left there: the alternative contradicts the data, and note K008 says so.

    Parameters
    ----------
    value, se : float
    df : float
        Degrees of freedom of Student's t; infinite for the normal.
    level : float
    signed : bool
        Whether the estimate may be negative.

    Returns
    -------
    Interval

    Examples
    --------
    >>> low, high = delta_interval(2.0, 0.2, np.inf, 0.95, signed=False)
    >>> round(low * high, 6)                                      # symmetric in the logarithm
    4.0
    >>> delta_interval(2.0, 2.0, np.inf, 0.95, signed=True).low
    0.0
    """
    q = float(stats.t.ppf(0.5 + level / 2, df)) if np.isfinite(df) else float(stats.norm.ppf(0.5 + level / 2))
    if signed or value <= 0:
        return cut_at_zero(value - q * se, value + q * se, level)
    factor = float(np.exp(min(q * se / value, 700.0)))
    return Interval(value / factor, value * factor, level)


def cut_at_zero(low: float, high: float, level: float) -> Interval:
    """Interval of a quantity that cannot be negative; one that lies below zero altogether is left as evidence against the model."""
    return Interval(max(low, 0.0) if high > 0 else low, high, level)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The smallest sum of squares for each fixed value of a quantity.

    Attributes
    ----------
    name : str
    values, rise : ndarray
        Values of the quantity and by how much the scaled sum of squares rises above its minimum.
    threshold : float
        Rise at the ends of the interval.
    interval : Interval
        The upper end is infinite, the lower zero, if the profile never reaches the threshold; no interval
        begins below zero, unless it ends there too.
    """

    name: str
    values: Array
    rise: Array
    threshold: float
    interval: Interval


def profile(
    fit: LocationFit, derived: Derived, curves: SampledCurves, name: str, level: float, points: int = 0
) -> Profile:
    """Profile-likelihood interval of a rate, pool or flux.

    A heavy penalty holds the quantity near a target. Whatever the penalty's weight, the minimum found is the constrained
    minimum for the value the quantity then has, so that value is recorded and no error is made by the penalty.

    Parameters
    ----------
    fit : LocationFit
    derived : Derived
    curves : SampledCurves
        The samples of the fit.
    name : str
        Quantity.
    level : float
    points : int
        Further points along the profile, for a figure.

    Returns
    -------
    Profile

    References
    ----------
    Bates, D. M. and Watts, D. G. (1988), Nonlinear Regression Analysis and Its Applications, chapter 6.
    """
    centre = derived(fit.theta)[name]
    se = std_errors(fit, derived)[name]
    known = np.isinf(fit.df)
    scale = 1.0 if known else fit.chi2 / max(fit.spare, 1)
    threshold = float(stats.chi2.ppf(level, 1) if known else stats.f.ppf(level, 1, fit.df))
    natural = derived.may_be_negative(name) or centre <= 0
    transform: Callable[[float], float] = float if natural else lambda v: float(np.log(max(v, 1e-300)))
    unit = se if natural else se / centre
    walk = _Walk(fit, derived, curves, name, transform, unit, scale)
    ends = [walk.end(sign, np.sqrt(threshold), threshold) for sign in (-1, 1)]
    low, high = (
        e if e is not None else (-np.inf if natural else 0.0) if i == 0 else np.inf for i, e in enumerate(ends)
    )
    for z in np.linspace(-1.6, 1.6, points) * np.sqrt(threshold):
        walk.at(z)
    order = np.argsort([v for v, _ in walk.seen])
    seen = np.array(walk.seen)[order]
    return Profile(
        name=name,
        values=seen[:, 0],
        rise=seen[:, 1],
        threshold=threshold,
        interval=cut_at_zero(float(low), float(high), level),
    )


class _Walk:
    """Constrained minima of one quantity, each started from its nearest neighbour."""

    def __init__(self, fit: Any, derived: Any, curves: Any, name: str, transform: Any, unit: Any, scale: Any) -> None:
        self.fit, self.derived, self.curves, self.name = fit, derived, curves, name
        self.transform, self.unit, self.scale = transform, unit, scale
        self.centre = transform(derived(fit.theta)[name])
        self.thetas: dict[float, Array] = {0.0: fit.theta}
        self.seen: list[tuple[float, float]] = [(derived(fit.theta)[name], 0.0)]

    def _position(self, theta: Array) -> float:
        """Quantity in standard errors from its estimate."""
        try:
            result: float = (self.transform(self.derived(theta)[self.name]) - self.centre) / self.unit
        except ZeroDivisionError:
            # a step so far out that a rate vanishes; the optimiser turns back from so large a residual
            return _BEYOND
        return result

    def at(self, target: float) -> tuple[float, float]:
        """Position reached and scaled rise of the sum of squares, for a target position in standard errors."""
        model, curves, sigma = self.fit.model, self.curves, self.fit.sigma
        start = self.thetas[min(self.thetas, key=lambda z: abs(z - target))]

        def residuals(theta: Array) -> Array:
            r = (model.predict(theta, curves.time, curves.which) - curves.value) / sigma
            return np.append(r, _PENALTY * (self._position(theta) - target))

        def jacobian(theta: Array) -> Array:
            j = model.predict_slopes(theta, curves.time, curves.which)[1] / sigma[:, None]
            h = 1e-6
            g = [(self._position(theta + e) - self._position(theta - e)) / (2 * h) for e in h * np.eye(theta.size)]
            return np.vstack([j, _PENALTY * np.array(g)])

        low, high = model.bounds()
        with np.errstate(all="ignore"):
            theta, converged = quick_solve(residuals, jacobian, start, 1e-9)
        if not converged or not ((theta > low) & (theta < high)).all():
            theta = least_squares(
                residuals, start, jac=jacobian, bounds=(low, high), x_scale="jac", ftol=1e-9, xtol=1e-9, max_nfev=200
            ).x
        position = self._position(theta)
        chi2 = float(np.sum(residuals(theta)[:-1] ** 2))
        rise = max((chi2 - self.fit.chi2) / self.scale, 0.0)
        self.thetas[position] = theta
        self.seen.append((self.derived(theta)[self.name], rise))
        return position, rise

    def end(self, sign: int, first: float, threshold: float) -> float | None:
        """Value where the rise meets the threshold on one side, or None if it does not within 30 standard errors."""
        inside, outside = 0.0, None
        step, wanted = first, np.sqrt(threshold)
        while step <= _FARTHEST:
            position, rise = self.at(sign * step)
            if abs(np.sqrt(rise) - wanted) < _NEAR * wanted:
                return float(self.derived(self.thetas[position])[self.name])
            if rise >= threshold:
                outside = step if outside is None else min(step, outside)
            elif abs(position) < 0.8 * step:
                return None
            else:
                inside = max(step, inside)
            # the root of the rise is nearly straight, so the next guess is its crossing, refits inside the bracket
            guess = step * wanted / max(np.sqrt(rise), 0.1 * wanted)
            step = min(guess, 2 * step) if outside is None else guess
            if outside is not None and not inside < step < outside:
                step = (inside + outside) / 2
        return None


def bootstrap(
    fit: LocationFit,
    derived: Derived,
    curves: SampledCurves,
    error: ErrorModel,
    *,
    kind: str = "parametric",
    draws: int = 500,
    random_state: RandomState = None,
) -> BootstrapRefits:
    """Refit data made from the fitted curves, errors included as they were in the fit.

    Parameters
    ----------
    fit, derived, curves, error
        What was fitted.
    kind : {"parametric", "residual"}
        Normal errors with the fitted standard deviations, or standardised residuals of the same curve drawn with
        replacement, each divided by the root of one minus its leverage.
    draws : int
        Number of refits.
    random_state : int or Generator, optional

    Returns
    -------
    BootstrapRefits
    """
    if kind not in BOOTSTRAPS:
        raise UnknownName("bootstrap", kind, BOOTSTRAPS)
    seed = root_seed(random_state)
    slopes = fit.model.predict_slopes(fit.theta, curves.time, curves.which)[1] / fit.sigma[:, None]
    leverage = np.sum(np.linalg.qr(slopes)[0] ** 2, axis=1)
    standard = (curves.value - fit.fitted) / fit.sigma / np.sqrt(np.maximum(1 - leverage, 0.05))
    for code in np.unique(curves.which):
        standard[curves.which == code] -= standard[curves.which == code].mean()
    # with an unknown scale the weights are right up to a factor only
    spread = 1.0 if error.known else np.sqrt(fit.chi2 / max(fit.spare, 1))
    refits: list[dict[str, float]] = []
    failed = 0
    for i in range(draws):
        rng = stream(seed, "kinetics-bootstrap", i)
        noise = (
            spread * rng.standard_normal(fit.sigma.size)
            if kind == "parametric"
            else _resample(standard, curves.which, rng)
        )
        again = curves.with_values(fit.fitted + fit.sigma * noise)
        order = (fit.model.n, fit.model.m)
        try:
            refits.append(derived(fit_location(again, error, fit.location, order, start=fit.theta).theta))
        except (ValueError, np.linalg.LinAlgError):
            failed += 1
    found = {name: np.array([k[name] for k in refits]) for name in refits[0]} if refits else {}
    return BootstrapRefits(kind=kind, draws=found, failed=failed, centre=derived(fit.theta), df=fit.df)


def _resample(standard: Array, which: Array, rng: np.random.Generator) -> Array:
    """Standardised residuals drawn with replacement within each curve."""
    out = np.empty(standard.size)
    for code in np.unique(which):
        rows = np.flatnonzero(which == code)
        out[rows] = standard[rng.choice(rows, rows.size)]
    return out


@dataclass(frozen=True, kw_only=True)
class BootstrapRefits:
    """Refits of resampled data: every quantity of every refit.

    Attributes
    ----------
    kind : {"parametric", "residual"}
    draws : dict
        ``{quantity: values}``.
    failed : int
        Refits that did not converge; they are left out.
    centre : dict
        ``{quantity: estimate}`` of the data themselves.
    df : float
        Degrees of freedom of the estimated errors; infinite if they are known.
    """

    kind: str
    draws: Mapping[str, Array]
    failed: int
    centre: Mapping[str, float] = field(default_factory=dict)
    df: float = np.inf

    def interval(self, name: str, level: float = 0.95) -> Interval:
        """Interval of one quantity from the percentiles of its refits.

        Refits know how the data vary only from the residuals of one fit, which are few. The ends are therefore moved away from
        the estimate by the ratio of Student's t to the normal quantile, on the log scale if all refits are positive. No interval begins below zero, unless it
        ends there too.

        Examples
        --------
        >>> found = BootstrapRefits(kind="parametric", draws={"U": np.linspace(9, 11, 101)}, failed=0, centre={"U": 10.0}, df=3)
        >>> [round(end, 2) for end in found.interval("U", 0.5)]     # half the refits lie between 9.5 and 10.5
        [9.43, 10.57]
        """
        if name not in self.draws:
            raise UnknownName("quantity", name, self.draws)
        ends = np.quantile(self.draws[name], [0.5 - level / 2, 0.5 + level / 2])
        centre = self.centre.get(name, 0.0)
        if np.isfinite(self.df):
            upper = 0.5 + level / 2
            wide = float(stats.t.ppf(upper, self.df) / stats.norm.ppf(upper))
            positive = centre > 0 and (self.draws[name] > 0).all()
            ends = centre * (ends / centre) ** wide if positive else centre + wide * (ends - centre)
        return cut_at_zero(float(ends[0]), float(ends[1]), level)
