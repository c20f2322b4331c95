"""Curves traced by a moving threshold: one point per distinct score, in O(n log n)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError, NotApplicable

__all__ = ["FromCurve", "Sweep", "corner_distance", "partial_area", "score_column", "sweep"]


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
        """Share of positives at or above each threshold; 1 where nothing is."""
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


class FromCurve:
    """Mixin: a measure of two classes that says `of_sweep(sweep)` gets its other forms from it."""

    def of_sweep(self, curve: Sweep) -> Floats:
        """Return the measure for each weighting of a sweep."""
        raise NotImplementedError

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set; NaN where a class is missing."""
        column = score_column(y, score, positive, str(getattr(self, "id", "this measure")))
        curve = sweep(y == positive, column, weights)
        both = (curve.plus[:, -1] > 0) & (curve.minus[:, -1] > 0)
        out = np.full(len(weights), np.nan)
        if both.any():
            out[both] = self.of_sweep(Sweep(curve.threshold, curve.plus[both], curve.minus[both]))
        return out

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return the measure of a set of predictions; NaN where a class is missing."""
        weights = np.ones((1, len(y))) if weight is None else np.asarray(weight, dtype=float)[None]
        return float(self.of_weights(y, value, score, weights, positive)[0])


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
