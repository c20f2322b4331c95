"""Measures of numbers that are ratios of weighted means, and the patterns whose errors stand out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError

__all__ = [
    "NORMAL_RATIO",
    "FromNumbers",
    "Outlying",
    "Trimmed",
    "moments",
    "outlying",
    "surprising",
    "trimmed_mean",
    "weighted_median",
]

NORMAL_RATIO = float(np.sqrt(2 / np.pi))
FAR = 3.5
FAIR = 0.5


class FromNumbers:
    """Mixin: a measure that says `of_weights(y, value, score, weights, positive)` gets `of_set` from it."""

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set, a row of `weights` each."""
        raise NotImplementedError

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return the measure of a set of predictions."""
        weights = np.ones((1, len(y))) if weight is None else np.asarray(weight, dtype=float)[None]
        return float(self.of_weights(y, value, score, weights, positive)[0])


def moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weighted means and population variances, one for each row of `weights`."""
    centre = values.mean() if len(values) else 0.0
    shifted = values - centre  # so that squares of large numbers do not drown the spread
    total = weights.sum(axis=1)
    mean = weights @ shifted / total
    return mean + centre, np.maximum(weights @ np.square(shifted) / total - mean**2, 0.0)


def weighted_median(values: Floats, weight: Floats) -> float:
    """Return the middle value; between two neighbours where the weight splits evenly.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.ones(3)), weighted_median(np.array([1.0, 2.0]), np.ones(2))
    (2.0, 1.5)
    """
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    sums = np.cumsum(weight[order])
    half = sums[-1] / 2
    first, last = np.searchsorted(sums, half * (1 - 1e-12)), np.searchsorted(sums, half * (1 + 1e-12), side="right")
    return float((values[order[first]] + values[order[min(last, len(order) - 1)]]) / 2)


def trimmed_mean(losses: Floats, weight: Floats, share: float) -> float:
    """Return the weighted mean of all but the largest share of the losses; the one at the edge counts in part.

    Examples
    --------
    >>> trimmed_mean(np.array([1.0, 2.0, 3.0, 94.0]), np.ones(4), 0.25)
    2.0
    """
    order = np.argsort(losses, kind="stable")
    room = (1 - share) * weight.sum()
    used = np.clip(room - (np.cumsum(weight[order]) - weight[order]), 0.0, weight[order])
    return float(used @ losses[order] / room)


@dataclass(frozen=True)
class Trimmed(FromNumbers):
    """Mean of all but the largest losses of a pattern; a subclass says what the loss of an error is.

    Parameters
    ----------
    share : float
        Share of the losses left out, the largest ones.
    """

    share: float = 0.05

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise InputError(f"share is {self.share!r}; a share to leave out lies in [0, 1).")

    def loss_of(self, errors: Floats) -> Floats:
        """Return the loss of each error."""
        raise NotImplementedError

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the trimmed mean for each weighting."""
        losses = self.loss_of(y - value)
        return np.array([trimmed_mean(losses, w, self.share) for w in weights])


@dataclass(frozen=True)
class Outlying:
    """Patterns whose errors stand out: E_abs / E_rms, what is usual (0.798 for normal errors), and which they are."""

    ratio: float
    rows: Ints
    errors: Floats
    usual: float = NORMAL_RATIO

    @property
    def suspicious(self) -> bool:
        """Whether some patterns have errors far from the others'."""
        return len(self.rows) > 0


def outlying(errors: Floats, limit: float = FAR) -> Outlying:
    """Find errors far from the rest by their modified z-score, which large errors themselves do not move.

    Parameters
    ----------
    errors : array
        Target minus output.
    limit : float
        Modified z-score above which an error stands out.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299 (E_abs well below E_rms). Iglewicz, B. and Hoaglin, D. C. (1993). How to detect and
    handle outliers. ASQC Quality Press (modified z-score above 3.5).

    Examples
    --------
    >>> found = outlying(np.array([0.1, -0.2, 0.15, 0.0, -0.1, 5.0]))
    >>> found.rows.tolist(), found.ratio < NORMAL_RATIO
    ([5], True)
    """
    errors = np.asarray(errors, dtype=float)
    rms = float(np.sqrt(np.square(errors).mean()))
    gap = np.abs(errors - np.median(errors))
    spread = 1.4826 * float(np.median(gap)) or 1.2533 * float(gap.mean())
    rows = np.flatnonzero(gap > limit * spread).astype(np.int64) if spread > 0 else np.zeros(0, np.int64)
    rows = rows[np.argsort(-gap[rows], kind="stable")]
    return Outlying(float(np.abs(errors).mean()) / rms if rms > 0 else NORMAL_RATIO, rows, errors[rows])


def surprising(positive: Array, probability: Floats, level: float = 0.95) -> Outlying:
    """Find cases whose true class was given a probability that calibrated probabilities would hardly ever give it.

    The limit is set so that with calibrated probabilities no case at all stands out with a chance of at least `level`: the
    smaller probabilities of the cases below it add up to at most 1 - level. Usual are the ratio 2 mean(p (1 - p)) to
    sqrt(mean(p (1 - p))), not that of normal errors.

    Parameters
    ----------
    positive : array of bool
        Which cases are of the class.
    probability : array
        Probabilities of the class.
    level : float
        Chance that nothing stands out in a calibrated set.

    Examples
    --------
    >>> found = surprising(np.array([1, 0, 1, 1, 0], bool), np.array([0.8, 0.3, 0.9, 0.01, 0.2]))
    >>> found.rows.tolist(), found.errors.tolist()
    ([3], [0.99])
    """
    errors = np.asarray(positive, dtype=float) - probability
    smaller = np.minimum(probability, 1 - probability)
    order = np.argsort(smaller, kind="stable")
    below = np.zeros(len(errors), dtype=bool)
    below[order] = np.cumsum(smaller[order]) <= 1 - level
    rows = np.flatnonzero(below & (np.abs(errors) > FAIR))
    rows = rows[np.argsort(-np.abs(errors[rows]), kind="stable")].astype(np.int64)
    rms, spread = float(np.sqrt(np.square(errors).mean())), float(np.mean(probability * (1 - probability)))
    usual = 2 * float(np.sqrt(spread)) if spread > 0 else 1.0
    return Outlying(float(np.abs(errors).mean()) / rms if rms > 0 else usual, rows, errors[rows], usual)
