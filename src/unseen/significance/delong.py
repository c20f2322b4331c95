"""Difference of two areas under the ROC curve on the same cases (DeLong, DeLong & Clarke-Pearson, 1988)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.method import finish
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.measures.area_variance import area, area_ends, area_freedom, delong
from unseen.significance.mcnemar import pooled_folds
from unseen.significance.paired import check_pair, comparison_of

__all__ = ["DeLong", "delong"]

MOST_FREEDOM = 1e9  # t is normal by then, and its quantiles are still computed


def _scores(table: LossTable, positive: int) -> Floats:
    source = table.source[0]
    score = source.test.score
    if score is None:
        raise InputError("delong needs scores; make the table with run(..., scores=True) and a model that gives them.")
    if score.shape[1] == 1:
        return np.asarray(score[:, 0] if positive == 1 else -score[:, 0])
    return np.asarray(score[:, positive])


def _fewer_units(units: Array, positive: Array) -> int:
    """Return how many units the smaller class has."""
    return min(len(np.unique(units[positive])), len(np.unique(units[~positive])))


def _share_ahead(split: Array, positive: Array, first: Floats, second: Floats) -> float | None:
    """Return the share of test parts on which the first area is larger, ties half; None if fewer than two have both classes."""
    order = np.argsort(split, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(split[order])) + 1)
    both = [rows for rows in parts if positive[rows].any() and not positive[rows].all()]
    gaps = [area(positive[rows], second[rows]) - area(positive[rows], first[rows]) for rows in both]
    if len(gaps) < 2:
        return None
    signs = np.sign(gaps)
    return float(np.mean(signs < 0) + 0.5 * np.mean(signs == 0))


@register
@dataclass(frozen=True)
class DeLong(PairedTest):
    """One minus the area under the ROC curve as the error; the covariance of two areas on the same cases is allowed for.

    The difference is referred to Student's t with Satterthwaite's degrees of freedom: the normal law of the paper rejects equal
    areas too often if a class is rare (.11 at .05 with 5 cases against 100, .08 with 10 against 300).

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845. Sun, X. and Xu, W.
    (2014). Fast implementation of DeLong's algorithm. IEEE Signal Processing Letters 21, 1389-1393.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> c = unseen.compare(GaussianNB(), DecisionTreeClassifier(max_depth=1), X, y, test="delong", random_state=0)
    >>> c.pairs[0].difference < 0, c.pairs[0].p < 0.05
    (True, True)
    """

    id: ClassVar[str] = "delong"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout", "kfold", "loo"})
    target: ClassVar[Target] = Target.MODEL
    needs: ClassVar[frozenset[str]] = frozenset({"test", "predictions"})
    weighted: ClassVar[bool] = False
    own_error: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U010", "U016"})
    version: ClassVar[int] = 4

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def alone(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return one model's 1 - AUC with DeLong's interval on the logit scale, as `unseen.measure` gives it."""
        positive, score = self._cases(table)
        units = table.data.units[table.source[0].test.row]
        areas, covariance = delong(positive, score, units=units)
        under, se = float(areas[0]), float(np.sqrt(max(covariance[0, 0], 0.0)))
        freedom = area_freedom(positive, score, units)
        low, high, how = area_ends(under, se, level, _fewer_units(units, positive), freedom)
        notes = (note("U010", how),) if how else ()
        made = finish(self, table, 1 - under, se, Interval(1 - high, 1 - low, level), None, notes=notes)
        return replace(made, loss="1 - auc")

    def set_error(self, table: LossTable, multiplicity: Floats) -> float:
        """Return 1 - AUC of the units counted as often as given; NaN if a class is missing."""
        positive, score = self._cases(table)
        repeats = multiplicity[table.data.units[table.source[0].test.row]].astype(np.int64)
        positive, score = np.repeat(positive, repeats), np.repeat(score, repeats)
        if positive.all() or not positive.any():
            return float("nan")
        return 1 - area(positive, score)

    def _cases(self, table: LossTable) -> tuple[Array, Floats]:
        data = table.data
        if data.classes is None or len(data.classes) != 2:
            raise NotApplicable(
                f"{self.id} compares areas under the ROC curve and needs two classes; with more, test='corrected-t' compares "
                "the mean over classes."
            )
        code = 1 if data.positive is None else int(np.searchsorted(data.classes, data.positive))
        positive = data.codes[table.source[0].test.row] == code
        if min(positive.sum(), (~positive).sum()) < 2:
            raise InputError(f"{self.id} needs at least 2 tested cases of each class.")
        score = _scores(table, code)
        if not np.all(np.isfinite(score)):
            raise InputError(f"{self.id}: a score is not a finite number; leave that model out or look at its scores.")
        return positive, score

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the difference of 1 - AUC, its interval and the p-value, by t with the freedom that few cases leave."""
        from scipy.special import stdtr, stdtrit

        difference, level = check_pair(self, a, b, level)
        rows = a.source[0].test.row
        (positive, first), (_, second) = self._cases(a), self._cases(b)
        if not np.array_equal(rows, b.source[0].test.row):
            raise InputError(f"{self.id}: a fit of one model failed; the two must have tested the same rows.")
        units = difference.data.units[rows]
        areas, covariance = delong(positive, first, second, units=units)
        df = min(area_freedom(positive, first, units, minus=second), MOST_FREEDOM)
        value = float(areas[1] - areas[0])
        se = float(np.sqrt(max(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1], 0.0)))
        notes: tuple[Note, ...] = pooled_folds(difference)
        if se == 0:
            alone = _fewer_units(units, positive) < 2
            why = (
                "a class lies in one group, whose spread is unknown" if alone else "the two models rank all cases alike"
            )
            notes = (*notes, note("U010", why))
        half = float(stdtrit(df, (1 + level) / 2)) * se
        interval = Interval(value - half, value + half, level) if se > 0 else None
        estimate = replace(finish(self, difference, value, se, interval, df, notes=notes), loss="1 - auc")
        statistic = value / se if se > 0 else (0.0 if value == 0 else None)
        p = (1.0 if value == 0 else float("nan")) if se == 0 else float(2 * stdtr(df, -abs(value / se)))
        made = comparison_of(difference, estimate, level, statistic=statistic, reference=f"t({df:.4g})", p=p)
        # areas have no value per unit to divide by, and the share of splits must be of areas, not of the table's losses
        ahead = _share_ahead(a.source[0].test.split, positive, first, second)
        return replace(made, effect=None, share_of_splits=ahead)
