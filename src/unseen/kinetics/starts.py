"""Starting values: curve peeling, a grid of rate pairs, and the precursor's fast phase."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import nnls

from unseen.core.arrays import Array
from unseen.kinetics.joint import DOSED, FORMED, PRECURSOR, JointModel, SampledCurves
from unseen.kinetics.locations import formed_curve

__all__ = ["curve_starts", "grid_start", "joint_starts", "peel"]

Start = tuple[Array, Array]


def peel(t: Array, y: Array, n: int = 2) -> Start | None:
    """Strip exponentials one at a time, slowest first, and keep the tail lengths that fit best.

    Parameters
    ----------
    t, y : ndarray
        Times and positive values; values that are not positive are left out.
    n : int
        Number of exponentials.

    Returns
    -------
    amplitudes, rates : ndarray, or None
        Fast term first; None if no peeling gives positive amplitudes and decreasing rates.

    Examples
    --------
    >>> t = np.array([5., 10, 15, 20, 30, 40, 60, 90, 120])
    >>> a, l = peel(t, 0.2 * np.exp(-0.16 * t) + 0.1 * np.exp(-0.02 * t))
    >>> l.round(2).tolist()
    [0.16, 0.02]
    """
    keep = y > 0
    t, y = t[keep], y[keep]
    best, best_error = None, np.inf
    for tails in _tail_lengths(t.size, n):
        candidate = _peel_with(t, y, tails)
        if candidate is None:
            continue
        fitted = np.exp(-np.outer(t, candidate[1])) @ candidate[0]
        error = float(np.sum((fitted / y - 1) ** 2))
        if error < best_error:
            best, best_error = candidate, error
    return best


def _tail_lengths(count: int, n: int) -> list[tuple[int, ...]]:
    """Ways to cut the samples into n stretches, the tail of at least three points and the others of at least two."""
    if n == 1:
        return [(count,)]
    cuts = []
    for tail in range(3, count - 2 * (n - 1) + 1):
        cuts += [(tail, *rest) for rest in _tail_lengths_of_rest(count - tail, n - 1)]
    return cuts


def _tail_lengths_of_rest(count: int, n: int) -> list[tuple[int, ...]]:
    if n == 1:
        return [(count,)]
    out = []
    for tail in range(2, count - 2 * (n - 1) + 1):
        out += [(tail, *rest) for rest in _tail_lengths_of_rest(count - tail, n - 1)]
    return out


def _peel_with(t: Array, y: Array, stretches: tuple[int, ...]) -> Start | None:
    rest, end = y.copy(), t.size
    amplitudes: list[float] = []
    rates: list[float] = []
    for stretch in stretches:
        rows = slice(end - stretch, end)
        x, z = t[rows], rest[rows]
        good = z > 0
        if good.sum() < 2:
            return None
        slope, intercept = np.polyfit(x[good], np.log(z[good]), 1)
        if slope >= 0 or (rates and -slope <= 1.05 * rates[-1]):
            return None
        amplitudes.append(float(np.exp(intercept)))
        rates.append(float(-slope))
        rest = rest - amplitudes[-1] * np.exp(-rates[-1] * t)
        end -= stretch
    return np.array(amplitudes[::-1]), np.array(rates[::-1])


def grid_start(t: Array, y: Array, n: int = 2, count: int = 32) -> Start:
    """Best of all sets of n log-spaced rates with non-negative amplitudes, in relative error.

    Parameters
    ----------
    t, y : ndarray
        Samples.
    n : int
        Number of exponentials.
    count : int
        Rates on the grid.

    Returns
    -------
    amplitudes, rates : ndarray
        Fast term first, amplitudes above zero.

    Examples
    --------
    >>> t = np.array([5., 10, 15, 20, 30, 40, 60, 90, 120])
    >>> _, l = grid_start(t, 0.2 * np.exp(-0.16 * t) + 0.1 * np.exp(-0.02 * t))
    >>> bool(abs(np.log(l / [0.16, 0.02])).max() < 0.3)
    True
    """
    span = t.max() - t.min() if t.size > 1 else t.max()
    grid = np.geomspace(0.1 / t.max(), 5 / max(np.diff(np.unique(t)).min(), span / 100), count)
    scale = 1 / np.maximum(np.abs(y), 0.02 * np.abs(y).max())
    design, target = np.exp(-np.outer(t, grid)) * scale[:, None], y * scale
    gram, moment, total = design.T @ design, design.T @ target, float(target @ target)
    sets = np.array(list(combinations(range(count), n)))
    costs = np.full(len(sets), np.inf)
    blocks = gram[sets[:, :, None], sets[:, None, :]] + 1e-12 * np.eye(n)
    solved = np.linalg.solve(blocks, moment[sets][..., None])[..., 0]
    inside = (solved > 0).all(axis=1)
    costs[inside] = total - np.einsum("ij,ij->i", solved, moment[sets])[inside]
    if not np.isfinite(costs).any():
        amplitudes, _ = nnls(design, target)
        top = np.sort(np.argsort(amplitudes)[::-1][:n])
        return np.maximum(amplitudes[top][::-1], 1e-3 * y.max()), grid[top][::-1]
    best = int(np.argmin(costs))
    order = sets[best][::-1]
    return solved[best][::-1], grid[order]


def curve_starts(t: Array, y: Array, n: int) -> list[Start]:
    """Peeled and grid starts of one dosed curve."""
    found = [grid_start(t, y, n)]
    peeled = peel(t, y, n)
    return [peeled, *found] if peeled is not None else found


def _multiplier(model: JointModel, curves: SampledCurves, a: Array, l: Array, b: Array, g: Array) -> float:
    """Kappa by least squares in one dimension."""
    t, y, _ = curves.of(FORMED)
    shape = formed_curve(t, a, l, b, g, model.location, slopes=False)[0]
    return max(float(shape @ y / (shape @ shape)), 1e-6)


def joint_starts(model: JointModel, curves: SampledCurves, limit: int = 5) -> list[Array]:
    """At most `limit` starting points of the joint fit, all combinations of the starts of the two dosed curves.

    The last kind of start gives the product the precursor's fast phase, which rescues curves whose early samples were
    dropped.

    Parameters
    ----------
    model : JointModel
    curves : SampledCurves
    limit : int
        Most starts returned.

    Returns
    -------
    list of ndarray
        Log parameters.
    """
    pre = curve_starts(*curves.of(PRECURSOR)[:2], model.n)
    pro = curve_starts(*curves.of(DOSED)[:2], model.m)
    if model.n == model.m and model.n > 1:
        b, g = pro[0]
        like = g.copy()
        like[0] = max(pre[0][1][0], 1.2 * g[1])
        pro = [*pro, (b, like)]
    out = []
    for a, l in pre:
        for b, g in pro:
            out.append(model.pack(a, l, b, g, _multiplier(model, curves, a, l, b, g)))
    return out[:limit]
