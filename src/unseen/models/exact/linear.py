"""Linear models whose weights on parts of the data solve the normal equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.engine.fits import ManyFits
from unseen.models.exact.components import Components, components_of
from unseen.models.exact.hat import apply_weights, factorize
from unseen.models.exact.learner import Sample
from unseen.models.exact.scaling import Scaling, harmless, scaling_of
from unseen.models.exact.scatter import changed_scatter, invert, split_fits
from unseen.models.exact.sums import changed_sums

__all__ = ["linear_predictions"]

MAX_WEIGHTS = 2000  # the normal equations then take 32 MB
SMALLEST = 1e-7  # eigenvalue of the equations over the mean one, below which refitting is the safe way


def linear_predictions(
    scalers: Sequence[Any],
    penalty: float,
    intercept: bool,
    sample: Sample,
    targets: Floats,
    fits: ManyFits,
    cutoff: float = 0.0,
) -> tuple[Floats, Array] | None:
    """Return the wanted predictions of penalised least squares, and which fits are safe; None if refitting is the exact way.

    Parameters
    ----------
    scalers : sequence
        Transformers in front of the model; the last may be a principal component analysis.
    penalty, intercept : float, bool
        Of every weight but the intercept; whether a constant is fitted.
    sample, fits : Sample, ManyFits
        What is fitted on what.
    targets : ndarray, (n, targets)
        What is predicted.
    cutoff : float
        Singular value, over the largest, below which the learner drops a direction.
    """
    if sample.X.shape[1] > MAX_WEIGHTS:
        return None
    if harmless(scalers, intercept, may_scale=penalty == 0):
        fit = factorize(sample.X, targets, penalty, intercept, sample.weights, cutoff, bool(scalers))
        return None if fit is None else fit.predictions(fits)
    if not intercept:
        return None
    components = components_of(scalers, sample, fits)
    scaling = scaling_of(scalers, sample, fits) if components is None else components.scaling
    if scaling is None:
        return None
    return _by_own_units(scaling, penalty, sample, targets, fits, components)


def _by_own_units(
    scaling: Scaling, penalty: float, sample: Sample, targets: Floats, fits: ManyFits, components: Components | None
) -> tuple[Floats, Array] | None:
    """Solve each fit's equations: a scaler gives each of its weights a penalty of its own, and components turn all of them."""
    n, p = sample.X.shape
    units = np.median(scaling.scale, axis=0)
    w = np.ones(n) if sample.weights is None else sample.weights
    rows = np.column_stack([np.ones(n), (sample.X - np.average(sample.X, axis=0, weights=w)) / units])
    weighted = rows * np.sqrt(w)[:, None]
    q = targets.shape[1]
    products = (rows[:, :, None] * (w[:, None] * targets)[:, None, :]).reshape(n, (p + 1) * q)
    out, safe = np.empty((len(fits), p + 1, q)), scaling.safe.copy()
    for which in split_fits(fits, 3 * (p + 1) ** 2):
        part = fits.some(which) if len(which) < len(fits) else fits
        system = weighted.T @ weighted + changed_scatter(part, weighted)[:, 0]
        right = (products.sum(axis=0) + changed_sums(part, products)[:, 0]).reshape(-1, p + 1, q)
        if components is None:
            own = np.square(scaling.scale[which if len(scaling.scale) > 1 else [0]] / units)
        else:
            maps, fine = components.maps(part, which)
            safe[which] &= fine
            turn = np.zeros((len(which), p + 1, components.kept + 1))
            turn[:, 0, 0], turn[:, 1:, 1:] = 1.0, units[:, None] * maps
            back = turn.transpose(0, 2, 1)
            system, right, own = back @ system @ turn, back @ right, np.ones((len(which), components.kept))
        each = np.arange(1, system.shape[1])
        system[:, each, each] += penalty * own
        inverse = invert(system)
        safe[which] &= inverse.smallest > SMALLEST * np.einsum("jpp->j", system) / system.shape[1]
        solved = inverse.factor.transpose(0, 2, 1) @ (inverse.factor @ right)
        out[which] = solved if components is None else turn @ solved
    return apply_weights(fits, rows, out), safe
