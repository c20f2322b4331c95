"""Kernels put around training points: spherical, diagonal, full covariance, uniform ball (Braga-Neto & Dougherty, 2004)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import betainc, gammainc, gammaincinv, ndtr

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.resubstitution._neighbours import gaps_by_column, nearest_distances

__all__ = [
    "KERNELS",
    "Diagonal",
    "Full",
    "Kernel",
    "Spherical",
    "Spread",
    "UniformBall",
    "as_kernel",
    "check_scale",
    "covariances",
    "fixed_sizes",
    "mean_nearest",
    "median_of_chi",
    "members",
]


def members(X: Floats, codes: Ints, classes: Array, code: int) -> Floats | None:
    """Return the points of a class, None if it is empty, and refuse a single one."""
    points = X[codes == code]
    if len(points) == 1:
        raise InputError(
            f"class {classes[code].item()!r} has one point; the distance to its nearest neighbour needs at least two. "
            "Merge or drop the class, collect more of it, or give bandwidth= as a number."
        )
    return points if len(points) else None


def fixed_sizes(bandwidth: Any, n_classes: int, kernel: str) -> Floats | None:
    """Return bandwidths given as numbers, one per class; None if they come from nearest neighbours."""
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


def mean_nearest(X: Floats, codes: Ints, classes: Array, max_queries: int | None) -> tuple[Floats, Floats]:
    """Return the mean distance of a class's points to their nearest neighbours, 0 for an empty class, and its relative error.

    The error is the standard error that comes from asking some of the points; 0 if all are asked.
    """
    means, errors = np.zeros(len(classes)), np.zeros(len(classes))
    for code in range(len(classes)):
        points = members(X, codes, classes, code)
        if points is not None:
            means[code], errors[code] = _mean_distance(points, max_queries)
    return means, errors


def _mean_distance(points: Floats, max_queries: int | None) -> tuple[float, float]:
    """Return the mean distance to the nearest neighbour, and its relative standard error."""
    found = nearest_distances(points, max_queries)
    mean, missed = float(found.mean()), 1 - len(found) / len(points)
    if missed == 0 or mean == 0:
        return mean, 0.0
    return mean, float(found.std(ddof=1)) / mean * math.sqrt(missed / len(found))


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
    relative_error : ndarray of shape (c,) or None
        Relative standard error of each class's size, if it comes from some of the points of the class.

    Examples
    --------
    >>> s = Spread(np.array([1.0, 2.0]), d=3)
    >>> s.along(np.array([0.0, 3.0, 4.0])).tolist(), s.scale(2.0).bandwidth.tolist()
    ([5.0, 10.0], [2.0, 4.0])
    """

    factor: Floats
    d: int
    ball: bool = False
    relative_error: Floats | None = None

    def scale(self, kappa: float) -> Spread:
        """Return the same kernels with every standard deviation multiplied by `kappa`."""
        return replace(self, factor=self.factor * kappa)

    @property
    def bandwidth(self) -> Floats:
        """Root mean variance over coordinates of each class (the radius of a ball)."""
        if self.factor.ndim == 1:
            return self.factor
        axes = tuple(range(1, self.factor.ndim))
        return np.asarray(np.sqrt((self.factor**2).sum(axis=axes) / self.d))

    def displace(self, z: Floats, codes: Ints) -> Floats:
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

    def project(self, directions: Floats, code: int) -> Floats:
        """Return A F for the rows A of `directions`, so that A K A' = (A F)(A F)' in the class."""
        factor = self.factor[code]
        return np.asarray(directions @ factor if factor.ndim == 2 else directions * factor)

    def below(self, t: Floats) -> Floats:
        """Return the share of a kernel below t, t in units of `along`."""
        if not self.ball:
            return np.asarray(ndtr(t))
        half = (self.d + 1) / 2  # a ball's shadow on a line: (u + 1)/2 is Beta(half, half)
        return np.asarray(betainc(half, half, (np.clip(t, -1, 1) + 1) / 2))


Bandwidth = str | float | Sequence[float]


class Kernel(Protocol):
    """A shape and a rule for its size; `spread` sizes it for a sample."""

    id: ClassVar[str]

    def spread(self, X: Floats, codes: Ints, classes: Array) -> Spread:
        """Return the kernels of each class."""
        ...


