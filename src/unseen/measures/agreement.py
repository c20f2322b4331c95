"""Agreement of decisions and truth over a whole confusion matrix: accuracy, F1, Matthews' correlation, d'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import NotApplicable
from unseen.core.registry import register
from unseen.measures.confusion import ClassAverage, Counts, FromClasses, FromTable, ratio

__all__ = ["F1", "Accuracy", "BalancedAccuracy", "DPrime", "Mcc"]

FAMILY = ("accuracy", "balanced-accuracy", "f1", "mcc", "d-prime")


@register
@dataclass(frozen=True)
class Accuracy(FromClasses):
    """Share of the cases that are classified right; 1 - the zero-one loss.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299, table 1.

    Examples
    --------
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Accuracy().of_set(y, calls), 4)
    0.6
    """

    id: ClassVar[str] = "accuracy"
    aliases: ClassVar[tuple[str, ...]] = ("accuracy_score",)
    direction: ClassVar[str] = "higher"

    def of_classes(self, counts: Counts, positive: int = 1) -> Floats:
        """Return the hits over all cases."""
        return ratio(counts.hits.sum(axis=-1), (counts.hits + counts.misses).sum(axis=-1))


@register
@dataclass(frozen=True)
class BalancedAccuracy(FromClasses):
    """Mean of the classes' sensitivities; guessing gives one over the number of classes whatever the prevalence.

    References
    ----------
    Brodersen, K. H., Ong, C. S., Stephan, K. E. and Buhmann, J. M. (2010). The balanced accuracy and its posterior
    distribution. International Conference on Pattern Recognition, 3121-3124.

    Examples
    --------
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(BalancedAccuracy().of_set(y, calls), 4)
    0.5833
    """

    id: ClassVar[str] = "balanced-accuracy"
    aliases: ClassVar[tuple[str, ...]] = (
        "balanced_accuracy",
        "balanced_accuracy_score",
    )
    direction: ClassVar[str] = "higher"

    def of_classes(self, counts: Counts, positive: int = 1) -> Floats:
        """Return the mean of hits over cases; classes without a case do not count."""
        there = counts.hits + counts.misses
        each = ratio(counts.hits, there)
        return ratio(np.nan_to_num(each).sum(axis=-1), (there > 0).sum(axis=-1).astype(float))


@register
@dataclass(frozen=True)
class F1(ClassAverage):
    """Harmonic mean of precision and sensitivity of the positive class; 0 if it is neither there nor predicted.

    References
    ----------
    van Rijsbergen, C. J. (1979). Information retrieval, 2nd edition. Butterworths.

    Examples
    --------
    >>> round(F1().of_set(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])), 3)
    0.5
    """

    id: ClassVar[str] = "f1"
    aliases: ClassVar[tuple[str, ...]] = (
        "f1_score",
        "f1-score",
    )
    direction: ClassVar[str] = "higher"

    def of_counts(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> Floats:
        """Return 2 TP / (2 TP + FP + FN), 0 for 0 / 0."""
        total = 2 * hits + misses + alarms
        return np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0)


@register
@dataclass(frozen=True)
class Mcc(FromClasses):
    """Correlation of truth and decision; 0 for guessing, and if either never varies.

    References
    ----------
    Matthews, B. W. (1975). Comparison of the predicted and observed secondary structure of T4 phage lysozyme. Biochimica
    et Biophysica Acta 405, 442-451. Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation
    coefficient. Computational Biology and Chemistry 28, 367-374.

    Examples
    --------
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(Mcc().of_set(y, calls), 4)
    0.1667
    """

    id: ClassVar[str] = "mcc"
    aliases: ClassVar[tuple[str, ...]] = ("matthews_corrcoef",)
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0

    def of_classes(self, counts: Counts, positive: int = 1) -> Floats:
        """Return the covariance of the class indicators over the root of their variances."""
        true, calls = counts.hits + counts.misses, counts.hits + counts.alarms
        total = true.sum(axis=-1)
        covariance = counts.hits.sum(axis=-1) * total - (true * calls).sum(axis=-1)
        spread = (total**2 - (true**2).sum(axis=-1)) * (total**2 - (calls**2).sum(axis=-1))
        result: Floats = np.divide(covariance, np.sqrt(spread), out=np.zeros_like(covariance), where=spread > 0)
        return result


@register
@dataclass(frozen=True)
class DPrime(FromTable):
    """How far the decisions separate the classes, in standard deviations of normal scores; 0 for guessing.

    It is z(hit rate) - z(false-alarm rate); rates of 0 and 1 count as half a case short of them.
    Not to be confused with `corner-distance`, which Hutton (1992) calls d'.

    References
    ----------
    Green, D. M. and Swets, J. A. (1966). Signal detection theory and psychophysics. Wiley. Macmillan, N. A. and Kaplan,
    H. L. (1985). Detection theory analysis of group data. Psychological Bulletin 98, 185-199 (rates of 0 and 1).

    Examples
    --------
    >>> y, calls = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    >>> round(DPrime().of_set(y, calls), 4)
    0.4307
    """

    id: ClassVar[str] = "d-prime"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    direction: ClassVar[str] = "higher"
    neutral: ClassVar[float | None] = 0.0

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the difference of the normal quantiles; NaN if a class is missing."""
        from scipy.special import ndtri

        if tables.shape[-1] > 2:
            raise NotApplicable("d-prime is for two classes.")
        there = tables.sum(axis=-1)
        calls = ratio(tables[..., positive], there)
        edge = ratio(np.full_like(there, 0.5), there)
        z = ndtri(np.clip(calls, edge, 1 - edge))
        return np.asarray(z[..., positive] - z[..., 1 - positive])
