"""Shape of the formed product's curve for each location of the conversion.

A conversion out of or into the unsampled pool changes the amplitudes, not the rates: the four locations and the
whole-body variant are all sums of the same divided differences. Every shape is scaled to the same area, so that the
fitted multiplier ``kappa`` is ``AUC_product / (AUC_precursor * AUC_dosed_product)`` whatever the location.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.arrays import Array
from unseen.kinetics.exponentials import divided_difference, divided_difference_slopes
from unseen.kinetics.mammillary import outflows

__all__ = ["LOCATIONS", "formed_curve", "locations_for", "pool_amplitudes"]

LOCATIONS = ("EC-EC", "IC-IC", "IC-EC", "EC-IC", "whole-body")


def locations_for(n: int, m: int) -> tuple[str, ...]:
    """Locations that exist for n precursor pools and m product pools.

    Parameters
    ----------
    n, m : int
        Numbers of exponentials.

    Returns
    -------
    tuple of str
        A subset of ``LOCATIONS``; a single pool has no intracellular side.

    Examples
    --------
    >>> locations_for(1, 2)
    ('EC-EC', 'EC-IC')
    """
    keep = []
    for location in LOCATIONS[:4]:
        source, target = location.split("-")
        if (source == "EC" or n > 1) and (target == "EC" or m > 1):
            keep.append(location)
    if n == m == 2:
        keep.append("whole-body")
    return tuple(keep)


def pool_amplitudes(a: Array, l: Array, pool: str) -> tuple[Array, Array, Array]:
    """Amplitudes of the curve of one pool, scaled to the area of the sampled curve, and their derivatives.

    Parameters
    ----------
    a, l : ndarray
        Amplitudes and rates of the sampled curve.
    pool : {"EC", "IC"}
        Sampled pool, or the slowest unsampled one.

    Returns
    -------
    amplitudes : ndarray of shape (n,)
    by_a, by_l : ndarray of shape (n, n)
        Derivative of each amplitude (row) by each a and by each l (column).

    Examples
    --------
    >>> c, _, _ = pool_amplitudes(np.array([0.2, 0.1]), np.array([0.16, 0.02]), "IC")
    >>> bool(abs(c.sum()) < 1e-15)                              # an unsampled pool starts empty
    True
    """
    n = a.size
    if pool == "EC":
        return a, np.eye(n), np.zeros((n, n))
    if n == 2:
        gap = l[0] - l[1]
        c = (a[0] * l[1] + a[1] * l[0]) / gap
        by_a = np.array([l[1], l[0]]) / gap
        by_l = np.array([a[1] - c, a[0] + c]) / gap
        sign = np.array([-1.0, 1.0])
        return sign * c, np.outer(sign, by_a), np.outer(sign, by_l)
    z = outflows(a, l).peripheral[-1]
    d = z - l
    curvature = np.sum(a / d**2)
    z_by_a, z_by_l = 1 / d / curvature, a / d**2 / curvature
    out = a * z / d
    by_z = -a * l / d**2
    by_a = np.diag(z / d) + np.outer(by_z, z_by_a)
    by_l = np.diag(a * z / d**2) + np.outer(by_z, z_by_l)
    return out, by_a, by_l


def _cumulants(a: Array, l: Array) -> tuple[float, float]:
    total = a.sum()
    return (a @ l) / total, (a[0] * l[1] + a[1] * l[0]) / total


def _hidden_share(a: Array, l: Array) -> tuple[float, Array, Array]:
    """Ratio (K11 - l2) / K22 of a two-pool substrate with one loss rate, and its derivatives by a and l."""
    total = a.sum()
    k11, k22 = _cumulants(a, l)
    ratio = (k11 - l[1]) / k22
    k11_a, k22_a = (l - k11) / total, (l[::-1] - k22) / total
    k11_l, k22_l = a / total, a[::-1] / total
    by_a = (k11_a - ratio * k22_a) / k22
    by_l = (k11_l - np.array([0.0, 1.0]) - ratio * k22_l) / k22
    return ratio, by_a, by_l


def _hidden_return(b: Array, g: Array) -> tuple[float, Array, Array]:
    """Ratio (K44 - g2) / K44: the share of the unsampled product pool's outflow that returns."""
    total = b.sum()
    _, k44 = _cumulants(b, g)
    ratio = 1 - g[1] / k44
    k44_b, k44_g = (g[::-1] - k44) / total, b[::-1] / total
    by_b = g[1] / k44**2 * k44_b
    by_g = g[1] / k44**2 * k44_g - np.array([0.0, 1.0]) / k44
    return ratio, by_b, by_g


def formed_curve(
    t: Array, a: Array, l: Array, b: Array, g: Array, location: str, slopes: bool = True
) -> tuple[Array, Array | None]:
    """Curve of the formed product for ``kappa = 1`` and its Jacobian by (a, l, b, g).

    Parameters
    ----------
    t : ndarray
        Times.
    a, l, b, g : ndarray
        Precursor amplitudes and rates, product amplitudes and rates.
    location : str
        One of ``LOCATIONS``.
    slopes : bool
        Whether the Jacobian is wanted.

    Returns
    -------
    curve : ndarray of shape (t,)
    jacobian : ndarray of shape (t, 2n + 2m) or None

    Examples
    --------
    >>> one = np.array([1.0]), np.array([0.1]), np.array([1.0]), np.array([0.2])
    >>> round(float(formed_curve(np.array([10.0]), *one, "EC-EC")[0][0]), 6)
    2.325442
    """
    grid = t[:, None, None], l[None, :, None], g[None, None, :]
    phi = divided_difference(*grid)
    by_rates = divided_difference_slopes(*grid) if slopes else None
    if location != "whole-body":
        return _one_location(phi, by_rates, a, l, b, g, location)
    share, share_a, share_l = _hidden_share(a, l)
    back, back_b, back_g = _hidden_return(b, g)
    odds = share * back
    w = 1 / (1 + odds)
    sampled, sampled_j = _one_location(phi, by_rates, a, l, b, g, "EC-EC")
    hidden, hidden_j = _one_location(phi, by_rates, a, l, b, g, "IC-IC")
    curve = w * sampled + (1 - w) * hidden
    if sampled_j is None or hidden_j is None:
        return curve, None
    odds_slopes = np.concatenate([share_a * back, share_l * back, back_b * share, back_g * share])
    return curve, w * sampled_j + (1 - w) * hidden_j + np.outer(hidden - sampled, w**2 * odds_slopes)


def _one_location(
    phi: Any, by_rates: Any, a: Array, l: Array, b: Array, g: Array, location: str
) -> tuple[Array, Array | None]:
    source, target = location.split("-")
    c, c_a, c_l = pool_amplitudes(a, l, source)
    d, d_b, d_g = pool_amplitudes(b, g, target)
    over_j = phi @ d
    curve = over_j @ c
    if by_rates is None:
        return curve, None
    over_i = np.einsum("tij,i->tj", phi, c)
    by_l = over_j @ c_l + (by_rates[0] @ d) * c
    by_g = over_i @ d_g + np.einsum("tij,i->tj", by_rates[1], c) * d
    return curve, np.concatenate([over_j @ c_a, by_l, over_i @ d_b, by_g], axis=1)
