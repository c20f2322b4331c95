"""One joint fit at one location of the conversion, its criteria and its covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import stats

from unseen.core.arrays import Array
from unseen.kinetics.curve import aicc
from unseen.kinetics.joint import JointModel, SampledCurves, Solution, solve
from unseen.kinetics.noise import ErrorModel, Weighted, fit_weighted
from unseen.kinetics.starts import joint_starts

__all__ = ["LocationFit", "akaike_weights", "fit_location", "fit_locations", "is_exact", "location_class", "runs_test"]

# tolerances: to find the best start, to compare locations, and of the final fit
_COARSE, _ROUGH, _FINE = 1e-5, 1e-7, 1e-12
_DRAWS = 1999  # the p-value moves in steps of .0005
_EXACT = 1e-6  # of a curve's largest value; no assay resolves less, so smaller residuals are the arithmetic's and not the samples'


def location_class(location: str) -> str:
    """Class of a location: the two mixed ones cannot be distinguished.

    Parameters
    ----------
    location : str

    Returns
    -------
    str

    Examples
    --------
    >>> location_class("IC-EC"), location_class("EC-EC")
    ('mixed', 'EC-EC')
    """
    return "mixed" if location in ("IC-EC", "EC-IC") else location


def runs_test(residuals: Array, which: Array, slopes: Array | None = None) -> float:
    """P-value of the number of runs of signs within curves: how seldom a right model leaves so few.

    Residuals of a fit change their sign more often than independent errors do, since the fit has taken out what is smooth.
    The runs are therefore compared with those of normal errors fitted with the same slopes (1,999 draws, always the same ones).

    Parameters
    ----------
    residuals : ndarray
        Residuals in order of time within each curve, each divided by its standard deviation.
    which : ndarray
        Curve of each residual.
    slopes : ndarray, optional
        Jacobian of the residuals by the fitted parameters; none for errors that were not fitted to.

    Returns
    -------
    float
        Small if residuals keep the same sign too long.

    References
    ----------
    Wald, A. and Wolfowitz, J. (1940), Annals of Mathematical Statistics 11, 147-162 (the statistic).

    Examples
    --------
    >>> r = np.array([1., 1, 1, 1, -1, -1, -1, -1])
    >>> bool(runs_test(r, np.zeros(8)) < 0.1), runs_test(np.tile([1.0, -1.0], 4), np.zeros(8))   # 16 of 256 have two runs or one
    (True, 1.0)
    """
    errors = _errors(residuals.size)
    if slopes is not None:
        taken = np.linalg.qr(slopes)[0]
        errors = errors - errors @ taken @ taken.T
    few = _changes(errors, which) <= _changes(residuals[None], which)
    return float((1 + few.sum()) / (1 + _DRAWS))


@lru_cache(maxsize=16)
def _errors(size: int) -> Array:
    """The draws of the run test, always the same ones."""
    return np.random.default_rng(0).standard_normal((_DRAWS, size))


def _changes(residuals: Array, which: Array) -> Array:
    """Changes of sign within curves, of each row."""
    result: Array = sum(np.diff(residuals[:, which == code] > 0, axis=1).sum(axis=1) for code in np.unique(which))
    return result


def is_exact(residuals: Array, curves: SampledCurves) -> bool:
    """Whether a fit meets every sample up to rounding, so that the signs of its residuals mean nothing.

    Parameters
    ----------
    residuals : ndarray
        Fitted minus sampled, in the unit of the samples.
    curves : SampledCurves

    Returns
    -------
    bool

    Examples
    --------
    >>> made = SampledCurves(np.arange(3.0), np.array([0.3, 0.2, 0.1]), np.zeros(3), np.ones(3))
    >>> is_exact(np.full(3, 1e-13), made), is_exact(np.full(3, 1e-4), made)
    (True, False)
    """
    return all(
        np.abs(residuals[rows]).max() <= _EXACT * np.abs(curves.value[rows]).max()
        for rows in (curves.which == code for code in np.unique(curves.which))
    )


def akaike_weights(criteria: list[float]) -> list[float]:
    """Relative likelihoods of models, summing to one.

    Parameters
    ----------
    criteria : list of float
        AICc of each.

    Returns
    -------
    list of float

    Examples
    --------
    >>> [round(w, 3) for w in akaike_weights([10.0, 10.0, 14.0])]
    [0.468, 0.468, 0.063]
    """
    x = np.asarray(criteria)
    w = np.exp(-(x - x.min()) / 2)
    return [float(v) for v in w / w.sum()]


@dataclass(frozen=True, kw_only=True)
class LocationFit:
    """The joint fit at one location.

    Attributes
    ----------
    model : JointModel
        Orders and location.
    theta : ndarray
        Log parameters at the minimum.
    covariance : ndarray
        Full covariance of theta.
    sigma, fitted : ndarray
        Standard deviations used and fitted values, one per sample kept.
    chi2, deviance, aicc, runs_p : float
        Weighted sum of squares, minus twice the log likelihood, criterion, and p-value of too few runs of signs (1 for
        a fit that meets every sample up to rounding).
    df : float
        Degrees of freedom of intervals; infinite if the error is known.
    cv, floor : float or None
        Parts of the combined error model, given or estimated.
    scales : tuple of float
        Factor of each curve on the common error.
    """

    model: JointModel
    theta: Array
    covariance: Array
    sigma: Array
    fitted: Array
    chi2: float
    deviance: float
    aicc: float
    runs_p: float
    df: float
    cv: float | None
    floor: float | None
    scales: tuple[float, ...]

    @property
    def location(self) -> str:
        """Where the conversion was assumed."""
        return self.model.location

    @property
    def spare(self) -> int:
        """Samples minus parameters."""
        return self.sigma.size - self.model.size

    def band(self, time: Array, code: int, level: float) -> tuple[Array, Array]:
        """Pointwise confidence band of one of the three curves; no curve of the model is negative, so the band is not either."""
        curve, slopes = self.model.predict_slopes(self.theta, time, np.full(time.shape, code))
        se = np.sqrt(np.einsum("ij,jk,ik->i", slopes, self.covariance, slopes))
        q = stats.t.ppf(0.5 + level / 2, self.df) if np.isfinite(self.df) else stats.norm.ppf(0.5 + level / 2)
        return np.maximum(curve - q * se, 0.0), curve + q * se

    def weights(self, curves: SampledCurves) -> Weighted:
        """The standard deviations of this fit, for other fits to the same samples."""
        residuals = (self.fitted - curves.value) / self.sigma
        solution = Solution(
            theta=self.theta, residuals=residuals, jacobian=np.empty((0, 0)), fitted=self.fitted, converged=True
        )
        return Weighted(solution=solution, sigma=self.sigma, cv=self.cv, floor=self.floor, rounds=1, scales=self.scales)

    @property
    def chi2_p(self) -> float:
        """P-value of the misfit; meaningful if the error is known."""
        return float(stats.chi2.sf(self.chi2, self.spare)) if np.isinf(self.df) else float("nan")


def runner(model: JointModel, curves: SampledCurves, also: list[Array], limit: int = 5) -> Callable[..., Solution]:
    """A joint fit from all its starts, or from a given one."""

    def run(sigma: Array, start: Array | None, tolerance: float = _FINE) -> Solution:
        if start is not None:
            return solve(model, curves, sigma, start, tolerance)
        starts = joint_starts(model, curves, limit) + also
        best = min((solve(model, curves, sigma, s, _COARSE) for s in starts), key=lambda s: s.chi2)
        return solve(model, curves, sigma, best.theta, tolerance)

    return run


def fit_location(
    curves: SampledCurves,
    error: ErrorModel,
    location: str,
    order: tuple[int, int] = (2, 2),
    *,
    also: list[Array] | None = None,
    start: Array | None = None,
    like: Weighted | None = None,
) -> LocationFit:
    """Fit all three curves together with the conversion at one location.

    Parameters
    ----------
    curves : SampledCurves
        Samples kept.
    error : ErrorModel
    location : str
    order : tuple of int
        Exponentials of the precursor and of the product.
    also : list of ndarray, optional
        Further starting points.
    start : ndarray, optional
        Start from here only, for refits of resampled data.
    like : Weighted, optional
        Take the standard deviations of this fit instead of estimating them, so that criteria compare.

    Returns
    -------
    LocationFit
    """
    model = JointModel(*order, location)
    run = runner(model, curves, also or [], limit=5 if order == (2, 2) and like is None else 2)
    if like is None:
        return summarise(model, curves, error, fit_weighted(error, curves, run, start))
    weighted = replace(like, solution=run(like.sigma, start))
    return summarise(model, curves, error, weighted)


def fit_locations(
    curves: SampledCurves, error: ErrorModel, locations: tuple[str, ...], order: tuple[int, int], rough: Array
) -> tuple[LocationFit, ...]:
    """Fit every location with one set of weights: those of the location that fits best.

    The error of the assay does not depend on where conversion takes place. It is estimated once, at the location with
    the smallest sum of squares under rough weights, and kept for all.

    Parameters
    ----------
    curves : SampledCurves
    error : ErrorModel
    locations : tuple of str
    order : tuple of int
    rough : ndarray
        Standard deviations for the first comparison.

    Returns
    -------
    tuple of LocationFit
        In the order of `locations`.
    """
    first: dict[str, Solution] = {}
    for location in locations:
        known = [s.theta for s in first.values()][:1]
        first[location] = runner(JointModel(*order, location), curves, known, 2 if known else 5)(rough, None, _ROUGH)
    best = min(first, key=lambda k: first[k].chi2)
    model = JointModel(*order, best)
    run = runner(model, curves, [s.theta for s in first.values()], limit=2)
    weighted = fit_weighted(error, curves, run)
    out = {best: summarise(model, curves, error, weighted)}
    for location in locations:
        if location != best:
            also = [first[location].theta, weighted.solution.theta]
            out[location] = fit_location(curves, error, location, order, also=also, like=weighted)
    return tuple(out[location] for location in locations)


def summarise(model: JointModel, curves: SampledCurves, error: ErrorModel, weighted: Weighted) -> LocationFit:
    """Criteria and covariance of a finished fit."""
    s = weighted.solution
    spare = curves.value.size - model.size
    gram = s.jacobian.T @ s.jacobian
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    covariance = np.linalg.pinv(gram / np.outer(scale, scale), rcond=1e-14, hermitian=True) / np.outer(scale, scale)
    if not error.known:
        covariance = covariance * s.chi2 / max(spare, 1)
    estimated = error.n_estimated(int(np.unique(curves.which).size))
    deviance = weighted.minus_two_log_likelihood(error.known)
    # with one scale estimated per curve, an interval rests on that curve's share of the degrees of freedom
    df = np.inf if error.known else max(spare, 1) / (max(len(weighted.scales), 1) if error.kind == "combined" else 1)
    return LocationFit(
        model=model,
        theta=s.theta,
        covariance=covariance,
        sigma=weighted.sigma,
        fitted=s.fitted,
        chi2=s.chi2,
        deviance=deviance,
        aicc=aicc(deviance, curves.value.size, model.size + estimated),
        runs_p=1.0 if is_exact(s.fitted - curves.value, curves) else runs_test(s.residuals, curves.which, s.jacobian),
        df=df,
        cv=weighted.cv,
        floor=weighted.floor,
        scales=weighted.scales,
    )
