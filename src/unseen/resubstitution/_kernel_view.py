"""A two-dimensional view of kernels and decision regions, projected if there are more dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, stream
from unseen.datasets.conversion import as_data
from unseen.resubstitution._decision_regions import STANDARDISED, Regions, regions_of
from unseen.resubstitution._kernel_integrals import misclassified_mass
from unseen.resubstitution._pretrained import as_pretrained
from unseen.resubstitution.kernels import Spread
from unseen.resubstitution.methods.bolster import Bolster

__all__ = ["KernelView", "view"]


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelView(Result):
    """Points, kernels and decision regions in a plane.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The training points in the plane.
    codes, assigned : ndarray of shape (n,)
        Their classes, and the classes the model assigns to them.
    contributions : ndarray of shape (n,)
        Share of each kernel that is misclassified, in the full space.
    ellipses : ndarray of shape (c, 2, 2)
        Square root of the kernel covariance of each class, seen in the plane.
    grid_x, grid_y, grid : ndarray
        Places on the two axes and the class assigned at each; the other dimensions are at the mean of the points.
    classes : ndarray
        Labels.
    axes : tuple of str
        Names of the two axes.
    explained : float
        Share of the points' variance that lies in the plane.
    space : str
        Where the kernels live.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    points: Floats
    codes: Ints
    assigned: Ints
    contributions: Floats
    ellipses: Floats
    grid_x: Floats
    grid_y: Floats
    grid: Ints
    classes: Array
    axes: tuple[str, str]
    explained: float
    space: str

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per training point."""
        return [
            {
                "x": float(p[0]),
                "y": float(p[1]),
                "label": self.classes[c],
                "assigned": self.classes[a],
                "contribution": float(e),
            }
            for p, c, a, e in zip(self.points, self.codes, self.assigned, self.contributions)
        ]

    def __str__(self) -> str:
        n, share = len(self.points), f"{100 * self.explained:.0f}%"
        return f"{n} kernels seen in the plane of {self.axes[0]} and {self.axes[1]} ({share} of the variance; {self.space})"


def view(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    plane: Any = None,
    resolution: int = 200,
    random_state: RandomState = None,
    space: str = "auto",
    kernel: Any = "spherical",
    bandwidth: Any = None,
    scale: float | None = None,
    n_mc: int | None = None,
    sampler: str = "plain",
    draws: int | None = None,
    exact: bool = True,
) -> KernelView:
    """Return kernels and decision regions of a trained classifier as seen in a plane.

    Parameters
    ----------
    fitted : object with predict, or function
        The trained classifier.
    X, y : array-like
        The sample it was trained on.
    plane : pair of int, or array of shape (2, d), optional
        Two columns, or two directions; the first two columns if there are only two, else the first two principal axes.
    resolution : int
        Places along each axis at which the model is asked.
    random_state : int, Generator or None
        Same seed, same contributions.
    space, kernel, bandwidth, scale, n_mc, sampler, draws, exact
        As in `unseen.resubstitution.bolster`.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> v = unseen.resubstitution.view(KNeighborsClassifier(3).fit(X, y), X, y, random_state=0, resolution=20)
    >>> v.grid.shape, v.explained > 0.9
    ((20, 20), True)
    """
    if isinstance(resolution, bool) or not isinstance(resolution, (int, np.integer)) or not 2 <= resolution <= 2000:
        raise InputError(f"resolution is {resolution!r}; give a whole number from 2 to 2000.")
    method = Bolster(
        space=space,
        kernel=kernel,
        bandwidth=bandwidth,
        scale=scale,
        n_mc=n_mc,
        sampler=sampler,
        draws=draws,
        exact=exact,
    )
    data = as_data(X, y)
    regions = regions_of("bolster", as_pretrained(fitted), data, method.space)
    spread = method.spread(regions)
    places = method.kernel_draws(stream(root_seed(random_state), "direct", "bolster"), data.n)
    mass = misclassified_mass(regions, spread, places, exact=method.exact)
    basis, names = _plane(regions, plane)
    flat = regions.points @ basis.T
    variance = regions.points.var(axis=0).sum()
    explained = float(flat.var(axis=0).sum() / variance) if variance > 0 else 1.0
    grid_x, grid_y, grid = _grid(regions, basis, flat, int(resolution))
    return KernelView(
        points=flat,
        codes=regions.codes,
        assigned=regions.assigned,
        contributions=mass.values,
        ellipses=_plane_roots(spread, basis, len(regions.classes)),
        grid_x=grid_x,
        grid_y=grid_y,
        grid=grid,
        classes=regions.classes,
        axes=names,
        explained=min(explained, 1.0),
        space=regions.space,
    )


def _plane(regions: Regions, plane: Any) -> tuple[Floats, tuple[str, str]]:
    """Return two orthonormal directions as rows, and their names."""
    d = regions.d
    if d == 1:
        raise InputError("the sample has one dimension; a plane needs at least two.")
    if plane is None and d > 2:
        centred = regions.points - regions.points.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
        return axes * np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None], ("component 1", "component 2")
    given = np.asarray((0, 1) if plane is None else plane)
    if given.shape == (2,) and given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= d or given[0] == given[1]:
            raise InputError(f"plane is {plane!r}; name two different columns from 0 to {d - 1}.")
        labels = regions.columns or (regions.data.names if regions.space in ("input", STANDARDISED) else None)
        first, second = (str(labels[k]) if labels else f"feature {k}" for k in given)
        return np.eye(d)[given], (first, second)
    if given.shape != (2, d) or np.linalg.matrix_rank(given.astype(float)) < 2:
        raise InputError(
            f"plane has shape {given.shape}; give two columns, or two independent directions of {d} numbers."
        )
    return np.linalg.qr(given.astype(float).T)[0].T, ("direction 1", "direction 2")


def _plane_roots(spread: Spread, basis: Floats, n_classes: int) -> Floats:
    """Return the symmetric root of each class's kernel covariance in the plane, the one that has no free sign or turn; a ball's shadow is a disk."""
    out = np.empty((n_classes, 2, 2))
    for code in range(n_classes):
        root = spread.project(basis, code)
        values, axes = np.linalg.eigh(root @ root.T)
        out[code] = (axes * np.sqrt(np.maximum(values, 0))) @ axes.T
    return out


def _grid(regions: Regions, basis: Floats, flat: Floats, resolution: int) -> tuple[Floats, Floats, Ints]:
    low, high = flat.min(axis=0), flat.max(axis=0)
    margin = 0.12 * np.where(high > low, high - low, 1.0)
    grid_x = np.linspace(low[0] - margin[0], high[0] + margin[0], resolution)
    grid_y = np.linspace(low[1] - margin[1], high[1] + margin[1], resolution)
    corners = np.stack(np.meshgrid(grid_x, grid_y), axis=-1).reshape(-1, 2)
    centre = regions.points.mean(axis=0)
    lifted = centre + (corners - centre @ basis.T) @ basis
    return grid_x, grid_y, regions.assign(lifted).reshape(resolution, resolution)
