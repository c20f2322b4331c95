"""Sizes of kernels: as given, checked, or from the distances between nearest neighbours of a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.resubstitution._neighbours import nearest_distances

__all__ = ["check_scale", "covariances", "given_sizes", "mean_nearest", "members"]


def members(X: Floats, codes: Ints, classes: Array, code: int) -> Floats | None:
    """Return the points of a class, None where it is empty, and refuse a single one."""
    points = X[codes == code]
    if len(points) == 1:
        raise InputError(
            f"class {classes[code].item()!r} has one point; the distance to its nearest neighbour needs at least two. "
            "Merge or drop the class, collect more of it, or give bandwidth= as a number."
        )
    return points if len(points) else None


def given_sizes(bandwidth: Any, n_classes: int, kernel: str) -> Floats | None:
    """Return bandwidths given as numbers, one per class; None where they come from nearest neighbours."""
    if isinstance(bandwidth, str):
        if bandwidth != "nearest":
            raise UnknownName(
                "bandwidth",
                bandwidth,
                ("nearest",),
                "A number of at least 0 works too; calibrated-bolster calibrates it.",
            )
        return None
    try:
        values = np.asarray(bandwidth, dtype=float)
    except (TypeError, ValueError) as error:
        raise KindError(f"bandwidth is {bandwidth!r}; give 'nearest', a number, or one number per class.") from error
    if values.ndim == 0:
        values = np.full(n_classes, float(values))
    if kernel != "diagonal" and values.shape != (n_classes,):
        raise InputError(
            f"bandwidth has shape {values.shape}; there are {n_classes} classes, so give {n_classes} numbers."
        )
    if np.any(np.isnan(values)) or np.any(values < 0):
        raise InputError(f"bandwidth is {bandwidth!r}; a standard deviation or radius is a number of at least 0.")
    return values


def mean_nearest(X: Floats, codes: Ints, classes: Array, max_queries: int) -> Floats:
    """Return the mean distance of a class's points to their nearest neighbours, 0 for an empty class."""
    out = np.zeros(len(classes))
    for code in range(len(classes)):
        points = members(X, codes, classes, code)
        if points is not None:
            out[code] = nearest_distances(points, max_queries).mean()
    return out


def check_scale(scale: float) -> None:
    """Refuse a factor that is negative or not a finite number."""
    if not isinstance(scale, (int, float, np.floating)) or not 0 <= scale < np.inf:
        raise InputError(f"scale is {scale!r}; the factor kappa on the kernel's size is a number of at least 0.")


def covariances(given: Any, n_classes: int, d: int) -> Floats:
    """Return a covariance matrix for each class, refusing what is not one."""
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise KindError(
            f"covariance is a {type(given).__name__}; give a {d} x {d} matrix, or one per class."
        ) from error
    if values.shape == (d, d):
        values = np.repeat(values[None], n_classes, axis=0)
    if values.shape != (n_classes, d, d):
        raise InputError(f"covariance has shape {values.shape}; it must be ({d}, {d}) or ({n_classes}, {d}, {d}).")
    if not np.all(np.isfinite(values)) or not np.allclose(values, values.transpose(0, 2, 1)):
        raise InputError("covariance must be finite and symmetric.")
    if np.any(np.linalg.eigvalsh(values) < -1e-10 * np.abs(values).max()):
        raise InputError("covariance has a negative eigenvalue; a covariance matrix has none.")
    return values
