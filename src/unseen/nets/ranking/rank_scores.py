"""How well a measure orders networks: rank correlation, within cells of the grid, and in the worst environment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen.core.errors import InputError, UnknownName
from unseen.core.result import Result
from unseen.nets.ranking.grid import as_grid, one_number_each

__all__ = ["GranulatedTau", "RobustError", "granulated_tau", "kendall_tau", "robust_error"]

Floats = NDArray[np.float64]


def _signs(values: Floats) -> Floats:
    """Sign of value i minus value j."""
    return np.sign(np.subtract.outer(values, values))


def _pair(gap: ArrayLike, measure: ArrayLike) -> tuple[Floats, Floats]:
    g, m = one_number_each("gap", gap), one_number_each("measure", measure)
    if g.shape != m.shape:
        raise InputError(f"gap holds {g.size} networks, measure {m.size}; give both for the same networks.")
    if not (np.isfinite(g).all() and np.isfinite(m).all()):
        raise InputError("gap and measure must be finite.")
    return g, m


def kendall_tau(gap: ArrayLike, measure: ArrayLike, *, ties: str = "b") -> float:
    """Return Kendall's rank correlation of gap and measure.

    Parameters
    ----------
    gap, measure : array-like
        One number per network.
    ties : str
        "b" (tau-b, which divides by the pairs that do not tie) or "a" (tau-a, which divides by all pairs).

    Returns
    -------
    float
        Between -1 and 1; NaN for tau-b if gap or measure is constant.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.

    Examples
    --------
    >>> kendall_tau([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    if ties not in ("a", "b"):
        raise UnknownName("treatment of ties", ties, ["a", "b"])
    return _tau(*_pair(gap, measure), ties)


def _tau(gap: Floats, measure: Floats, ties: str) -> float:
    s, t = _signs(gap), _signs(measure)
    pairs = gap.size * (gap.size - 1)
    below = float(pairs) if ties == "a" else math.sqrt(float(np.sum(s * s)) * float(np.sum(t * t)))
    return float(np.sum(s * t)) / below if below else math.nan


@dataclass(frozen=True)
class GranulatedTau(Result):
    """Rank correlation when one hyper-parameter varies and the others stand still.

    Parameters
    ----------
    value : float
        Mean over hyper-parameters.
    by_axis : dict
        Mean correlation for each hyper-parameter that has at least two values.
    """

    value: float
    by_axis: dict[str, float]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per hyper-parameter."""
        return [{"varies": name, "tau": tau} for name, tau in self.by_axis.items()]

    def __str__(self) -> str:
        return f"granulated tau {self.value:.3f} ({', '.join(f'{k} {v:.3f}' for k, v in self.by_axis.items())})"


def granulated_tau(gap: ArrayLike, measure: ArrayLike, grid: Any, *, seeds: ArrayLike | None = None) -> GranulatedTau:
    """Return the mean rank correlation along each axis of the grid, and the mean over axes.

    Within each cell all hyper-parameters but one are fixed; pairs that tie count as 0 (tau-a), as in the paper. With seeds,
    each seed's grid has cells of its own.

    Parameters
    ----------
    gap, measure : array-like
        One number per network.
    grid : mapping or DataFrame
        Hyper-parameter names to values; complete.
    seeds : array-like, optional
        Seed of each network.

    Returns
    -------
    GranulatedTau

    References
    ----------
    Jiang, Y., Neyshabur, B., Mobahi, H., Krishnan, D. and Bengio, S. (2020). Fantastic generalization measures and where to
    find them. ICLR.

    Examples
    --------
    >>> grid = {"depth": [1, 1, 2, 2], "width": [8, 9, 8, 9]}
    >>> granulated_tau([0.1, 0.2, 0.3, 0.4], [1, 2, 4, 3], grid).by_axis
    {'depth': 1.0, 'width': 0.0}
    """
    g, m = _pair(gap, measure)
    made = as_grid(grid, g.size, seeds)
    by_axis = {}
    for axis, name in enumerate(made.names):
        if made.shape[axis] < 2:
            continue
        others = [k for k in range(len(made.names)) if k != axis]
        cell = made.code_of(others) * made.n_seeds + made.seed
        taus = [_tau(g[cell == c], m[cell == c], "a") for c in np.unique(cell)]
        by_axis[name] = float(np.mean(taus))
    if not by_axis:
        raise InputError("every hyper-parameter has one value; the order along an axis needs at least two.")
    return GranulatedTau(float(np.mean(list(by_axis.values()))), by_axis)


@dataclass(frozen=True)
class RobustError(Result):
    """Share of pairs that a measure puts in the wrong order, in the worst environment.

    Parameters
    ----------
    value : float
        Largest sign-error over environments; 0 always right, 0.5 a coin, 1 always wrong.
    mean : float
        Mean over environments.
    by_environment : dict
        Sign-error for each change of one hyper-parameter from one value to another.
    pairs : dict
        Number of pairs behind each.
    """

    value: float
    mean: float
    by_environment: dict[str, float]
    pairs: dict[str, int]

    @property
    def worst(self) -> str:
        """The environment with the largest sign-error."""
        return max(self.by_environment, key=lambda k: self.by_environment[k])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per environment."""
        return [{"environment": k, "sign_error": v, "pairs": self.pairs[k]} for k, v in self.by_environment.items()]

    def __str__(self) -> str:
        return f"robust sign-error {self.value:.3f} ({self.worst}), mean {self.mean:.3f}"


def robust_error(
    gap: ArrayLike, measure: ArrayLike, grid: Any, *, seeds: ArrayLike | None = None, min_difference: float = 0.0
) -> RobustError:
    """Return the share of wrongly ordered pairs in the worst environment.

    An environment is a change of one hyper-parameter from one value to another, everything else fixed. A pair costs 1 if the
    measure orders it against the gap, one half if the measure ties. Pairs whose gaps differ by no more than `min_difference`
    are left out, since their order is noise.

    Parameters
    ----------
    gap, measure : array-like
        One number per network.
    grid : mapping or DataFrame
        Hyper-parameter names to values; complete.
    seeds : array-like, optional
        Seed of each network; pairs are formed over seeds too.
    min_difference : float
        Smallest difference of gaps that counts.

    Returns
    -------
    RobustError

    References
    ----------
    Dziugaite, G. K., Drouin, A., Neal, B., Rajkumar, N., Caballero, E., Wang, L., Mitliagkas, I. and Roy, D. M. (2020). In search of
    robust measures of generalization. NeurIPS. (The weights they give to noisy pairs are replaced by the threshold.)

    Examples
    --------
    >>> grid = {"depth": [1, 1, 2, 2], "width": [8, 9, 8, 9]}
    >>> robust_error([0.1, 0.2, 0.3, 0.4], [1, 2, 4, 3], grid).by_environment
    {'depth 1 to 2': 0.0, 'width 8 to 9': 0.5}
    """
    g, m = _pair(gap, measure)
    if not min_difference >= 0:
        raise InputError(f"min_difference is {min_difference!r}; it must be at least 0.")
    made = as_grid(grid, g.size, seeds)
    errors, pairs = {}, {}
    for axis, name in enumerate(made.names):
        others = made.code_of([k for k in range(len(made.names)) if k != axis])
        for u, v in combinations(range(made.shape[axis]), 2):
            a, b = (np.flatnonzero(made.codes[:, axis] == k) for k in (u, v))
            together = others[a][:, None] == others[b][None, :]
            step = g[b][None, :] - g[a][:, None]
            counted = together & (np.abs(step) > min_difference)
            if counted.any():
                right = np.sign(step) * np.sign(m[b][None, :] - m[a][:, None])
                label = f"{name} {made.values[axis][u]} to {made.values[axis][v]}"
                errors[label] = float(np.mean((1 - right[counted]) / 2))
                pairs[label] = int(counted.sum())
    if not errors:
        raise InputError("no two networks that differ in one hyper-parameter have gaps apart; nothing can be ordered.")
    return RobustError(max(errors.values()), float(np.mean(list(errors.values()))), errors, pairs)
