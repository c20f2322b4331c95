"""How far two orders agree: Kendall's tau, its granulated form, and the error in the worst environment."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from unseen.core.errors import InputError

__all__ = ["granulated_tau", "kendall_tau", "robust_error"]


def kendall_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Return Kendall's tau-b of two rows of numbers; NaN where one of them is constant.

    References
    ----------
    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.

    Examples
    --------
    >>> kendall_tau([1, 2, 3], [1, 3, 2]), kendall_tau([1, 2], [2, 1])
    (0.3333333333333333, -1.0)
    """
    x, y = np.asarray(a, float), np.asarray(b, float)
    if x.shape != y.shape or x.ndim != 1 or x.size < 2:
        raise InputError(f"tau needs two rows of equal length of at least 2; their shapes are {x.shape} and {y.shape}.")
    upper = np.triu_indices(x.size, 1)
    dx, dy = np.sign(x[:, None] - x)[upper], np.sign(y[:, None] - y)[upper]
    scale = np.sqrt((dx != 0).sum() * float((dy != 0).sum()))
    return float((dx * dy).sum() / scale) if scale > 0 else float("nan")


def _codes(grid: Mapping[str, np.ndarray]) -> tuple[list[str], np.ndarray]:
    names = list(grid)
    return names, np.stack([np.unique(np.asarray(grid[name]), return_inverse=True)[1] for name in names], axis=1)


def _twins(grid: Mapping[str, np.ndarray]) -> dict[tuple[str, int, int], list[tuple[int, int]]]:
    """Return pairs of networks that differ in one hyper-parameter alone, by that hyper-parameter and its two values."""
    names, codes = _codes(grid)
    where = {tuple(row): k for k, row in enumerate(codes.tolist())}
    pairs: dict[tuple[str, int, int], list[tuple[int, int]]] = {}
    for axis, name in enumerate(names):
        for low, high in combinations(range(codes[:, axis].max() + 1), 2):
            for row, k in where.items():
                other = (*row[:axis], high, *row[axis + 1 :])
                if row[axis] == low and other in where:
                    pairs.setdefault((name, low, high), []).append((k, where[other]))
    return pairs


def granulated_tau(gap: np.ndarray, measure: np.ndarray, grid: Mapping[str, np.ndarray]) -> float:
    """Return the mean over hyper-parameters of tau among networks that differ in that hyper-parameter alone (Jiang and others, 2020).

    Only pairs that differ in one hyper-parameter are compared, so that a measure cannot shine by tracking a hyper-parameter that moves everything.
    A tied pair counts 0.

    Parameters
    ----------
    gap, measure : arrays
        One number per network.
    grid : mapping of str to array
        Value of each hyper-parameter per network.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> grid = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> granulated_tau([1, 2, 3, 4], [1, 2, 3, 4], grid), granulated_tau([1, 2, 3, 4], [2, 1, 4, 3], grid)
    (1.0, 0.0)
    """
    g, m = np.asarray(gap, float), np.asarray(measure, float)
    by_axis: dict[str, list[float]] = {}
    for (name, _, _), pairs in _twins(grid).items():
        i, j = np.array(pairs).T
        by_axis.setdefault(name, []).extend(np.sign(g[i] - g[j]) * np.sign(m[i] - m[j]))
    if not by_axis:
        raise InputError(
            "no two networks differ in one hyper-parameter alone; give a grid with at least one such pair."
        )
    return float(np.mean([np.mean(v) for v in by_axis.values()]))


def robust_error(
    gap: np.ndarray, measure: np.ndarray, grid: Mapping[str, np.ndarray], *, gap_error: float = 0.0
) -> tuple[float, str]:
    """Return the largest share of wrongly ordered pairs over environments, and which environment it is (Dziugaite and others, 2020).

    An environment is a change of one hyper-parameter from one value to another, everything else equal. Pairs whose gaps differ by less than
    twice the error of a difference are left out; a tie of the measure counts one half. 0.5 is what a coin reaches, 1 is always wrong.

    References
    ----------
    G. K. Dziugaite and others (2020). In search of robust measures of generalization. NeurIPS.

    Examples
    --------
    >>> grid = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> robust_error([1, 2, 3, 4], [2, 1, 4, 3], grid)
    (1.0, 'b: 0 to 1')
    """
    g, m = np.asarray(gap, float), np.asarray(measure, float)
    values = {name: np.unique(np.asarray(v)) for name, v in grid.items()}
    worst, where = float("nan"), ""
    for (name, low, high), pairs in _twins(grid).items():
        i, j = np.array(pairs).T
        kept = np.abs(g[i] - g[j]) > 2 * np.sqrt(2) * gap_error
        if not kept.any():
            continue
        wrong = float(np.mean(0.5 - 0.5 * np.sign(g[i] - g[j])[kept] * np.sign(m[i] - m[j])[kept]))
        if not worst >= wrong:
            worst, where = wrong, f"{name}: {values[name][low]} to {values[name][high]}"
    return worst, where
