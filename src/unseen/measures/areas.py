"""Curves traced by a moving threshold, the areas under them and the distance to their perfect corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, NotApplicable
from unseen.core.measure import SetMeasure
from unseen.core.registry import register

__all__ = [
    "Auc",
    "AveragePrecision",
    "CornerDistance",
    "FromCurve",
    "PartialAuc",
    "Sweep",
    "corner_distance",
    "partial_area",
    "score_column",
    "sweep",
]

FAMILY = ("auc", "partial-auc", "average-precision", "corner-distance")


@dataclass(frozen=True)
class Sweep:
    """What lies at or above each threshold: thresholds from the highest down, sums of positive and negative weight.

    `plus` and `minus` have one row per weighting and one column more than there are thresholds; the first is zero.
    """

    threshold: Floats
    plus: Floats
    minus: Floats

    @property
    def hit_rate(self) -> Floats:
        """Sensitivity at each threshold."""
        return _share(self.plus)

    @property
    def alarm_rate(self) -> Floats:
        """False-alarm rate at each threshold."""
        return _share(self.minus)

    @property
    def precision(self) -> Floats:
        """Share of positives at or above each threshold; 1 if nothing is."""
        total = self.plus + self.minus
        return np.divide(self.plus, total, out=np.ones_like(total), where=total > 0)


def _share(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / sums[:, -1:]


def sweep(positive: Array, score: Floats, weights: Floats | None = None) -> Sweep:
    """Return the sums at or above every distinct score, for each row of `weights`.

    Examples
    --------
    >>> s = sweep(np.array([True, False, True, False]), np.array([0.9, 0.5, 0.5, 0.1]))
    >>> s.threshold.tolist(), s.hit_rate.tolist(), s.alarm_rate.tolist()
    ([0.9, 0.5, 0.1], [[0.0, 0.5, 1.0, 1.0]], [[0.0, 0.0, 0.5, 1.0]])
    """
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    ends = np.flatnonzero(np.append(np.diff(falling) != 0, True))
    weights = np.ones((1, len(score))) if weights is None else weights
    sorted_weights = weights[:, order]
    hits = positive[order].astype(float)
    plus = np.cumsum(sorted_weights * hits, axis=1)[:, ends]
    total = np.cumsum(sorted_weights, axis=1)[:, ends]
    zero = np.zeros((len(weights), 1))
    minus = np.maximum(total - plus, 0.0)
    return Sweep(falling[ends], np.hstack([zero, plus]), np.hstack([zero, minus]))


def score_column(y: Array, score: Floats | None, positive: int, name: str) -> Floats:
    """Return the score of the positive class, higher for it, or say why there is none."""
    if score is None:
        raise InputError(f"{name} needs scores; make the table with run(..., scores=True) and a model that gives them.")
    if y.max(initial=0) > 1 or score.shape[1] > 2:
        raise NotApplicable(f"{name} is for two classes.")
    return np.asarray(score[:, positive] if score.shape[1] == 2 else score[:, 0] if positive == 1 else -score[:, 0])


class FromCurve(SetMeasure):
    """A measure of a curve of two classes: a file gives `of_sweep(sweep)`, and the other forms follow."""

    needs_score: ClassVar[bool] = True

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the measure for each weighting of a sweep."""
        raise NotImplementedError

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set; NaN if a class is missing."""
        column = score_column(y, score, positive, self.id)
        curve = sweep(y == positive, column, weights)
        both = (curve.plus[:, -1] > 0) & (curve.minus[:, -1] > 0)
        out = np.full(len(weights), np.nan)
        if both.any():
            out[both] = self.of_sweep(Sweep(curve.threshold, curve.plus[both], curve.minus[both]))
        return out


def partial_area(hit: Floats, alarm: Floats, limit: float) -> Floats:
    """Return the area under each curve left of a false-alarm rate, the last stretch cut by a straight line."""
    left, right = np.minimum(alarm[:, :-1], limit), np.minimum(alarm[:, 1:], limit)
    width = right - left
    run = alarm[:, 1:] - alarm[:, :-1]
    slope = np.divide(hit[:, 1:] - hit[:, :-1], run, out=np.zeros_like(run), where=run > 0)
    start = hit[:, :-1] + slope * (left - alarm[:, :-1])
    return np.asarray((width * (start + slope * width / 2)).sum(axis=1))


def corner_distance(hit: Floats, alarm: Floats) -> Floats:
    """Return the distance from the corner (0, 1) to each curve along the minor diagonal, where hit = 1 - alarm."""
    level = hit + alarm - 1
    after = np.argmax(level >= 0, axis=1)
    rows = np.arange(len(level))
    before = np.maximum(after - 1, 0)
    low, high = level[rows, before], level[rows, after]
    share = np.divide(-low, high - low, out=np.zeros_like(low), where=high > low)
    crossing = alarm[rows, before] + share * (alarm[rows, after] - alarm[rows, before])
    return np.asarray(np.sqrt(2) * crossing)


@register
@dataclass(frozen=True)
class Auc(SetMeasure):
    """Chance that a random positive case scores higher than a random negative one, ties counted half.

    With more than two classes the mean over classes, each against the rest; classes without a case are left out.

    References
    ----------
    Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic (ROC)
    curve. Radiology 143, 29-36.

    Examples
    --------
    >>> Auc().of_set(np.array([0, 0, 1, 1]), np.zeros(4), np.array([[0.1], [0.4], [0.4], [0.8]]))
    0.875
    """

    id: ClassVar[str] = "auc"
    over_classes: ClassVar[bool] = True  # with more than two classes it is a mean over them
    aliases: ClassVar[tuple[str, ...]] = (
        "roc_auc",
        "roc-auc",
        "roc_auc_score",
    )
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.5
    needs_score: ClassVar[bool] = True

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the areas of many weightings of one set (a row of `weights` each), sorting once."""
        if score is not None and score.shape[1] > 2:
            there = [k for k in range(score.shape[1]) if np.any(y == k)]
            each = [self.of_weights((y == k).astype(int), value, score[:, [k]], weights) for k in there]
            return np.asarray(np.mean(each, axis=0))
        column = score_column(y, score, positive, self.id)
        plus, minus = np.flatnonzero(y == positive), np.flatnonzero(y != positive)
        minus = minus[np.argsort(column[minus], kind="stable")]
        # weight of the negatives below each positive, from running sums; ties count half
        below = np.searchsorted(column[minus], column[plus], side="left")
        upto = np.searchsorted(column[minus], column[plus], side="right")
        sums = np.zeros((len(weights), len(minus) + 1))
        np.cumsum(np.take(weights, minus, axis=1), axis=1, out=sums[:, 1:])
        height = np.take(sums, below, axis=1)
        if not np.array_equal(below, upto):
            height = (height + np.take(sums, upto, axis=1)) / 2
        own = np.take(weights, plus, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.einsum("ij,ij->i", own, height) / (own.sum(axis=1) * sums[:, -1]))


