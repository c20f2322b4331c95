"""From a sum of exponentials to the rates of a mammillary system, and what stays an interval.

A substrate is a sampled pool (1, extracellular) with peripheral pools around it. The unit curve has the transform
``H(s) = sum a_i / (s + l_i)`` and ``1 / H(s) = s + K11 - sum_i P_i / (s + z_i)``: the zeros ``-z_i`` give the total
outflow ``z_i`` of each peripheral pool and ``P_i = k_1i k_i1`` the product of its exchange rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array

__all__ = ["Outflows", "TwoPoolInterval", "interval_identifiability", "outflows", "slow_zero"]


@dataclass(frozen=True)
class Outflows:
    """Total outflows of a mammillary substrate: what the exponentials alone determine.

    Attributes
    ----------
    central : float
        K11, total fractional outflow of the sampled pool.
    peripheral : ndarray
        z_i, total outflow of each peripheral pool, the slowest last.
    exchange : ndarray
        P_i = k_1i * k_i1 of each peripheral pool, in the same order.
    """

    central: float
    peripheral: Array
    exchange: Array

    @property
    def fast_return(self) -> float:
        """Outflow of the sampled pool into the peripheral pools other than the slowest, which lose nothing."""
        return float(np.sum(self.exchange[:-1] / self.peripheral[:-1]))


def outflows(amplitudes: ArrayLike, rates: ArrayLike) -> Outflows:
    """Total outflows from the amplitudes and rates of the sampled curve.

    Parameters
    ----------
    amplitudes, rates : array_like
        Positive amplitudes and distinct positive rates.

    Returns
    -------
    Outflows
        K11, the z_i and the P_i.

    Examples
    --------
    >>> o = outflows([0.2, 0.1], [0.16, 0.02])
    >>> round(o.central, 6), round(float(o.peripheral[0]), 6)
    (0.113333, 0.066667)
    """
    a, l = np.asarray(amplitudes, float), np.asarray(rates, float)
    a = a / a.sum()
    central = float(a @ l)
    if l.size == 1:
        return Outflows(central, np.empty(0), np.empty(0))
    if l.size == 2:
        zeros = np.array([a[0] * l[1] + a[1] * l[0]])
        return Outflows(central, zeros, np.array([a[0] * a[1] * (l[0] - l[1]) ** 2]))
    # The zeros are the eigenvalues of diag(l) restricted to the complement of sqrt(a): they interlace the rates.
    root = np.sqrt(a)
    basis = np.linalg.svd(root[None, :])[2][1:]
    zeros, vectors = np.linalg.eigh(basis @ np.diag(l) @ basis.T)
    exchange = (root * l @ basis.T @ vectors) ** 2
    order = np.argsort(zeros)[::-1]
    return Outflows(central, zeros[order], exchange[order])


def slow_zero(amplitudes: Array, rates: Array) -> float:
    """Total outflow of the slowest peripheral pool.

    Parameters
    ----------
    amplitudes, rates : ndarray
        The sampled curve.

    Returns
    -------
    float
        The smallest z_i.

    Examples
    --------
    >>> round(slow_zero(np.array([1.0, 1.0]), np.array([0.3, 0.1])), 3)
    0.2
    """
    return float(outflows(amplitudes, rates).peripheral[-1])


@dataclass(frozen=True, kw_only=True)
class TwoPoolInterval:
    """Ranges left open by one sampled pool when both pools may lose (figure 4.6).

    Each attribute is ``(lower, upper)``: the exchange rates ``k21`` and ``k12``, the losses ``k01`` and ``k02``, the
    appearance ``U`` per unit of time of the rates, and the pool ``Q2``. The lower end of ``U`` is the
    non-compartmental rate of appearance.
    """

    k21: tuple[float, float]
    k12: tuple[float, float]
    k01: tuple[float, float]
    k02: tuple[float, float]
    U: tuple[float, float]
    Q2: tuple[float, float]


def interval_identifiability(amplitudes: ArrayLike, rates: ArrayLike, dose: float) -> TwoPoolInterval:
    """Bounds on every rate of the two-pool model with loss from either pool, tracee produced in the unsampled one.

    Parameters
    ----------
    amplitudes, rates : array_like of length 2
        The sampled curve, fast term first.
    dose : float
        Dose of the tracer, in the unit of the pools.

    Returns
    -------
    TwoPoolInterval
        Lower and upper end of each quantity.

    References
    ----------
    DiStefano, J. J. (1983), American Journal of Physiology 245, R121; Ghane (2022), figure 4.6.

    Examples
    --------
    >>> r = interval_identifiability([0.2, 0.1], [0.16, 0.02], dose=3.6)
    >>> round(r.U[0], 4) == round(3.6 / (0.2 / 0.16 + 0.1 / 0.02), 4)      # lower end is dose / AUC
    True
    """
    o = outflows(amplitudes, rates)
    k11, k22, p = o.central, float(o.peripheral[-1]), float(o.exchange[-1])
    q1 = dose / float(np.sum(amplitudes))
    k12 = (p / k11, k22)
    u_high = q1 * (k22 - p / k11) * k11**2 / p
    u_low = q1 * (k11 * k22 - p) / k22
    return TwoPoolInterval(
        k21=(p / k22, k11),
        k12=k12,
        k01=(0.0, k11 - p / k22),
        k02=(0.0, k22 - p / k11),
        U=(u_low, u_high),
        Q2=(k11 * q1 / k12[1], k11 * q1 / k12[0]),
    )
