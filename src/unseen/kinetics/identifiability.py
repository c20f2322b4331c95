"""How well the data determine the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array
from unseen.core.notes import Note, note
from unseen.kinetics.joint import RATE_BOUNDS, SampledCurves
from unseen.kinetics.location_fit import LocationFit

__all__ = ["Identifiability", "identifiability"]

_HIGH_CORRELATION = 0.95  # beyond it one parameter can stand for the other
_CLOSE_RATES = 2.0  # ratio of two rates below which the usual 12 samples hardly separate them
_LOOSE = 0.5  # standard error on the log scale: within two standard errors of zero


@dataclass(frozen=True, kw_only=True)
class Identifiability:
    """Diagnostics of one joint fit.

    Attributes
    ----------
    names : tuple of str
        Parameters.
    singular_values : ndarray
        Of the weighted Jacobian with columns scaled to length one.
    condition : float
        Largest over smallest singular value.
    collinearity : float
        One over the smallest singular value (Brun, Reichert and Kuensch, 2001); above 15 is poor.
    correlations : ndarray
        Correlation matrix of the log parameters.
    relative_errors : ndarray
        Standard error of each log parameter, about the relative error of the parameter.
    notes : tuple of Note
    """

    names: tuple[str, ...]
    singular_values: Array
    condition: float
    collinearity: float
    correlations: Array
    relative_errors: Array
    notes: tuple[Note, ...]


def identifiability(fit: LocationFit, curves: SampledCurves) -> Identifiability:
    """Singular values, correlations and flags of a fit.

    Parameters
    ----------
    fit : LocationFit
    curves : SampledCurves

    Returns
    -------
    Identifiability
    """
    jac = fit.model.predict_slopes(fit.theta, curves.time, curves.which)[1] / fit.sigma[:, None]
    lengths = np.linalg.norm(jac, axis=0)
    values = np.linalg.svd(jac / np.maximum(lengths, 1e-300), compute_uv=False)
    errors = np.sqrt(np.maximum(np.diag(fit.covariance), 0))
    correlations = fit.covariance / np.maximum(np.outer(errors, errors), 1e-300)
    smallest = max(values[-1], 1e-300)
    return Identifiability(
        names=fit.model.names,
        singular_values=values,
        condition=float(values[0] / smallest),
        collinearity=float(1 / smallest),
        correlations=correlations,
        relative_errors=errors,
        notes=_flags(fit, correlations, errors),
    )


def _flags(fit: LocationFit, correlations: Array, errors: Array) -> tuple[Note, ...]:
    names, out = fit.model.names, []
    for i, j in zip(*np.triu_indices(len(names), 1)):
        if abs(correlations[i, j]) > _HIGH_CORRELATION:
            out.append(note("K007", f"{names[i]} and {names[j]} are correlated {correlations[i, j]:+.3f}"))
    for name, error in zip(names, errors):
        if error > _LOOSE:
            out.append(note("K007", f"{name} is within two standard errors of zero (relative error {error:.0%})"))
    low, high = fit.model.bounds()
    for name, value, a, b in zip(names, fit.theta, low, high):
        if value < a + 1e-3 or value > b - 1e-3:
            fast = "; is time_unit right?" if value > b - 1e-3 and b == np.log(RATE_BOUNDS[1]) else ""
            out.append(note("K007", f"{name} ended at its bound ({np.exp(value):.3g}){fast}"))
    _, l, _, g, _ = fit.model.unpack(fit.theta)
    for label, rates in (("precursor", l), ("product", g)):
        ratios = rates[:-1] / rates[1:]
        if (ratios < _CLOSE_RATES).any():
            out.append(note("K007", f"two rates of the {label} differ by a factor of {ratios.min():.2f} only"))
    return tuple(out)
