"""Calibration of the kernel size: the factor kappa at which an estimated bias vanishes (Ghane, 2022, section 2.2.4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.model import Fitted, Model
from unseen.resubstitution._decision_regions import Regions, regions_of
from unseen.resubstitution._kernel_draws import KernelDraws
from unseen.resubstitution._kernel_integrals import misclassified_mass
from unseen.resubstitution._pretrained import train_again
from unseen.resubstitution._smoothed import point_weights
from unseen.resubstitution.kernels import Spread

__all__ = ["SEARCHES", "Trial", "calibration_error", "check_calibration", "search", "search_error", "trials_of"]

SEARCHES = ("step", "root")
ATTEMPTS = 200  # a class that 200 random splits leave with fewer than two points is too small


def check_calibration(method: Any) -> None:
    """Refuse options no calibration can work with."""
    if method.search not in SEARCHES:
        raise UnknownName("search", method.search, SEARCHES)
    if isinstance(method.r, bool) or not isinstance(method.r, (int, np.integer)) or method.r < 1:
        raise InputError(f"r is {method.r!r}; the number of 80/20 splits is a whole number of at least 1.")
    for name, low, high in (("fraction", 0.0, 1.0), ("step", 0.0, 10.0), ("max_scale", 1.0, 1e6)):
        value = getattr(method, name)
        if not isinstance(value, (int, float, np.floating)) or not low < value < high:
            raise InputError(f"{name} is {value!r}; it must lie strictly between {low:g} and {high:g}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """One split: a model trained on 80%, its kernels, and its error on the rest."""

    regions: Regions
    spread: Spread
    draws: KernelDraws
    weights: Floats
    error: float

    def deviation(self, kappa: float, exact: bool) -> float:
        """Return bolstered minus observed error with kernels scaled by kappa."""
        return self.integrate(kappa, exact)[0] - self.error

    def integrate(self, kappa: float, exact: bool) -> tuple[float, float]:
        """Return the bolstered error with kernels scaled by kappa, and the Monte-Carlo error of it."""
        mass = misclassified_mass(self.regions, self.spread.scale(kappa), self.draws, exact=exact, weights=self.weights)
        return float(self.weights @ mass.values), mass.error(self.weights)


def trials_of(method: Any, model: Model | Fitted, data: Data, rng: np.random.Generator) -> list[Trial]:
    """Return r trained trials; the kernel points of each depend on its own seed, the same for every kappa."""
    trials = []
    for _ in range(method.r):
        train, test = _split(method, data, rng)
        fitted = train_again(model, data.take(train), int(rng.integers(2**31 - 1)))
        regions = regions_of(method.id, fitted, data.take(train), method.space)
        outside = regions_of(method.id, fitted, data.take(test), method.space)
        wrong = (outside.assigned != outside.codes).astype(float)
        error = float(point_weights(outside.data, method.average) @ wrong)
        weights = point_weights(regions.data, method.average)
        trials.append(
            Trial(
                regions=regions,
                spread=method.spread(regions),
                draws=method.kernel_draws(rng, len(train)),
                weights=weights,
                error=error,
            )
        )
    return trials


def _split(method: Any, data: Data, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return training and test rows of a random split by units, each class with two training rows at least."""
    size = int(np.ceil(method.fraction * data.n_units))
    assert data.classes is not None
    for _ in range(ATTEMPTS):
        chosen = rng.permutation(data.n_units)[:size]
        test = np.isin(data.units, chosen)
        counts = np.bincount(data.codes[~test], minlength=len(data.classes))
        if counts.min() >= 2:
            return np.flatnonzero(~test), np.flatnonzero(test)
    label = data.classes[np.argmin(np.bincount(data.codes, minlength=len(data.classes)))]
    raise InputError(
        f"{method.id} trains on {100 * (1 - method.fraction):.0f}% of the sample, and class {label.item()!r} is too small to keep two points there; "
        "merge or drop it, or use the uncalibrated method."
    )


def search(method: Any, deviations: Callable[[float], Floats]) -> tuple[float, Floats, Floats]:
    """Return the chosen kappa, the curve (kappa, bias, spread) in increasing kappa, and the deviations behind it."""
    tried: dict[float, Floats] = {}

    def bias(kappa: float) -> float:
        kappa = round(float(kappa), 6)
        if kappa not in tried:
            tried[kappa] = deviations(kappa)
        return float(tried[kappa].mean())

    (_by_steps if method.search == "step" else _by_root)(method, bias)
    kappas = np.array(sorted(tried))
    table = np.array([tried[k] for k in kappas])
    spread = table.std(axis=1, ddof=1) if table.shape[1] > 1 else np.full(len(table), np.nan)
    means = table.mean(axis=1)
    chosen = float(kappas[np.abs(means).argmin()])
    return chosen, np.column_stack([kappas, means, spread]), table


