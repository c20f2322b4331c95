"""Errors of predicted numbers: absolute, squared, quantile, and their trimmed and normalised means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.measure import Loss, SetMeasure
from unseen.core.registry import register

__all__ = [
    "R2",
    "Absolute",
    "NormalisedAbsolute",
    "NormalisedSquared",
    "NumberLoss",
    "NumberMeasure",
    "PinedaP",
    "Pov",
    "Quantile",
    "Rms",
    "Squared",
    "Trimmed",
    "TrimmedAbsolute",
    "TrimmedSquared",
    "moments",
    "trimmed_mean",
    "weighted_median",
]

FAMILY = (
    "absolute",
    "squared",
    "quantile",
    "rms",
    "normalised-absolute",
    "normalised-squared",
    "trimmed-absolute",
    "trimmed-squared",
    "pov",
    "pineda-p",
    "r2",
)


def moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weighted means and population variances, one for each row of `weights`."""
    centre = values.mean() if len(values) else 0.0
    shifted = values - centre  # so that squares of large numbers do not round the spread away
    total = weights.sum(axis=1)
    mean = weights @ shifted / total
    return mean + centre, np.maximum(weights @ np.square(shifted) / total - mean**2, 0.0)


def weighted_median(values: Floats, weight: Floats) -> float:
    """Return the middle value; between two neighbours if the weight splits evenly, NaN without any weight.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.ones(3)), weighted_median(np.array([1.0, 2.0]), np.ones(2))
    (2.0, 1.5)
    """
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    if not len(order):
        return float("nan")
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


def _ratio_influence(upper: Floats, lower: Floats, weight: Floats) -> Floats:
    """Return by how much each case moves the ratio of two means."""
    above, below = float(np.average(upper, weights=weight)), float(np.average(lower, weights=weight))
    return np.asarray((upper - above) / below - above / below**2 * (lower - below))


class NumberLoss(Loss):
    """A loss of predicted numbers."""

    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))


class NumberMeasure(SetMeasure):
    """A measure of predicted numbers."""

    task: ClassVar[str] = "regression"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))


