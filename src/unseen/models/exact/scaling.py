"""Scalers in front of a learner: the map of each column that every training part gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.engine.fits import ManyFits
from unseen.models.exact.learner import Sample, is_sklearn
from unseen.models.exact.sums import class_moments

__all__ = ["Scaling", "harmless", "scaling_of"]

# each maps a column x to a x + b, where a and b come from the training part
SHIFTING = {"StandardScaler": "with_mean", "RobustScaler": "with_centering", "MinMaxScaler": None}
SCALING = {"StandardScaler": "with_std", "RobustScaler": "with_scaling", "MinMaxScaler": None, "MaxAbsScaler": None}
NEARLY_CONSTANT = 1e-12  # spread over size of a column; below it scikit-learn may take the column for a constant


def harmless(scalers: Sequence[Any], intercept: bool = True, may_scale: bool = True) -> bool:
    """Say whether scaling by the training part changes no prediction of the model behind it.

    Parameters
    ----------
    scalers : sequence
        Transformers in front of the model.
    intercept, may_scale : bool
        Whether the model takes shifts, and changes of scale, without another prediction.
    """
    for scaler in scalers:
        name = type(scaler).__name__
        if name not in SCALING or not is_sklearn(scaler, name) or getattr(scaler, "clip", False):
            return False
        shifts = name in SHIFTING and (SHIFTING[name] is None or bool(getattr(scaler, SHIFTING[name] or "")))
        scales = SCALING[name] is None or bool(getattr(scaler, SCALING[name] or ""))
        if (shifts and not intercept) or (scales and not may_scale):
            return False
    return True


@dataclass(frozen=True, eq=False)
class Scaling:
    """Each fit sees (x - shift) / scale.

    Parameters
    ----------
    shift, scale : ndarray, (fits, features)
        Map of each column; with one row if it is the same for all fits.
    safe : ndarray of bool, (fits,)
        Whether the map is known to all digits.
    plain : bool
        Whether there is no scaler at all.
    """

    shift: Floats
    scale: Floats
    safe: Array
    plain: bool


def scaling_of(scalers: Sequence[Any], sample: Sample, fits: ManyFits) -> Scaling | None:
    """Return what the scalers do in each fit; None if there is another transformer, or a column that hardly varies.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from unseen.core.data import Data
    >>> X = np.array([[0.0], [2.0], [7.0]])
    >>> one = ManyFits(data=Data(X, X[:, 0], "regression"), train=[np.array([0, 1])], fit=np.zeros(1, int), row=np.zeros(1, int))
    >>> found = scaling_of([StandardScaler()], Sample(X, one.data), one)
    >>> found.shift.tolist(), found.scale.tolist()
    ([[1.0]], [[1.0]])
    """
    J, p = len(fits), sample.X.shape[1]
    safe = np.ones(J, dtype=bool)
    if not scalers:
        return Scaling(np.zeros((1, p)), np.ones((1, p)), safe, True)
    if not harmless(scalers) or any(is_sklearn(s, "RobustScaler") for s in scalers):
        return None
    X = sample.X
    low, high = X.min(axis=0), X.max(axis=0)
    constant = low == high
    if np.any((high - low < NEARLY_CONSTANT * np.maximum(abs(low), abs(high))) & ~constant):
        return None
    shift, scale = np.zeros((J, p)), np.ones((J, p))
    moments = ends = None
    for scaler in scalers:
        if is_sklearn(scaler, "StandardScaler"):
            if moments is None:
                moments = class_moments(Sample(X, sample.data), fits)
                safe &= moments.safe
            # of the columns as the scalers before leave them
            mean = (moments.mean[:, 0] - shift) / scale
            spread = np.sqrt(moments.squares[:, 0] / moments.size) / scale
            to = mean if scaler.with_mean else np.zeros((J, p))
            by = np.where(spread > 0, spread, 1.0) if scaler.with_std else np.ones((J, p))
        else:
            if ends is None:
                ends = _ends(X, fits)
                safe &= ~np.any((ends[0] == ends[1]) & ~constant, axis=1)
            first, last = (ends[0] - shift) / scale, (ends[1] - shift) / scale
            if is_sklearn(scaler, "MaxAbsScaler"):
                largest = np.maximum(abs(first), abs(last))
                to, by = np.zeros((J, p)), np.where(largest > 0, largest, 1.0)
            else:
                a, b = scaler.feature_range
                width = last - first
                by = np.where(width > 0, width, 1.0) / (b - a)
                to = first - a * by
        shift, scale = shift + scale * to, scale * by
    return Scaling(shift, scale, safe, False)


def _ends(X: Floats, fits: ManyFits) -> tuple[Floats, Floats]:
    """Return the smallest and largest value of each column in each training part."""
    order = np.argsort(X, axis=0, kind="stable")
    columns = np.arange(X.shape[1])
    if fits.left_out is not None:
        out = fits.left_out[:, None]
        low = np.where(order[0] == out, X[order[1], columns], X[order[0], columns])
        high = np.where(order[-1] == out, X[order[-2], columns], X[order[-1], columns])
        return low, high
    low, high = np.empty((len(fits), X.shape[1])), np.empty((len(fits), X.shape[1]))
    there = fits.counts > 0
    for k in columns:
        sorted_ = there[:, order[:, k]]
        low[:, k] = X[order[sorted_.argmax(axis=1), k], k]
        high[:, k] = X[order[len(X) - 1 - sorted_[:, ::-1].argmax(axis=1), k], k]
    return low, high