def search_error(curve: Floats, kappa: float, noise: float, grid: bool) -> float:
    """Return the part of the estimate's Monte-Carlo error that comes from choosing kappa by integrals of the same kind.

    A bias that is off by some amount moves kappa until the estimate is off by as much: all the way with a root, in whole
    steps with a grid. Where the bias has one sign throughout, kappa stands at its limit and does not move.

    Parameters
    ----------
    curve : ndarray of shape (evaluations, 3)
        As returned by `search`.
    kappa : float
        The factor chosen.
    noise : float
        Monte-Carlo standard error of the mean bias there.
    grid : bool
        Whether kappa can take the values of the curve only.

    Examples
    --------
    >>> line = np.array([[1.0, -0.01, 0.0], [1.1, 0.0, 0.0], [1.2, 0.01, 0.0]])
    >>> [round(search_error(line, 1.1, noise, True), 4) for noise in (0.0, 0.001, 0.004, 0.1)]
    [0.0, 0.0, 0.0046, 0.1]
    """
    bias = curve[:, 1]
    if noise == 0 or not bias.min() < 0 < bias.max():
        return 0.0
    if not grid:
        return noise
    at = int(np.flatnonzero(curve[:, 0] == kappa)[0])
    jump = float(np.abs(np.diff(bias[max(at - 1, 0) : at + 2])).mean())
    if jump < noise / 100:
        return noise
    farthest = int(np.ceil(6 * noise / jump)) + 1
    steps = np.arange(-farthest, farthest + 1)
    edges = ndtr((np.append(steps - 0.5, steps[-1] + 0.5) * jump + bias[at]) / noise)
    return float(np.sqrt(np.diff(edges) @ (steps * jump) ** 2))


def calibration_error(curve: Floats, table: Floats, kappa: float, limits: tuple[float, float]) -> float:
    """Return the standard error of a calibrated estimate over other splits: the jackknife over the splits of the curve.

    Without one split the bias vanishes at another kappa, where the estimate differs by as much as the bias of the others
    did; kappa stays within its limits. NaN with one split.

    Examples
    --------
    >>> table = np.array([[-0.2, -0.1], [-0.1, 0.0], [0.0, 0.1]])
    >>> curve = np.column_stack([[1.0, 1.5, 2.0], table.mean(axis=1), table.std(axis=1, ddof=1)])
    >>> round(calibration_error(curve, table, 1.5, (1.0, 9.0)), 6)  # 0.1 / sqrt(2) over sqrt(2)
    0.05
    """
    r = table.shape[1]
    if r < 2:
        return float("nan")
    own = table[curve[:, 0] == kappa][0]
    others = (own.sum() - own) / (r - 1)
    lowest, highest = curve[0], curve[-1]
    low = lowest[1] - own.mean() if lowest[0] <= limits[0] else -np.inf
    high = highest[1] - own.mean() if highest[0] >= limits[1] else np.inf
    moves = np.clip(-others, low, high)
    return float(np.sqrt((r - 1) / r * np.sum((moves - moves.mean()) ** 2)))


def _by_steps(method: Any, bias: Callable[[float], float]) -> None:
    """Start at 1 and go up until the bias has not fallen for two steps, as published."""
    last, stalled, k = abs(bias(1.0)), 0, 0
    while stalled < 2 and 1 + (k + 1) * method.step <= method.max_scale:
        k += 1
        now = abs(bias(1 + k * method.step))
        stalled = stalled + 1 if now >= last else 0
        last = now


def _by_root(method: Any, bias: Callable[[float], float]) -> None:
    """Bracket the zero of the bias, downwards to 0 too, and close in on it by false position (Illinois)."""
    low, high, at_low = 1.0, 1.0, bias(1.0)
    at_high = at_low
    if at_low > 0:
        low, at_low = 0.0, bias(0.0)
    while at_high < 0 and high < method.max_scale:
        low, at_low, high = high, at_high, min(2 * high, method.max_scale)
        at_high = bias(high)
    if at_low >= 0 or at_high <= 0:
        return
    for _ in range(30):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        middle = float(np.clip(middle, low + 0.1 * (high - low), high - 0.1 * (high - low)))
        value = bias(middle)
        if value < 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
        if value == 0 or high - low < method.step / 2:
            return