@dataclass(frozen=True)
class Trimmed(NumberMeasure):
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

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the measure: as the mean of losses cut at the edge does, over the share that counts."""
        losses = self.loss_of(y - value)
        order = np.argsort(losses, kind="stable")
        edge = np.searchsorted(np.cumsum(weight[order]), (1 - self.share) * weight.sum())
        cut = np.minimum(losses, losses[order[min(int(edge), len(order) - 1)]])
        return np.asarray((cut - np.average(cut, weights=weight)) / (1 - self.share))


@register
@dataclass(frozen=True)
class Absolute(NumberLoss):
    """Absolute error; its mean is the mean absolute error.

    Examples
    --------
    >>> Absolute().per_example(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [0.0, 2.0]
    """

    id: ClassVar[str] = "absolute"
    aliases: ClassVar[tuple[str, ...]] = (
        "mae",
        "mean_absolute_error",
        "neg_mean_absolute_error",
    )

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the absolute difference `|y - value|`."""
        result: Floats = np.abs(y - value)
        return result

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean `|y_i - f_j|` over all pairs in O(n log n), through sorted prefix sums."""
        points = np.sort(value)
        sums = np.concatenate([[0.0], np.cumsum(points)])
        below = np.searchsorted(points, y)
        total = y * below - sums[below] + (sums[-1] - sums[below]) - y * (len(points) - below)
        return float(total.mean() / len(points))


@register
@dataclass(frozen=True)
class Squared(NumberLoss):
    """Squared error; its mean is the mean squared error.

    Examples
    --------
    >>> Squared().per_example(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [0.0, 4.0]
    """

    id: ClassVar[str] = "squared"
    aliases: ClassVar[tuple[str, ...]] = (
        "mse",
        "mean_squared_error",
        "neg_mean_squared_error",
    )

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return (y - value)^2."""
        result: Floats = np.square(y - value)
        return result

    def no_information(self, y: Array, value: Array, score: Floats | None = None) -> float:
        """Return the mean loss over all pairs, by the moments: var y + var f + (mean y - mean f)^2."""
        return float(y.var() + value.var() + (y.mean() - value.mean()) ** 2)


@register
@dataclass(frozen=True)
class Quantile(NumberLoss):
    """q (y - f) if f is too low, (1 - q) (f - y) if it is too high; half the absolute error at q = 0.5.

    Parameters
    ----------
    q : float
        Quantile that the predictions are meant to be.

    References
    ----------
    Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46, 33-50.

    Examples
    --------
    >>> Quantile(0.9).per_example(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(2).tolist()
    [0.9, 0.1]
    """

    q: float = 0.5
    id: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise InputError(f"q is {self.q!r}; a quantile lies strictly between 0 and 1.")

    def per_example(self, y: Array, value: Array, score: Floats | None = None) -> Floats:
        """Return the weighted distance from the prediction."""
        gap = np.asarray(y - value, dtype=float)
        return np.maximum(self.q * gap, (self.q - 1) * gap)


@register
@dataclass(frozen=True)
class Rms(NumberMeasure):
    """Square root of the mean squared error; never below the mean absolute error.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(Rms().of_set(y, f), 4)
    1.118
    """

    id: ClassVar[str] = "rms"
    aliases: ClassVar[tuple[str, ...]] = (
        "rmse",
        "root_mean_squared_error",
        "neg_root_mean_squared_error",
    )

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the root of the mean squared error for each weighting."""
        result: Floats = np.sqrt(weights @ np.square(y - value) / weights.sum(axis=1))
        return result

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the root: its square's distance from the mean, over twice the root."""
        squares = np.square(y - value)
        mean = float(np.average(squares, weights=weight))
        return np.asarray((squares - mean) / (2 * np.sqrt(mean)))


@register
@dataclass(frozen=True)
class NormalisedAbsolute(NumberMeasure):
    """1 for guessing the median, 0 for perfect predictions.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(NormalisedAbsolute().of_set(y, f), 4)
    0.5
    """

    id: ClassVar[str] = "normalised-absolute"
    neutral: ClassVar[float | None] = 1.0

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the ratio for each weighting; NaN if the target does not vary."""
        error = weights @ np.abs(y - value)
        spread = np.array([w @ np.abs(y - weighted_median(y, w)) for w in weights])
        result: Floats = np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
        return result

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the ratio; a shift of the median moves its own mean distance not at all."""
        error, spread = np.abs(y - value), np.abs(y - weighted_median(y, weight))
        return _ratio_influence(error, spread, weight)


@register
@dataclass(frozen=True)
class NormalisedSquared(NumberMeasure):
    """1 for guessing the mean, 0 for perfect predictions; 1 - R^2.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(NormalisedSquared().of_set(y, f), 4)
    0.3571
    """

    id: ClassVar[str] = "normalised-squared"
    neutral: ClassVar[float | None] = 1.0

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return E_m / s_t^2 for each weighting; NaN if the target does not vary."""
        spread = moments(np.asarray(y, dtype=float), weights)[1]
        error = weights @ np.square(y - value) / weights.sum(axis=1)
        result: Floats = np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
        return result

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the ratio."""
        return _ratio_influence(np.square(y - value), np.square(y - np.average(y, weights=weight)), weight)


@register
@dataclass(frozen=True)
class TrimmedAbsolute(Trimmed):
    """Mean of the smallest errors; a few wild patterns do not move it.

    Parameters
    ----------
    share : float
        Share of the losses left out, the largest ones; 5% by default.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(TrimmedAbsolute(0.25).of_set(y, f), 4)
    0.3333
    """

    id: ClassVar[str] = "trimmed-absolute"

    def loss_of(self, errors: Floats) -> Floats:
        """Return the absolute value of each error."""
        return np.asarray(np.abs(errors))


@register
@dataclass(frozen=True)
class TrimmedSquared(Trimmed):
    """Mean of the smallest errors; a few wild patterns do not move it.

    Parameters
    ----------
    share : float
        Share of the losses left out, the largest ones; 5% by default.

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(TrimmedSquared(0.25).of_set(y, f), 4)
    0.3333
    """

    id: ClassVar[str] = "trimmed-squared"

    def loss_of(self, errors: Floats) -> Floats:
        """Return the square of each error."""
        return np.asarray(np.square(errors))


@register
@dataclass(frozen=True)
class Pov(NumberMeasure):
    """Squared correlation: what a straight line through the predictions would explain; 0 for a constant.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> Pov().of_set(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """

    id: ClassVar[str] = "pov"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the squared correlation for each weighting; 0 if either does not vary."""
        dy, dv = np.asarray(y - np.mean(y), dtype=float), np.asarray(value - np.mean(value), dtype=float)
        total = weights.sum(axis=1)
        means = weights @ dy / total, weights @ dv / total
        spread = moments(dy, weights)[1] * moments(dv, weights)[1]
        joint = weights @ (dy * dv) / total - means[0] * means[1]
        result: Floats = np.minimum(1.0, np.divide(joint**2, spread, out=np.zeros_like(spread), where=spread > 0))
        return result

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the squared correlation: 2 r (u v - r (u^2 + v^2) / 2) of its standard scores."""
        scores = []
        for values in (y, value):
            mean, variance = moments(np.asarray(values, dtype=float), weight[None])
            scores.append((values - mean[0]) / np.sqrt(variance[0]))
        u, v = scores
        r = float(np.average(u * v, weights=weight))
        return np.asarray(2 * r * (u * v - r * (u**2 + v**2) / 2))


@register
@dataclass(frozen=True)
class PinedaP(NumberMeasure):
    """Share of the variance explained by the predictions as they are: 1 if perfect, 0 for guessing the mean, negative if worse.

    It is never above the squared correlation `pov`.

    References
    ----------
    Pineda, F. J. (1988). Dynamics and architecture for neural computation. Journal of Complexity 4, 216-245, as quoted by
    Hutton (1992), equation 6.

    Examples
    --------
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(PinedaP().of_set(y, f), 4)
    0.6429
    """

    id: ClassVar[str] = "pineda-p"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return 1 - E_m / s_t^2 for each weighting; NaN if the target does not vary."""
        spread = moments(np.asarray(y, dtype=float), weights)[1]
        error = weights @ np.square(y - value) / weights.sum(axis=1)
        result: Floats = 1 - np.divide(error, spread, out=np.full_like(spread, np.nan), where=spread > 0)
        return result

    def influence(self, y: Array, value: Array, score: Floats | None, weight: Floats) -> Floats:
        """Return by how much each case moves the share."""
        return -_ratio_influence(np.square(y - value), np.square(y - np.average(y, weights=weight)), weight)


@register
@dataclass(frozen=True)
class R2(PinedaP):
    """Share of the variance explained by the predictions as they are: 1 - SSE / SST.

    It is the same number as Pineda's P.

    References
    ----------
    Kvalseth, T. O. (1985). Cautionary note about R^2. American Statistician 39, 279-285.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 4.0])
    >>> round(R2().of_set(y, f), 4)
    0.6429
    """

    id: ClassVar[str] = "r2"
    aliases: ClassVar[tuple[str, ...]] = ("r2_score",)