@register
@dataclass(frozen=True)
class PartialAuc(FromCurve):
    """Area under the ROC curve where false alarms are few, rescaled: 0.5 for chance, 1 for a perfect curve.

    Parameters
    ----------
    max_rate : float
        Largest false-alarm rate that matters.
    rescaled : bool
        Rescale as McClish does; False gives the plain area.

    References
    ----------
    McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9, 190-195.

    Examples
    --------
    >>> import numpy as np
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(PartialAuc().of_set(y, y, score[:, None]), 4)
    0.8246
    """

    max_rate: float = 0.1
    rescaled: bool = True
    id: ClassVar[str] = "partial-auc"
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.max_rate <= 1:
            raise InputError(f"max_rate is {self.max_rate!r}; a false-alarm rate lies above 0 and up to 1.")

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the area for each weighting of a sweep."""
        area = partial_area(curve.hit_rate, curve.alarm_rate, self.max_rate)
        least = self.max_rate**2 / 2
        return 0.5 * (1 + (area - least) / (self.max_rate - least)) if self.rescaled else area


@register
@dataclass(frozen=True)
class AveragePrecision(FromCurve):
    """Precision at each threshold, weighted by the gain in sensitivity it brings; guessing gives the prevalence.

    References
    ----------
    Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC curves. International Conference
    on Machine Learning, 233-240.

    Examples
    --------
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(AveragePrecision().of_set(y, y, score[:, None]), 4)
    0.9167
    """

    id: ClassVar[str] = "average-precision"
    aliases: ClassVar[tuple[str, ...]] = (
        "average_precision",
        "average_precision_score",
        "pr_auc",
    )
    direction: ClassVar[str] = "higher"

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the sum over thresholds of the gain in sensitivity times precision; no interpolation between them."""
        return np.asarray((np.diff(curve.hit_rate, axis=1) * curve.precision[:, 1:]).sum(axis=1))


@register
@dataclass(frozen=True)
class CornerDistance(FromCurve):
    """Distance of the ROC curve from the perfect corner: 0 for a perfect curve, 0.7071 for chance.

    It is measured where sensitivity and specificity are equal. Hutton calls it d'; that name is `d-prime`'s here.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    >>> round(CornerDistance().of_set(y, y, score[:, None]), 4)
    0.4714
    """

    id: ClassVar[str] = "corner-distance"
    range: ClassVar[tuple[float, float]] = (0.0, float(np.sqrt(2)))
    neutral: ClassVar[float | None] = float(np.sqrt(0.5))

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the distance for each weighting of a sweep."""
        return corner_distance(curve.hit_rate, curve.alarm_rate)
