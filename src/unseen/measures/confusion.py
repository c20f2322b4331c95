"""Measures that are functions of a confusion matrix: counting, one class against the rest, and averages over classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.measure import SetMeasure

__all__ = [
    "AVERAGES",
    "MOST_IN_TABLES",
    "ClassAverage",
    "ClassRate",
    "Counts",
    "FromClasses",
    "FromTable",
    "against_rest",
    "counts_of",
    "ratio",
    "tables_of",
]

AVERAGES = ("auto", "positive", "macro", "micro", "weighted")
# with more classes many confusion matrices at once are large, and most of their cells empty: only the classes' counts are made
MOST_IN_TABLES = 20


def tables_of(y: Array, value: Array, weights: Floats, size: int) -> Floats:
    """Return confusion matrices, truth by row and decision by column, one for each row of `weights`.

    Examples
    --------
    >>> tables_of(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones((1, 3)), 2).tolist()
    [[[1.0, 1.0], [0.0, 1.0]]]
    """
    cell = y.astype(np.int64) * size + value.astype(np.int64)
    if len(weights) == 1:
        return np.asarray(np.bincount(cell, weights[0], size * size), dtype=float).reshape(1, size, size)
    from scipy.sparse import csr_array

    n = len(y)
    membership = csr_array((np.ones(n), (cell, np.arange(n))), shape=(size * size, n))
    return np.ascontiguousarray((membership @ weights.T).T).reshape(len(weights), size, size)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, NaN if there is nothing to divide by."""
    result: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
    return result


class Counts(NamedTuple):
    """Counts of a class against the rest."""

    hits: Floats
    misses: Floats
    alarms: Floats
    rejections: Floats


def against_rest(tables: Floats) -> Counts:
    """Return hits, misses, false alarms and correct rejections of every class against the rest, class on the last axis."""
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    misses = tables.sum(axis=-1) - hits
    alarms = tables.sum(axis=-2) - hits
    return Counts(hits, misses, alarms, tables.sum(axis=(-2, -1))[..., None] - hits - misses - alarms)


def counts_of(y: Array, value: Array, weights: Floats, size: int) -> Counts:
    """Return what `against_rest` makes of `tables_of`, without the tables: time and memory grow with cases and classes alone.

    Examples
    --------
    >>> y, value, weights = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]), np.ones((1, 4))
    >>> [c.tolist() for c in counts_of(y, value, weights, 3)] == [
    ...     c.tolist() for c in against_rest(tables_of(y, value, weights, 3))
    ... ]
    True
    """
    right = np.flatnonzero(y == value)
    there = np.array([np.bincount(y, w, size) for w in weights])
    calls = np.array([np.bincount(value, w, size) for w in weights])
    hits = np.array([np.bincount(y[right], w[right], size) for w in weights])
    misses, alarms = there - hits, calls - hits
    return Counts(hits, misses, alarms, there.sum(axis=-1)[:, None] - hits - misses - alarms)


class FromTable(SetMeasure):
    """A measure of a confusion matrix: a file gives `of_tables(tables, positive)`, and the other forms follow."""

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the measure of each confusion matrix."""
        raise NotImplementedError

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set, a row of `weights` each."""
        wide = 0 if score is None else score.shape[1]
        size = max(2, wide, int(y.max(initial=0)) + 1, int(value.max(initial=0)) + 1)
        return self.of_tables(tables_of(y, value, weights, size), positive)


class FromClasses(FromTable):
    """A measure of the counts of each class against the rest: a file gives `of_classes(counts, positive)`."""

    def of_classes(self, counts: Counts, positive: int = 1) -> Floats:
        """Return the measure of each set of counts, classes on their last axis."""
        raise NotImplementedError

    def of_tables(self, tables: Floats, positive: int = 1) -> Floats:
        """Return the measure of each confusion matrix."""
        return self.of_classes(against_rest(tables), positive)

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return the measure for many weightings of one set, a row of `weights` each."""
        size = 1 + max(int(y.max(initial=0)), int(value.max(initial=0)))
        if size <= MOST_IN_TABLES:
            return super().of_weights(y, value, score, weights, positive)
        return self.of_classes(counts_of(y.astype(np.int64), value.astype(np.int64), weights, size), positive)


@dataclass(frozen=True)
class ClassAverage(FromClasses):
    """A figure of one class against the rest: that of the positive class, or a mean over classes.

    Parameters
    ----------
    average : {"auto", "positive", "macro", "micro", "weighted"}
        The positive class alone; the plain mean over classes; the figure of the summed counts; the mean weighted by
        true class sizes. "auto" is "positive" for two classes and "macro" for more.
    """

    average: str = "auto"
    over_classes: ClassVar[bool] = True  # with more than two classes it is a mean over them

    def __post_init__(self) -> None:
        if self.average not in AVERAGES:
            raise InputError(f"average is {self.average!r}; give one of {', '.join(AVERAGES)}.")

    def of_counts(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> Floats:
        """Return the figure from the four counts; NaN if it is undefined."""
        raise NotImplementedError

    def of_classes(self, counts: Counts, positive: int = 1) -> Floats:
        """Return the measure; classes for which it is undefined do not count in a mean."""
        if self.average == "positive" or (self.average == "auto" and counts.hits.shape[-1] <= 2):
            return self.of_counts(*(c[..., positive] for c in counts))
        if self.average == "micro":
            return self.of_counts(*(c.sum(axis=-1) for c in counts))
        each = self.of_counts(*counts)
        seen = counts.hits + counts.misses + counts.alarms > 0
        weight = (counts.hits + counts.misses) if self.average == "weighted" else seen.astype(float)
        weight = np.where(np.isfinite(each) & seen, weight, 0.0)
        return ratio((weight * np.nan_to_num(each)).sum(axis=-1), weight.sum(axis=-1))


@dataclass(frozen=True)
class ClassRate(ClassAverage):
    """A share of counts: a file names the part and the two counts that make up the whole, each a field of `Counts`."""

    part: ClassVar[str] = ""
    whole: ClassVar[tuple[str, str]] = ("", "")

    def share(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> tuple[Floats, Floats]:
        """Return the counts whose ratio it is, part and whole."""
        counts = Counts(hits, misses, alarms, rejections)
        first, second = (getattr(counts, name) for name in self.whole)
        return getattr(counts, self.part), first + second

    def of_counts(self, hits: Floats, misses: Floats, alarms: Floats, rejections: Floats) -> Floats:
        """Return the share; NaN if the whole is empty."""
        return ratio(*self.share(hits, misses, alarms, rejections))