@dataclass(frozen=True)
class Spherical:
    """Gaussian with the same variance in every direction.

    Parameters
    ----------
    bandwidth : "nearest", float or sequence of float
        Standard deviation: the class's mean nearest-neighbour distance over alpha_d, or given (one, or one per class).
    scale : float
        Factor kappa on the standard deviation.
    max_queries : int or None
        In a larger class of more than four dimensions so many points, drawn with a fixed seed, are asked for their neighbour
        among all: the cost stays linear in n. None: all points of a class of up to 200,000 in six dimensions, 30,000 in a
        hundred, 12,500 in more, and 5,000 points of a larger one; the standard deviation of kernels on normal data then has a
        relative error of 0.6% in five dimensions, 0.3% in ten (twice that with the heavy tails of a t of 3 degrees).

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> Spherical().spread(X, codes, np.array([0, 1])).bandwidth.round(4).tolist()
    [1.4826, 2.9652]
    """

    bandwidth: Bandwidth = "nearest"
    scale: float = 1.0
    max_queries: int | None = None
    id: ClassVar[str] = "spherical"

    def spread(self, X: Floats, codes: Ints, classes: Array) -> Spread:
        """Return the kernels of each class."""
        check_scale(self.scale)
        sizes = fixed_sizes(self.bandwidth, len(classes), self.id)
        error = None
        if sizes is None:
            means, error = mean_nearest(X, codes, classes, self.max_queries)
            sizes = means / median_of_chi(X.shape[1])
        return Spread(sizes * self.scale, X.shape[1], relative_error=error)


@dataclass(frozen=True)
class UniformBall:
    """Uniform in a ball; its median distance from the centre matches the mean nearest-neighbour distance.

    Parameters
    ----------
    bandwidth : "nearest", float or sequence of float
        Radius: the class's mean nearest-neighbour distance times 2^(1/d), or given (one, or one per class).
    scale : float
        Factor kappa on the radius.
    max_queries : int or None
        As in `Spherical`.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> UniformBall().spread(X, codes, np.array([0, 1])).bandwidth.tolist()
    [2.0, 4.0]
    """

    bandwidth: Bandwidth = "nearest"
    scale: float = 1.0
    max_queries: int | None = None
    id: ClassVar[str] = "uniform-ball"

    def spread(self, X: Floats, codes: Ints, classes: Array) -> Spread:
        """Return the kernels of each class."""
        check_scale(self.scale)
        sizes = fixed_sizes(self.bandwidth, len(classes), self.id)
        error = None
        if sizes is None:
            means, error = mean_nearest(X, codes, classes, self.max_queries)
            sizes = means * 2 ** (1 / X.shape[1])
        return Spread(sizes * self.scale, X.shape[1], ball=True, relative_error=error)


@dataclass(frozen=True)
class Diagonal:
    """Gaussian with a variance of its own in every coordinate ("naive Bayes" bolstering).

    Parameters
    ----------
    bandwidth : "nearest", float or array
        Standard deviation: the class's mean distance, coordinate by coordinate, to the nearest value over alpha_1,
        or given (one, one per class, or an array of classes x coordinates).
    nearest : {"distinct", "any"}
        Nearest different value, or nearest value with ties counting as 0 (the printed form, which gives kernels of
        size 0 if most values of a coordinate are equal).
    scale : float
        Factor kappa on the standard deviations.

    References
    ----------
    Jiang, X. and Braga-Neto, U. (2014). A naive-Bayes approach to bolstered error estimation in high-dimensional spaces.
    IEEE International Workshop on Genomic Signal Processing and Statistics.

    Examples
    --------
    >>> X, codes = np.array([[0.0, 3.0], [1.0, 3.0], [5.0, 0.0], [7.0, 1.0]]), np.array([0, 0, 1, 1])
    >>> Diagonal().spread(X, codes, np.array([0, 1])).factor.round(4).tolist()
    [[1.4826, 0.0], [2.9652, 1.4826]]
    """

    bandwidth: Any = "nearest"
    nearest: str = "distinct"
    scale: float = 1.0
    id: ClassVar[str] = "diagonal"

    def spread(self, X: Floats, codes: Ints, classes: Array) -> Spread:
        """Return the kernels of each class."""
        check_scale(self.scale)
        if self.nearest not in ("distinct", "any"):
            raise UnknownName("nearest", self.nearest, ("distinct", "any"))
        shape = (len(classes), X.shape[1])
        sizes = fixed_sizes(self.bandwidth, len(classes), self.id)
        if sizes is None:
            sizes = np.zeros(shape)
            for code in range(len(classes)):
                points = members(X, codes, classes, code)
                if points is not None:
                    sizes[code] = gaps_by_column(points, self.nearest == "distinct") / median_of_chi(1)
        elif sizes.shape == shape[:1]:
            sizes = np.repeat(sizes[:, None], shape[1], axis=1)
        if sizes.shape != shape:
            raise InputError(
                f"bandwidth has shape {sizes.shape}; a diagonal kernel needs {shape} (classes x coordinates)."
            )
        return Spread(sizes * self.scale, X.shape[1])


