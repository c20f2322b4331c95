"""Curves and the confusion matrix of a set of predictions: ROC, precision-recall, calibration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, Target, check_level
from unseen.core.notes import Note
from unseen.core.result import Result
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.calibration_fit import CalibrationFit, calibration_fit
from unseen.evaluation.measure_intervals import effective_size
from unseen.evaluation.scored_cases import ScoredCases
from unseen.measures.area_variance import area_freedom, delong
from unseen.measures.calibration import BrierParts, bins_of, brier_decomposition
from unseen.show.text import text_table

__all__ = ["AucDifference", "Calibration", "Confusion", "PrecisionRecall", "Roc"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Confusion(Result):
    """Confusion matrix: counts, and for each true class the share of every decision with its Wilson interval.

    Parameters
    ----------
    classes : tuple of str
        Labels, in the order of rows (truth) and columns (decision).
    counts, share, low, high : ndarray
        Weighted counts; shares of the row with their limits, NaN for a class without cases.
    level : float
        Confidence level of the limits.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    classes: tuple[str, ...]
    counts: Floats
    share: Floats
    low: Floats
    high: Floats
    level: float

    def __getitem__(self, cell: tuple[Any, Any]) -> float:
        i, j = (self.classes.index(str(label)) for label in cell)
        return float(self.counts[i, j])

    def interval(self, truth: Any, decision: Any) -> Interval:
        """Return the limits of the share of a true class that gets a decision."""
        i, j = (self.classes.index(str(label)) for label in (truth, decision))
        return Interval(float(self.low[i, j]), float(self.high[i, j]), self.level)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per cell."""
        return [
            {
                "truth": self.classes[i],
                "decision": self.classes[j],
                "count": float(self.counts[i, j]),
                "share": float(self.share[i, j]),
                "lower": float(self.low[i, j]),
                "upper": float(self.high[i, j]),
            }
            for i in range(len(self.classes))
            for j in range(len(self.classes))
        ]

    def __str__(self) -> str:
        rows = [[c, *(f"{v:g}" for v in line)] for c, line in zip(self.classes, self.counts)]
        return text_table(rows, ["", *self.classes], right=self.classes)


# stands for infinitely many degrees of freedom, which JSON cannot hold
MOST_FREEDOM = 1e9


@dataclass(frozen=True)
class AucDifference(Result):
    """The area under one ROC curve minus that under another, with DeLong's test.

    Parameters
    ----------
    estimate : Estimate
        The difference, its standard error and interval.
    statistic, p : float or None
        Difference over its standard error and two-sided p-value, by Student's t; None if the two curves never differ.
    paired : bool
        Whether both curves are of the same cases, whose covariance is then allowed for.
    """

    estimate: Estimate
    statistic: float | None
    p: float | None
    paired: bool

    @property
    def value(self) -> float:
        """The difference; positive if the first curve has the larger area."""
        return self.estimate.value

    @property
    def interval(self) -> Interval | None:
        """Interval of the difference."""
        return self.estimate.interval

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row of `frame()`."""
        return [{**self.estimate.row(), "statistic": self.statistic, "p": self.p, "paired": self.paired}]

    def __str__(self) -> str:
        p = "" if self.p is None else f", p = {self.p:.3g}"
        return f"{self.estimate}{p} ({'same' if self.paired else 'different'} cases)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Roc(Result):
    """Receiver operating characteristic: one point per distinct score.

    Parameters
    ----------
    label : str
        The class called positive.
    threshold, hit_rate, alarm_rate : ndarray
        From the highest score down; the first point, (0, 0), has no finite threshold.
    auc : Estimate
        Area with its interval.
    positive, score, units, weight : ndarray
        The cases themselves, for tests and bands; without weights all count once.

    Examples
    --------
    >>> import unseen
    >>> m = unseen.measure([0, 0, 1, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.9, 0.2])
    >>> m.roc().hit_rate.round(2).tolist(), round(m.roc().auc.value, 3)
    ([0.0, 0.33, 0.67, 0.67, 1.0, 1.0, 1.0], 0.889)
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    label: str
    threshold: Floats
    hit_rate: Floats
    alarm_rate: Floats
    auc: Estimate
    positive: Array = field(repr=False)
    score: Floats = field(repr=False)
    units: Ints = field(repr=False)
    weight: Floats | None = field(default=None, repr=False)

    def band(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Return false-alarm rates with a lower and an upper curve between which the whole true curve lies.

        References
        ----------
        Campbell, G. (1994). Advances in statistical methodology for the evaluation of diagnostic and laboratory tests.
        Statistics in Medicine 13, 499-508: both empirical distributions within their Kolmogorov-Smirnov limits.
        """
        check_level(level)
        if len(np.unique(self.units)) < len(self.units):
            raise NotApplicable("the band needs independent cases; with groups it would be too narrow.")
        tail = (1 - np.sqrt(level)) / 2
        plus, minus = int(self.positive.sum()), int((~self.positive).sum())
        up, across = (float(np.sqrt(np.log(1 / tail) / (2 * m))) for m in (plus, minus))
        grid = np.unique(
            np.concatenate([self.alarm_rate, np.clip(self.alarm_rate + across, 0, 1), np.linspace(0, 1, 101)])
        )
        low = np.where(grid - across > 0, _hit_rate_before(self, grid - across), 0.0) - up
        high = _hit_rate_beyond(self, np.minimum(grid + across, 1.0)) + up
        return grid, np.clip(low, 0, 1), np.clip(high, 0, 1)

    def difference(self, other: Roc, *, paired: bool | None = None, level: float = 0.95) -> AucDifference:
        """Return this area minus another's with DeLong's test, by Student's t: a rare class leaves few degrees of freedom.

        Parameters
        ----------
        other : Roc
            The other curve.
        paired : bool, optional
            Whether both are of the same cases in the same order; by default if their labels are the same.
        level : float
            Confidence level.
        """
        from scipy.special import stdtr, stdtrit

        check_level(level)
        same = np.array_equal(self.positive, other.positive) and np.array_equal(self.units, other.units)
        same = same and np.array_equal(self._weights(), other._weights())
        if paired and not same:
            raise InputError("the two curves are not of the same cases in the same order; leave paired out.")
        paired = same if paired is None else paired
        if paired:
            areas, c = delong(self.positive, self.score, other.score, units=self.units, weight=self.weight)
            value, variance = float(areas[0] - areas[1]), float(c[0, 0] + c[1, 1] - 2 * c[0, 1])
            df = area_freedom(self.positive, self.score, self.units, self.weight, other.score)
        else:
            one, two = (delong(r.positive, r.score, units=r.units, weight=r.weight) for r in (self, other))
            value, parts = float(one[0][0] - two[0][0]), [float(one[1][0, 0]), float(two[1][0, 0])]
            each = [area_freedom(r.positive, r.score, r.units, r.weight) for r in (self, other)]
            variance, below = sum(parts), sum(v**2 / d for v, d in zip(parts, each))
            df = variance**2 / below if below > 0 else np.inf
        df, se = min(df, MOST_FREEDOM), float(np.sqrt(max(variance, 0.0)))
        half = float(stdtrit(df, (1 + level) / 2)) * se
        interval = Interval(max(value - half, -1.0), min(value + half, 1.0), level) if se > 0 else None
        n = len(np.unique(self.units)) + (0 if paired else len(np.unique(other.units)))
        made = Estimate(
            value=value,
            std_error=se,
            interval=interval,
            df=df,
            method="delong",
            target=Target.MODEL,
            loss="auc difference",
            n_units=n,
            n_fits=0,
        )
        z = value / se if se > 0 else None
        return AucDifference(made, z, None if z is None else float(2 * stdtr(df, -abs(z))), bool(paired))

    def _weights(self) -> Floats:
        return np.ones(len(self.score)) if self.weight is None else self.weight

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per point."""
        return [
            {"threshold": float(t), "false_alarm_rate": float(a), "sensitivity": float(h)}
            for t, a, h in zip(self.threshold, self.alarm_rate, self.hit_rate)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the points and the area."""
        return {"label": self.label, "auc": self.auc.to_dict(), "points": self.rows()}

    def __str__(self) -> str:
        return f"ROC of {self.label}: {len(self.threshold)} points; {self.auc}"


