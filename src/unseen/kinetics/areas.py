"""Areas under a sampled curve: trapezoids with extrapolation at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen.core.errors import InputError

__all__ = ["Area", "terminal_slope", "trapezoid_area"]


@dataclass(frozen=True, kw_only=True)
class Area:
    """Area from zero to infinity and how much of it was not observed.

    Attributes
    ----------
    total : float
    observed : float
        Between the first and the last sample.
    back : float
        From zero to the first sample.
    tail : float
        After the last sample: its value divided by the terminal rate.
    terminal_rate : float
    points : int
        Samples on which the terminal rate rests.
    """

    total: float
    observed: float
    back: float
    tail: float
    terminal_rate: float
    points: int

    @property
    def extrapolated(self) -> float:
        """Share of the area that was extrapolated."""
        return (self.back + self.tail) / self.total


def terminal_slope(t: NDArray, y: NDArray) -> tuple[float, int]:
    """Terminal rate by log-linear regression on the last points, as many as give the best adjusted R squared.

    Parameters
    ----------
    t, y : ndarray
        Samples after the largest one.

    Returns
    -------
    rate : float
        NaN where the tail does not fall.
    points : int

    Examples
    --------
    >>> t = np.array([10., 20, 30, 40])
    >>> rate, points = terminal_slope(t, np.exp(-0.05 * t))
    >>> round(rate, 6), points
    (0.05, 4)
    """
    keep = y > 0
    t, y = t[keep], np.log(y[keep])
    best = (np.nan, 0)
    best_fit = -np.inf
    for count in range(3, t.size + 1):
        x, z = t[-count:], y[-count:]
        slope, intercept = np.polyfit(x, z, 1)
        total = np.sum((z - z.mean()) ** 2)
        error = np.sum((z - slope * x - intercept) ** 2)
        adjusted = 1 - (error / total if total > 0 else 1.0) * (count - 1) / (count - 2)
        # ties go to the longer tail
        if slope < 0 and adjusted >= best_fit - 1e-4:
            best, best_fit = (float(-slope), count), max(adjusted, best_fit)
    return best


def trapezoid_area(time: ArrayLike, value: ArrayLike, starts_at_zero: bool = False) -> Area:
    """Area by the linear-up log-down trapezoid, extended to time zero and to infinity.

    Parameters
    ----------
    time, value : array_like
        Samples in order of time.
    starts_at_zero : bool
        Whether the curve is zero at time zero (a formed product); otherwise the first two samples are extended
        back log-linearly (a bolus).

    Returns
    -------
    Area

    References
    ----------
    Gabrielsson, J. and Weiner, D. (2012), Methods in Molecular Biology 929, 377-389.

    Examples
    --------
    >>> t = np.array([1., 2, 4, 8])
    >>> round(trapezoid_area(t, np.exp(-0.5 * t)).total, 6)      # exact for one exponential: 1 / 0.5
    2.0
    """
    t, y = np.asarray(time, float), np.asarray(value, float)
    order = np.argsort(t)
    t, y = t[order], y[order]
    if t.size < 3:
        raise InputError(f"{t.size} samples are too few for an area; 3 are needed.")
    observed = _pieces(t, y)
    if starts_at_zero:
        back = float(t[0] * y[0] / 2)
    else:
        first = _intercept(t, y)
        back = _piece(0.0, t[0], first, y[0])
    peak = int(np.argmax(y))
    rate, points = terminal_slope(t[peak:] if starts_at_zero else t, y[peak:] if starts_at_zero else y)
    if not np.isfinite(rate):
        raise InputError("the last three positive samples do not fall, so the area after the last sample is unknown.")
    tail = float(max(y[-1], 0.0) / rate)
    return Area(
        total=observed + back + tail, observed=observed, back=back, tail=tail, terminal_rate=rate, points=points
    )


def _intercept(t: NDArray, y: NDArray) -> float:
    """Value at time zero from the first two samples, log-linear where they fall, else the first."""
    if y[0] > y[1] > 0:
        slope = np.log(y[1] / y[0]) / (t[1] - t[0])
        return float(y[0] * np.exp(-slope * t[0]))
    return float(y[0])


def _piece(t0: float, t1: float, y0: float, y1: float) -> float:
    if y0 > y1 > 0:
        return float((y0 - y1) * (t1 - t0) / np.log(y0 / y1))
    return float((y0 + y1) * (t1 - t0) / 2)


def _pieces(t: NDArray, y: NDArray) -> float:
    return float(sum(_piece(*pair) for pair in zip(t[:-1], t[1:], y[:-1], y[1:])))
