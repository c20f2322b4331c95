"""Sizes of the kernels around training points, from distances within each class (Braga-Neto & Dougherty, 2004)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch

from unseen.core.errors import InputError, UnknownName

__all__ = ["chi_median", "diagonal_sizes", "nearest_gaps", "spherical_sizes"]

QUERIES = 5_000  # in a larger class so many points are asked for their neighbour among all
BLOCK = 2**24  # numbers of a block of distances in memory
PADDING = 4  # classes are padded to one size if that costs at most so many times the sample


@lru_cache(maxsize=256)
def chi_median(d: int) -> float:
    """Return alpha_d, the median distance from the centre of a standard normal point in d dimensions.

    Found by bisection on the regularised incomplete gamma function, so that no scipy is needed.

    References
    ----------
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> [round(chi_median(d), 4) for d in (1, 2, 3, 10)]
    [0.6745, 1.1774, 1.5382, 3.0564]
    """
    half = torch.tensor(d / 2, dtype=torch.float64)
    low, high = 0.0, float(d)  # the median of chi-square lies below its mean
    for _ in range(80):
        middle = (low + high) / 2
        below = float(torch.special.gammainc(half, torch.tensor(middle / 2, dtype=torch.float64)))
        low, high = (middle, high) if below < 0.5 else (low, middle)
    return math.sqrt((low + high) / 2)


def single_point_error(label: Any) -> InputError:
    """Return the error for a class too small to have a distance."""
    label = label.item() if hasattr(label, "item") else label
    return InputError(
        f"class {label!r} has one point; the distance to its nearest neighbour needs at least two. "
        "Merge or drop the class, or collect more of it."
    )


def spherical_sizes(points: Any, codes: Any, n_classes: int, labels: Any = None) -> Any:
    """Return the standard deviation of each class: mean nearest-neighbour distance within it over alpha_d.

    Parameters
    ----------
    points : tensor of shape (n, d)
        Flattened points.
    codes : tensor of int
        Class of each.
    n_classes : int
        Number of classes; one without points gets 0.
    labels : sequence, optional
        Names of the classes for messages.

    Examples
    --------
    >>> x = torch.tensor([[0.0], [1.0], [5.0], [7.0]])
    >>> [round(s, 4) for s in spherical_sizes(x, torch.tensor([0, 0, 1, 1]), 2).tolist()]
    [1.4826, 2.9652]
    """
    out = torch.zeros(n_classes, dtype=points.dtype, device=points.device)
    for code in range(n_classes):
        mine = points[codes == code]
        if len(mine) == 1:
            raise single_point_error(code if labels is None else labels[code])
        if len(mine):
            out[code] = _nearest(mine).mean()
    return out / chi_median(points.shape[1])


def _nearest(points: Any) -> Any:
    """Return the distance of each point (of at most QUERIES of them) to the nearest other one."""
    n = len(points)
    asked = torch.arange(n, device=points.device)
    if n > QUERIES:
        order = torch.randperm(n, generator=torch.Generator().manual_seed(0))[:QUERIES]
        asked = order.sort().values.to(points.device)
    centred = points - points.mean(0)
    half = 0.5 * centred.square().sum(1)
    rows = max(1, BLOCK // n)
    nearest = []
    for own in asked.split(rows):
        similarity = centred[own] @ centred.T - half
        similarity[torch.arange(len(own), device=points.device), own] = -math.inf
        nearest.append(similarity.argmax(1))
    # distances anew: differences of squares would lose digits
    return (points[asked] - points[torch.cat(nearest)]).norm(dim=1)


def nearest_gaps(values: Any, distinct: bool) -> Any:
    """Return, column by column, the mean distance of a value to the nearest one of the other rows.

    Parameters
    ----------
    values : tensor of shape (..., m, d)
        At least two rows; rows of infinity at the end are padding and do not count.
    distinct : bool
        Measure to the nearest *different* value, a constant column getting 0; otherwise a tie is a distance of 0.

    Examples
    --------
    >>> x = torch.tensor([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    >>> nearest_gaps(x, True).tolist(), [round(g, 4) for g in nearest_gaps(x, False).tolist()]
    ([2.0, 0.0], [0.6667, 0.0])
    """
    ordered = values.sort(dim=-2).values
    low, high = ordered[..., :-1, :], ordered[..., 1:, :]
    edge = torch.full_like(ordered[..., :1, :], math.inf)
    counts = torch.isfinite(high) & ((high > low) if distinct else torch.ones_like(high, dtype=torch.bool))
    above = torch.cat([torch.where(counts, high, math.inf), edge], -2)
    below = torch.cat([-edge, torch.where(counts, low, -math.inf)], -2)
    if distinct:
        above = above.flip(-2).cummin(-2).values.flip(-2)
        below = below.cummax(-2).values
    real = torch.isfinite(ordered)
    nearest = torch.minimum(above - ordered, ordered - below)
    nearest = torch.where(real & torch.isfinite(nearest), nearest, 0.0)
    return nearest.sum(-2) / real.sum(-2).clamp_min(1)


def diagonal_sizes(points: Any, codes: Any, n_classes: int, nearest: str = "distinct", labels: Any = None) -> Any:
    """Return the standard deviation of each class and coordinate: mean gap to the nearest value over alpha_1.

    Parameters
    ----------
    points, codes, n_classes, labels
        As in `spherical_sizes`.
    nearest : {"distinct", "any"}
        Nearest different value of the class, or nearest value with ties counting as 0 (the printed form).

    References
    ----------
    Jiang, X. and Braga-Neto, U. (2014). A naive-Bayes approach to bolstered error estimation in high-dimensional spaces.

    Examples
    --------
    >>> x = torch.tensor([[0.0, 3.0], [1.0, 3.0], [5.0, 0.0], [7.0, 1.0]])
    >>> (diagonal_sizes(x, torch.tensor([0, 0, 1, 1]), 2) * chi_median(1)).round(decimals=4).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    if nearest not in ("distinct", "any"):
        raise UnknownName("nearest", nearest, ("distinct", "any"))
    counts = torch.bincount(codes, minlength=n_classes).tolist()
    for code, count in enumerate(counts):
        if count == 1:
            raise single_point_error(code if labels is None else labels[code])
    if n_classes * max(counts) <= PADDING * len(points):
        return nearest_gaps(_by_class(points, codes, counts), nearest == "distinct") / chi_median(1)
    out = torch.zeros((n_classes, points.shape[1]), dtype=points.dtype, device=points.device)
    for code, count in enumerate(counts):
        if count:
            out[code] = nearest_gaps(points[codes == code], nearest == "distinct")
    return out / chi_median(1)


def _by_class(points: Any, codes: Any, counts: list[int]) -> Any:
    """Return points as (classes, most members, d), short classes padded with infinity."""
    order = codes.argsort(stable=True)
    starts = torch.tensor([0, *counts[:-1]], device=codes.device).cumsum(0)
    place = torch.arange(len(codes), device=codes.device) - starts[codes[order]]
    out = torch.full((len(counts), max(counts), points.shape[1]), math.inf, dtype=points.dtype, device=points.device)
    out[codes[order], place] = points[order]
    return out