def _hit_rate_before(roc: Roc, rate: Floats) -> Floats:
    """Return the hit rate at the last point left of a false-alarm rate."""
    return roc.hit_rate[np.maximum(np.searchsorted(roc.alarm_rate, rate, side="left") - 1, 0)]


def _hit_rate_beyond(roc: Roc, rate: Floats) -> Floats:
    """Return the hit rate at the first point beyond a false-alarm rate."""
    return roc.hit_rate[np.minimum(np.searchsorted(roc.alarm_rate, rate, side="right"), len(roc.hit_rate) - 1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class PrecisionRecall(Result):
    """Precision against sensitivity, one point per distinct score, never joined by straight lines.

    Parameters
    ----------
    label : str
        The class called positive.
    threshold, recall, precision, low, high : ndarray
        From the highest score down, with Wilson limits of the precision.
    average_precision : Estimate
        Area under the steps, with its interval.
    prevalence : float
        What guessing would give.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    label: str
    threshold: Floats
    recall: Floats
    precision: Floats
    low: Floats
    high: Floats
    average_precision: Estimate
    prevalence: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per point."""
        names = ("threshold", "recall", "precision", "low", "high")
        return [dict(zip(names, map(float, line))) for line in zip(*(getattr(self, k) for k in names))]

    def __str__(self) -> str:
        return f"precision-recall of {self.label}: {len(self.threshold)} points; {self.average_precision}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration(Result):
    """Observed shares against predicted probabilities, in bins of about as many cases each.

    Parameters
    ----------
    label : str
        The class whose probabilities they are.
    predicted, observed, low, high : ndarray
        Mean probability, share of the class and its Wilson limits in each bin.
    count : ndarray of int
        Cases in each bin.
    brier : BrierParts
        Mean squared error of the probabilities and its parts.
    level : float
        Confidence level of the limits.
    fit : CalibrationFit
        Slope, intercept, debiased calibration error, tests, and the smooth curve with its band.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    label: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    count: Ints
    brier: BrierParts
    level: float
    fit: CalibrationFit

    @property
    def notes(self) -> tuple[Note, ...]:
        """Statistical weaknesses."""
        return self.fit.notes

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per bin."""
        names = ("predicted", "observed", "low", "high", "count")
        made = [dict(zip(names, map(float, line))) for line in zip(*(getattr(self, k) for k in names))]
        return [{**row, "count": int(row["count"])} for row in made]

    def __str__(self) -> str:
        b = self.brier
        return f"calibration of {self.label}: {b.sentence()}\n{self.fit.sentence()}"


def calibration_of(cases: ScoredCases, code: int, n_bins: int, level: float, seed: int) -> Calibration:
    """Return the calibration of one class's probabilities; cases of a group are not counted as independent ones."""
    positive, probability = cases.y == code, cases.column(code)
    bins = bins_of(probability, n_bins)
    mass = np.bincount(bins, cases.weight)
    observed, mean = (np.bincount(bins, cases.weight * v) / mass for v in (positive, probability))
    ends = np.empty((len(mass), 2))
    for k in range(len(mass)):
        whole = (bins == k).astype(float)
        ends[k] = wilson_interval(
            float(observed[k]), effective_size(cases, whole * positive, whole, float(observed[k]), level)[0], level
        )
    parts = brier_decomposition(positive, probability, n_bins, cases.weight)
    count = np.bincount(bins).astype(np.int64)
    return Calibration(
        label=cases.label(code),
        predicted=mean,
        observed=observed,
        low=ends[:, 0],
        high=ends[:, 1],
        count=count,
        brier=parts,
        level=level,
        fit=calibration_fit(cases, code, n_bins, level, seed),
    )
