"""Corrected t interval that keeps the range of the loss (Nadeau & Bengio, 2003; Wilson, 1927)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, count_tested_units, finish, no_spread, split_freedom
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.repeated_kfold import FOLDS, RepeatedKFold, rounds_of_folds
from unseen.estimators.corrected_t import large_share
from unseen.estimators.tails import heavy_tail_note
from unseen.estimators.wilson import score_ends

__all__ = ["RangeT", "ends_in_range", "log_ends", "split_contributions", "variance_over_units"]

FIVE_ROUNDS = 50  # folds; fewer rounds test the same units, and what these differ by is worth no less
LARGEST_EXPONENT = 700.0  # exp of more is no number; such an interval says nothing anyway


def log_ends(value: float, std_error: float, quantile: float) -> tuple[float, float]:
    """Return the ends of an interval for a positive value, symmetric in its logarithm by the delta method.

    Examples
    --------
    >>> [round(v, 4) for v in log_ends(2.0, 0.2, 2.0)]
    [1.6375, 2.4428]
    """
    factor = float(np.exp(min(quantile * std_error / value, LARGEST_EXPONENT)))
    return value / factor, value * factor


def ends_in_range(value: float, std_error: float, quantile: float, span: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an interval inside a range of losses, for a value strictly inside it and a standard error above 0.

    Parameters
    ----------
    value, std_error, quantile : float
        The estimate, its standard error and the quantile of its reference distribution.
    span : tuple of float
        Smallest and largest possible value; either may be infinite.

    Returns
    -------
    low, high : float
        Wilson's form if the range is bounded, with the number of cases m (1 - m) / se^2 that has this standard error; symmetric
        in the logarithm if one end is infinite; plainly symmetric if both are.

    Examples
    --------
    >>> [round(v, 4) for v in ends_in_range(0.1, 0.03, 2.0, (0.0, 1.0))]
    [0.0546, 0.1762]
    """
    low, high = span
    if np.isfinite(low) and np.isfinite(high):
        width = high - low
        share, error = (value - low) / width, std_error / width
        ends = score_ends(share, share * (1 - share) / error**2, quantile)
        return low + width * ends[0], low + width * ends[1]
    if np.isfinite(low):
        ends = log_ends(value - low, std_error, quantile)
        return low + ends[0], low + ends[1]
    if np.isfinite(high):
        ends = log_ends(high - value, std_error, quantile)
        return high - ends[1], high - ends[0]
    return value - quantile * std_error, value + quantile * std_error


def split_contributions(table: LossTable) -> Floats:
    """Return what each completed split adds to the estimate, which is their mean: the mean loss of all test rows together.

    Splits of equal weight contribute their mean losses. If groups differ in size, or rows in weight, the mean over all rows is a
    ratio, and a split counts as its linearisation has it (Cochran, 1977): m + J w_j / w (m_j - m).

    Examples
    --------
    >>> import unseen
    >>> losses = unseen.run("lda", unseen.datasets.load("iris"), design="repeated-kfold", random_state=0).losses()
    >>> np.allclose(split_contributions(losses), losses.split_means())
    True
    """
    if table.by_split:
        return table.contributions()
    splits, weight = table.test.split, table.row_weights(table.test.row)
    each = np.bincount(splits, weight, len(table.plan))[table.completed]
    mean = float(np.average(table.test.value, weights=weight))
    return np.asarray(mean + each / each.mean() * (table.split_means() - mean))


def variance_over_units(table: LossTable) -> float:
    """Return the variance of a split's contribution that follows from how much the losses of single units differ.

    It counts all that differs between units, the share of each class too, which stratified test parts have in common, so that
    their means tell nothing of it.

    Examples
    --------
    Guessing errs on two of three kinds of iris, in each part of 15 alike; the mean of 15 rows has variance 2/9 / 15:

    >>> import unseen
    >>> losses = unseen.run("dummy", unseen.datasets.load("iris"), design="repeated-kfold", random_state=0).losses()
    >>> round(variance_over_units(losses), 4), round(2 / 9 / 15 * 150 / 149, 4)
    (0.0149, 0.0149)
    """
    test, data = table.test, table.data
    weight = table.row_weights(test.row)
    mean = np.average(test.value, weights=weight)
    part = test.split.astype(np.int64) * data.n_units + data.units[test.row]
    _, own = np.unique(part, return_inverse=True)
    off = np.bincount(own, weight * (test.value - mean))
    splits, n = len(table.completed), count_tested_units(table)[0]
    size = weight.sum() / splits
    return float(np.sum(off**2) / splits / size**2 * n / max(n - 1, 1))