@dataclass(frozen=True)
class Full:
    """Gaussian with the shape of the class's covariance, or with a covariance that is given.

    Parameters
    ----------
    bandwidth : "nearest", float or sequence of float
        Factor h on the square root of the covariance: the class's mean nearest-neighbour distance *in the metric of that
        covariance* over alpha_d (a spherical kernel in whitened coordinates), or given (one, or one per class).
    covariance : "shrunk", "class" or array
        Ledoit-Wolf estimate or sample covariance of each class, or given: (d, d), or (classes, d, d).
    scale : float
        Factor kappa on the standard deviations.
    max_queries : int or None
        As in `Spherical`.

    Examples
    --------
    >>> X, codes = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 7.0]]), np.array([0, 0, 1, 1])
    >>> s = Full(bandwidth=1.0, covariance=[[4.0, 0.0], [0.0, 1.0]]).spread(X, codes, np.array([0, 1]))
    >>> s.along(np.array([1.0, 0.0])).round(6).tolist()
    [2.0, 2.0]
    """

    bandwidth: Bandwidth = "nearest"
    covariance: Any = "shrunk"
    scale: float = 1.0
    max_queries: int | None = None
    id: ClassVar[str] = "full"

    def spread(self, X: Floats, codes: Ints, classes: Array) -> Spread:
        """Return the kernels of each class."""
        check_scale(self.scale)
        d = X.shape[1]
        given = fixed_sizes(self.bandwidth, len(classes), self.id)
        factor, error = np.zeros((len(classes), d, d)), np.zeros(len(classes))
        for code in range(len(classes)):
            points = X[codes == code] if given is not None else members(X, codes, classes, code)
            if points is None or (len(points) == 0 and isinstance(self.covariance, str)):
                continue
            values, axes = np.linalg.eigh(self._covariance(points, code, d, classes))
            root = axes * np.sqrt(np.maximum(values, 0))
            if given is not None:
                size = given[code]
            else:
                keep = values > values[-1] * 1e-12
                white = points @ axes[:, keep] / np.sqrt(values[keep])
                mean, error[code] = _mean_distance(white, self.max_queries) if keep.any() else (0.0, 0.0)
                size = mean / median_of_chi(d)
            factor[code] = size * root
        return Spread(factor * self.scale, d, relative_error=error)

    def _covariance(self, points: Floats, code: int, d: int, classes: Array) -> Floats:
        if isinstance(self.covariance, str):
            if self.covariance not in ("shrunk", "class"):
                raise UnknownName("covariance", self.covariance, ("shrunk", "class"), "A matrix works too.")
            if len(points) < 2:
                raise InputError(
                    f"class {classes[code].item()!r} has one point; its covariance needs at least two, or give one."
                )
            if self.covariance == "class":
                return np.atleast_2d(np.cov(points, rowvar=False))
            from sklearn.covariance import ledoit_wolf

            return np.asarray(ledoit_wolf(points)[0])
        return np.asarray(covariances(self.covariance, len(classes), d)[code])


KERNELS: dict[str, type[Any]] = {cls.id: cls for cls in (Spherical, Diagonal, Full, UniformBall)}


def as_kernel(kernel: Any, bandwidth: Any = None, scale: float | None = None) -> Kernel:
    """Return a kernel for a name or a kernel object, its size set if given.

    Examples
    --------
    >>> as_kernel("diagonal", scale=2.0).scale
    2.0
    """
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise UnknownName("kernel", kernel, KERNELS)
        kernel = KERNELS[kernel]()
    elif isinstance(kernel, type) or not callable(getattr(kernel, "spread", None)):
        raise KindError(f"kernel is {kernel!r}; give one of {', '.join(KERNELS)}, or an object with `spread`.")
    changes = {k: v for k, v in (("bandwidth", bandwidth), ("scale", scale)) if v is not None}
    try:
        chosen: Kernel = replace(kernel, **changes) if changes else kernel
    except TypeError as error:
        raise InputError(f"the kernel {type(kernel).__name__} does not take {' and '.join(changes)}.") from error
    return chosen
