"""Sums of decaying exponentials and their convolution by divided differences (Ghane, 2022, theorem 3, mended).

Every rate is positive and every curve is written with ``exp(-rate * t)``. The convolution of two exponentials is the
divided difference ``phi(t; a, b) = (exp(-a t) - exp(-b t)) / (b - a)``, which stays exact when the rates meet.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array

__all__ = ["divided_difference", "divided_difference_slopes", "exponential_sum", "product_curve"]

_SERIES_BELOW = 0.5  # below it the closed form loses more than a digit
_SERIES_TERMS = 16  # the first term left out is below rounding there
_G1_SERIES = [(-1.0) ** k / factorial(k + 2) for k in range(_SERIES_TERMS)]


def exponential_sum(t: ArrayLike, amplitudes: ArrayLike, rates: ArrayLike) -> Array:
    """Evaluate ``sum_i amplitudes[i] * exp(-rates[i] * t)``.

    Parameters
    ----------
    t : array_like
        Times.
    amplitudes, rates : array_like of the same length
        Coefficients and positive rates.

    Returns
    -------
    ndarray
        The curve at each time.

    Examples
    --------
    >>> float(exponential_sum(0.0, [2.0, 1.0], [0.3, 0.1]))
    3.0
    """
    t = np.asarray(t)
    result: Array = np.exp(-np.multiply.outer(t, np.asarray(rates))) @ np.asarray(amplitudes)
    return result


def _g(x: Array) -> Array:
    """Return ``(1 - exp(-x)) / x``, one at zero."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, -np.expm1(-safe) / safe)


def _g1(x: Array) -> Array:
    """Return ``(x - 1 + exp(-x)) / x**2`` by series if the closed form loses digits."""
    small = np.abs(x) < _SERIES_BELOW
    safe = np.where(small, 1.0, x)
    series = np.zeros_like(x)
    for coefficient in reversed(_G1_SERIES):
        series = series * np.where(small, x, 0.0) + coefficient
    return np.where(small, series, (1 - _g(safe)) / safe)


def _order_rates(t: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array, Array]:
    t, a, b = np.broadcast_arrays(np.asarray(t), np.asarray(a), np.asarray(b))
    swap = np.real(a) > np.real(b)
    low, high = np.where(swap, b, a), np.where(swap, a, b)
    return t, low, (high - low) * t, swap


def divided_difference(t: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Convolution of ``exp(-a t)`` with ``exp(-b t)``, without loss of digits when ``a`` is near ``b``.

    Parameters
    ----------
    t, a, b : array_like
        Time and the two rates; they broadcast against each other.

    Returns
    -------
    ndarray
        ``(exp(-a t) - exp(-b t)) / (b - a)``, and ``t exp(-a t)`` if the rates are equal.

    Examples
    --------
    >>> round(float(divided_difference(10.0, 0.1, 0.1)), 6)      # t exp(-a t)
    3.678794
    """
    t, low, x, _ = _order_rates(t, a, b)
    result: Array = t * np.exp(-low * t) * _g(x)
    return result


def divided_difference_slopes(t: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Derivatives of :func:`divided_difference` with respect to each rate.

    Parameters
    ----------
    t, a, b : array_like
        Time and the two rates.

    Returns
    -------
    by_a, by_b : ndarray
        The two partial derivatives.

    Examples
    --------
    >>> by_a, by_b = divided_difference_slopes(2.0, 0.5, 0.5)    # both are -t^2/2 exp(-a t)
    >>> round(float(by_a), 6), round(float(by_b), 6)
    (-0.735759, -0.735759)
    """
    t, low, x, swap = _order_rates(t, a, b)
    front = -(t**2) * np.exp(-low * t)
    g1 = _g1(x)
    by_low, by_high = front * g1, front * (_g(x) - g1)
    return np.where(swap, by_high, by_low), np.where(swap, by_low, by_high)


def product_curve(
    t: ArrayLike,
    amplitudes: ArrayLike,
    rates: ArrayLike,
    product_amplitudes: ArrayLike,
    product_rates: ArrayLike,
    kappa: float = 1.0,
) -> Array:
    """Curve of the formed product: ``kappa`` times the convolution of two sums of exponentials (theorem 3).

    Parameters
    ----------
    t : array_like
        Times.
    amplitudes, rates : array_like
        The precursor curve, n terms.
    product_amplitudes, product_rates : array_like
        The curve of the dosed product, m terms.
    kappa : float
        Conversion multiplier; ``kappa * dose_product`` is the conversion flux.

    Returns
    -------
    ndarray
        The curve at each time; zero at time zero.

    References
    ----------
    Ghane, P. (2022), dissertation, Texas A&M University, chapter 4, theorem 3.

    Examples
    --------
    >>> round(float(product_curve(10.0, [1.0], [0.1], [1.0], [0.2])), 6)   # (e^-1 - e^-2) / 0.1
    2.325442
    """
    a, l = np.asarray(amplitudes), np.asarray(rates)
    b, g = np.asarray(product_amplitudes), np.asarray(product_rates)
    phi = divided_difference(np.asarray(t)[..., None, None], l[:, None], g[None, :])
    result: Array = kappa * np.einsum("...ij,i,j->...", phi, a, b)
    return result
