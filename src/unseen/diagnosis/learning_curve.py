"""Learning curve with a power law through it, and what it says of more data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.losses import LossTable

__all__ = ["LearningCurveFit", "fit_curve", "learning_curve", "power_law"]

EXPONENTS = np.round(np.geomspace(0.1, 2.0, 40), 6)  # error curves fall like n^-0.5 to n^-1, with room on either side
N_BOOTSTRAP = 300  # the ends of a 95% band then rest on 7 curves each
CELLS_AT_ONCE = 2_000_000  # numbers of bootstrap samples held at once: 16 MB


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningCurveFit:
    """Train and test error at growing training sizes, and a power law a + b n^-c through the test error.

    Parameters
    ----------
    sizes : ndarray
        Training sizes.
    test, train : ndarray of shape (sizes, 3)
        Mean over repetitions and the limits of their middle `level`.
    ahead : ndarray
        Sizes at which the law is evaluated, observed ones and larger.
    law, low, high : ndarray
        Value of the law there, and its limits from resampling units and repetitions: for the expected error at that size,
        if the law holds.
    asymptote, slope, exponent : float
        a, b and c.
    level : float
        Confidence level of the limits.
    """

    sizes: Floats
    test: Floats
    train: Floats | None
    ahead: Floats
    law: Floats
    low: Floats
    high: Floats
    asymptote: float
    slope: float
    exponent: float
    level: float

    def at(self, size: float) -> tuple[float, float, float]:
        """Return law and limits at one of the sizes in `ahead`."""
        k = int(np.argmin(np.abs(self.ahead - size)))
        return float(self.law[k]), float(self.low[k]), float(self.high[k])


def power_law(sizes: Floats, errors: Floats) -> tuple[float, float, float]:
    """Fit a + b n^-c with a, b at least 0 by least squares; c is searched on a grid from 0.1 to 2.

    Examples
    --------
    >>> n = np.array([10.0, 20, 40, 80, 160])
    >>> a, b, c = power_law(n, 0.1 + 2 / n)
    >>> round(a, 2), round(c, 1)
    (0.1, 1.0)
    """
    a, b, c = _power_laws(sizes, np.asarray(errors, dtype=float)[None])[0]
    return float(a), float(b), float(c)


def _power_laws(sizes: Floats, errors: Floats) -> Floats:
    """Return a, b and c for each row of `errors`, best of all exponents on the grid."""
    shape = (sizes / sizes[0]) ** -EXPONENTS[:, None]
    spread = shape - shape.mean(axis=1, keepdims=True)
    centred = errors - errors.mean(axis=1, keepdims=True)
    slope = np.maximum(centred @ spread.T / np.square(spread).sum(axis=1), 0.0)
    level = errors.mean(axis=1, keepdims=True) - slope * shape.mean(axis=1)
    through_zero = np.maximum(errors @ shape.T / np.square(shape).sum(axis=1), 0.0)
    slope = np.where(level < 0, through_zero, slope)
    level = np.maximum(level, 0.0)
    misfit = np.square(errors[:, None, :] - level[..., None] - slope[..., None] * shape).sum(axis=2)
    best = np.argmin(misfit, axis=1)
    rows = np.arange(len(errors))
    c = EXPONENTS[best]
    return np.column_stack([level[rows, best], slope[rows, best] * sizes[0] ** c, c])


def fit_curve(
    sizes: Floats, errors: Floats, parts: tuple[Floats, Floats], ahead: Floats, rng: np.random.Generator, level: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the law's parameters, its values at `ahead`, and limits there.

    Parameters
    ----------
    sizes : ndarray
        Training sizes.
    errors : ndarray of shape (repetitions, sizes)
        Test errors; the law goes through their means.
    parts : tuple of ndarray of shape (sizes, repetitions, units)
        Summed losses of every tested unit and their weights. Units and repetitions are drawn again, both at once:
        repetitions alone share their units, and limits from them would shrink with their number.
    ahead : ndarray
        Sizes at which the law is evaluated.
    rng : Generator
        Source of the resampling.
    level : float
        Confidence level of the limits.

    References
    ----------
    Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
    """
    sums, weights = parts
    _, repeats, units = sums.shape
    draws = []
    step = max(1, CELLS_AT_ONCE // units)
    for begin in range(0, N_BOOTSTRAP, step):
        rows = min(step, N_BOOTSTRAP - begin)
        of_units = rng.multinomial(units, np.full(units, 1 / units), rows).astype(float)
        of_repeats = rng.multinomial(repeats, np.full(repeats, 1 / repeats), rows).astype(float)
        total, whole = (np.einsum("br,krb->bk", of_repeats, part @ of_units.T) for part in (sums, weights))
        there = np.all(whole > 0, axis=1)
        draws.append(total[there] / whole[there])
    laws = _power_laws(sizes, np.vstack([errors.mean(axis=0), *draws]))
    values = laws[:, :1] + laws[:, 1:2] * ahead ** -laws[:, 2:]
    low, high = np.quantile(values[1:], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return laws[0], values[0], low, high


def learning_curve(losses: LossTable, n: int, rng: np.random.Generator, level: float) -> LearningCurveFit | None:
    """Return the curve of a table of the learning-curve design, extended to four times the sample."""
    done = losses.completed
    part = np.array([losses.plan.splits[j].part for j in done])
    repeat = np.array([losses.plan.splits[j].repeat for j in done])
    means = losses.split_means()
    steps = [k for k in np.unique(part) if np.sum(part == k) == len(np.unique(repeat))]
    if len(steps) < 3 or len(np.unique(repeat)) < 2:
        return None
    sizes = np.array([losses.plan.sizes[done, 1][part == k].mean() for k in steps])
    errors = np.array([[means[(part == k) & (repeat == r)][0] for k in steps] for r in np.unique(repeat)])
    ahead = np.unique(np.concatenate([sizes, [float(n)], n * np.array([1.5, 2.0, 3.0, 4.0])]))
    parameters, law, low, high = fit_curve(sizes, errors, _parts(losses, steps), ahead, rng, level)
    train = None
    if losses.train is not None:
        fitted = losses.train_errors()
        train = np.array([_band(fitted[part == k], level) for k in steps])
    test = np.array([_band(errors[:, i], level) for i in range(len(steps))])
    a, b, c = map(float, parameters)
    return LearningCurveFit(
        sizes=sizes,
        test=test,
        train=train,
        ahead=ahead,
        law=law,
        low=low,
        high=high,
        asymptote=a,
        slope=b,
        exponent=c,
        level=level,
    )


def _parts(losses: LossTable, steps: list[int]) -> tuple[Floats, Floats]:
    """Return summed losses and weights by size, repetition and unit."""
    splits = losses.plan.splits
    place = {part: k for k, part in enumerate(steps)}
    step = np.array([place.get(s.part, -1) for s in splits])
    repeat = np.unique([s.repeat for s in splits], return_inverse=True)[1].reshape(-1)
    test = losses.test
    kept = step[test.split] >= 0
    split, row = test.split[kept], test.row[kept]
    at = (step[split], repeat[split], losses.data.units[row])
    weight = losses.row_weights(row)
    shape = (len(steps), int(repeat.max()) + 1, losses.data.n_units)
    sums, weights = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, at, weight * test.value[kept])
    np.add.at(weights, at, weight)
    return sums, weights


def _band(values: Floats, level: float) -> tuple[float, float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(values.mean()), float(low), float(high)