@register
@dataclass(frozen=True)
class RangeT(TableMethod):
    """Mean over repeated ten-fold cross-validation, every test part counted; its interval stays inside the range of the loss.

    The variance is that of the corrected t, (1/J + n2/n1) S^2 over all J folds, S^2 being the variance of the folds' means. It is
    no less than (1/50 + n2/n1) times what single units let expect of S^2: stratified folds have the same share of each class, so
    that their means differ less than those of new samples, and 50 are the folds of five rounds. Losses and scores with a bounded range, such as
    rates, areas and F1, get Wilson's form with the number of cases that has this standard error; positive losses get the log
    scale. The degrees of freedom are J - 1, or one less than the units if these are fewer; for areas only the units of the
    rarest class count. The models are trained on 90% of the units; the excess of their error over that of the model trained on
    all is small beside the interval, and is not taken off.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="range-t", random_state=0)
    >>> e.n_fits, str(e.target), 0 < e.interval.low < e.value
    (50, 'this model trained on 150 rows', True)
    """

    id: ClassVar[str] = "range-t"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-out", "monte-carlo", "repeated-kfold"})
    target: ClassVar[Target] = Target.MODEL
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    by_split: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U015", "U040"})
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> RepeatedKFold:
        """Return ten folds, or as many as there are units: 5 rounds up to 1,000 units, 2 up to 100,000, 1 above."""
        n = data.n_units
        return RepeatedKFold(min(FOLDS, n), rounds_of_folds(n))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean and its interval."""
        from scipy.special import stdtrit

        level = check_table(self, table, level)
        means = split_contributions(table)
        if means.size < 2:
            raise InputError(f"{self.id} needs at least 2 completed splits to see a spread; there is {means.size}.")
        n_test, n_train = table.plan.mean_sizes()
        value = float(means.mean())
        variance = float(means.var(ddof=1)) * (1 / means.size + n_test / n_train)
        if not table.by_split:
            least = variance_over_units(table) * (1 / max(means.size, FIVE_ROUNDS) + n_test / n_train)
            variance = max(variance, least)
        se = float(np.sqrt(variance))
        df = _freedom(table, means.size)
        quantile = float(stdtrit(df, (1 + level) / 2))
        notes = (*large_share(n_test / (n_test + n_train)), *heavy_tail_note(table))
        low, high = table.range
        ends: tuple[float, float] | None
        if no_spread(se, table) or not low < value < high:
            se, (ends, text) = 0.0, _ends_without_spread(table, value, quantile)
            notes = (*notes, note("U010", text))
        else:
            ends = ends_in_range(value, se, quantile, table.range)
        interval = None if ends is None else Interval(*ends, level)
        made = finish(self, table, value, se, interval, df, notes=notes)
        return replace(made, target=self.target.at_share(table.data))


def _freedom(table: LossTable, splits: int) -> int:
    """Return the degrees of freedom: those of the splits, and for areas at most one less than the units of the rarest class.

    Only these vary an area much: with 10 cases of a class in 100, 49 degrees of freedom covered .91, and 9 covered .94. Pooled
    measures, such as F1, need no such care (.97).
    """
    if table.by_split and not getattr(table, "pooled", False):
        return max(1, min(splits, count_tested_units(table)[0]) - 1)
    return split_freedom(table, splits)


def _ends_without_spread(table: LossTable, value: float, quantile: float) -> tuple[tuple[float, float] | None, str]:
    """Return Wilson's ends for the count of tested units, None if a value that does not vary has no such count; and a text."""
    low, high = table.range
    between = table.by_split and min(value - low, high - value) > 1e-12  # such as the area .5 of a constant
    if between or not np.isfinite(high - low):
        return None, "all splits gave the same value, so no interval can be given"
    units, which = count_tested_units(table)
    share = float(np.clip((value - low) / (high - low), 0, 1))
    ends = score_ends(share, units, quantile)
    text = f"all splits gave the same value; the interval is Wilson's for {units} tested units{which}"
    return (low + (high - low) * ends[0], low + (high - low) * ends[1]), text
