"""Kernels sized for one sample: how they move points, how wide they are along a direction."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc, gammainc, gammaincinv, ndtr

from unseen.core.arrays import Floats, Ints

__all__ = ["Spread", "median_of_chi"]


def median_of_chi(d: int) -> float:
    """Return alpha_d, the median distance from the centre of a standard normal point in d dimensions.

    References
    ----------
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> [round(median_of_chi(d), 4) for d in (1, 2, 3, 10)]
    [0.6745, 1.1774, 1.5382, 3.0564]
    """
    return float(np.sqrt(2 * gammaincinv(d / 2, 0.5)))


@dataclass(frozen=True, eq=False)
class Spread:
    """The kernels of c classes in d dimensions, sized for one sample.

    Parameters
    ----------
    factor : ndarray of shape (c,), (c, d) or (c, d, d)
        Standard deviation (or radius) of each class, of each coordinate, or a square root of the covariance.
    d : int
        Number of dimensions.
    ball : bool
        Uniform in a ball instead of Gaussian.

    Examples
    --------
    >>> s = Spread(np.array([1.0, 2.0]), d=3)
    >>> s.along(np.array([0.0, 3.0, 4.0])).tolist(), s.scaled(2.0).bandwidth.tolist()
    ([5.0, 10.0], [2.0, 4.0])
    """

    factor: Floats
    d: int
    ball: bool = False

    def scaled(self, kappa: float) -> Spread:
        """Return the same kernels with every standard deviation multiplied by `kappa`."""
        return replace(self, factor=self.factor * kappa)

    @property
    def bandwidth(self) -> Floats:
        """Root mean variance over coordinates of each class (the radius of a ball)."""
        if self.factor.ndim == 1:
            return self.factor
        axes = tuple(range(1, self.factor.ndim))
        return np.asarray(np.sqrt((self.factor**2).sum(axis=axes) / self.d))

    def moved(self, z: Floats, codes: Ints) -> Floats:
        """Turn standard normal rows into displacements from points of the classes `codes`."""
        if self.ball:
            length = np.sqrt(np.einsum("ij,ij->i", z, z))
            radius = gammainc(self.d / 2, length**2 / 2) ** (1 / self.d)
            return np.asarray(z * (self.factor[codes] * radius / length)[:, None])
        if self.factor.ndim < 3:
            return z * (self.factor[codes][:, None] if self.factor.ndim == 1 else self.factor[codes])
        out = np.empty_like(z)
        for code in np.unique(codes):
            rows = codes == code
            out[rows] = z[rows] @ self.factor[code].T
        return out

    def along(self, direction: Floats) -> Floats:
        """Return sqrt(a' K a) of each class; for a ball, radius times |a|."""
        with np.errstate(invalid="ignore"):
            if self.factor.ndim == 1:
                return np.asarray(self.factor * np.linalg.norm(direction))
            if self.factor.ndim == 2:
                return np.asarray(np.linalg.norm(self.factor * direction, axis=1))
            return np.asarray(np.linalg.norm(direction @ self.factor, axis=1))

    def mapped(self, directions: Floats, code: int) -> Floats:
        """Return A F for the rows A of `directions`, so that A K A' = (A F)(A F)' in the class."""
        factor = self.factor[code]
        return np.asarray(directions @ factor if factor.ndim == 2 else directions * factor)

    def below(self, t: Floats) -> Floats:
        """Return the share of a kernel below t, t in units of `along`."""
        if not self.ball:
            return np.asarray(ndtr(t))
        half = (self.d + 1) / 2  # a ball's shadow on a line: (u + 1)/2 is Beta(half, half)
        return np.asarray(betainc(half, half, (np.clip(t, -1, 1) + 1) / 2))
