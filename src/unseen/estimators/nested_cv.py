"""Nested cross-validation interval (Bates, Hastie & Tibshirani, 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.registry import register
from unseen.designs.nested import Nested
from unseen.estimators.unit_mean import unit_mean

__all__ = ["NestedCv"]


@dataclass(frozen=True)
class _Folds:
    """Per outer fold: its repeat, the mean inner error, the outer error, and the variance of the latter."""

    repeat: Ints
    inner: Floats
    outer: Floats
    variance: Floats


@register
@dataclass(frozen=True)
class NestedCv(TableMethod):
    """Cross-validation error, its naive standard error widened by what inner cross-validation shows it to miss.

    Within the data without fold k, cross-validation estimates the error that fold k then measures: the mean of
    (inner - outer)^2 minus the variance of the outer mean is the mean squared error of cross-validation. Its root over the
    naive standard error is the inflation, kept in [1, sqrt K]. Fewer than ten repetitions are not recommended: with three, 95% intervals of nearest
    neighbours on 100 rows covered .917, with ten .932.

    Parameters
    ----------
    bias : {"linear", "authors", "none"}
        Correction for training on less than n units: factor 1 + (K-2)/K, which follows from an error a + b/n; the factor
        1 + ((K-2)/K)^1.5 of the authors' program; or none, for the inner error itself.

    References
    ----------
    Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do
    it? Journal of the American Statistical Association 119, 1434-1445.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="nested-cv", random_state=0)
    >>> e.n_fits, str(e.target)
    (150, 'the algorithm trained on 150 rows')
    """

    bias: str = "linear"
    id: ClassVar[str] = "nested-cv"
    designs: ClassVar[frozenset[str]] = frozenset({"nested"})
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.bias not in ("linear", "authors", "none"):
            raise InputError(f"bias is {self.bias!r}; give 'linear', 'authors' or 'none'.")

    def default_design(self, data: Data) -> Nested:
        """Return 10 shuffles into 5 folds."""
        return Nested(n_folds=5, n_repeats=10)

    def inflation(self, table: LossTable) -> Floats:
        """Return the inflation after each repetition; it should have settled by the last."""
        return self._inflation(self._folds(table), self._naive(table), self._n_folds(table))

    def _inflation(self, folds: _Folds, naive: float, k: int) -> Floats:
        repeats = np.unique(folds.repeat)
        error = np.square(folds.inner - folds.outer) - folds.variance
        mse = np.array([error[folds.repeat <= r].mean() for r in repeats])
        smaller = naive * np.sqrt(k / (k - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num(np.sqrt(np.maximum(mse, 0)) / smaller, nan=1.0)
        return np.asarray(np.clip(ratio, 1.0, np.sqrt(k)))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the error extrapolated to n units and its widened normal interval."""
        level = check_table(self, table, level)
        folds, k = self._folds(table), self._n_folds(table)
        if not len(folds.repeat):
            raise InputError(f"{self.id} needs one outer fold all of whose fits were completed; there is none.")
        factor = {"linear": 1 + (k - 2) / k, "authors": 1 + ((k - 2) / k) ** 1.5, "none": 0.0}[self.bias]
        inner, outer = folds.inner.mean(), folds.outer.mean()
        value = float(np.clip(inner - factor * (inner - outer), *table.range))
        naive = self._naive(table)
        se = naive * float(self._inflation(folds, naive, k)[-1])
        n = table.plan.n_units
        n_train = n * (k - 2) / k if self.bias == "none" else n
        return normal_interval(self, table, value, se, level, n_train=n_train)

    def _labels(self, table: LossTable) -> tuple[Ints, Ints, Ints]:
        labels = np.array([(s.repeat, s.fold, s.part) for s in table.plan], dtype=np.int64)
        return labels[:, 0], labels[:, 1], labels[:, 2]

    def _n_folds(self, table: LossTable) -> int:
        return int(self._labels(table)[1].max()) + 1

    def _naive(self, table: LossTable) -> float:
        """Return the standard error of plain cross-validation, its square averaged over repetitions."""
        repeat, _, part = self._labels(table)
        done = self._completed_splits(table)
        masks = [(repeat == r) & (part == -1) for r in np.unique(repeat)]
        squares = [unit_mean(table, mask).std_error ** 2 for mask in masks if done[mask].any()]
        return float(np.sqrt(np.mean(squares)))

    def _completed_splits(self, table: LossTable) -> Array:
        done = np.zeros(len(table.plan), dtype=bool)
        done[table.completed] = True
        return done

    def _folds(self, table: LossTable) -> _Folds:
        repeat, fold, part = self._labels(table)
        done = self._completed_splits(table)
        rows = []
        for r, k in sorted(set(zip(repeat[part == -1].tolist(), fold[part == -1].tolist()))):
            outer = (repeat == r) & (part == -1) & (fold == k)
            inner = (repeat == r) & (part == k)
            if done[outer].all() and done[inner].all():
                tested = unit_mean(table, outer)
                variance = 0.0 if tested.n_units < 2 else tested.std_error**2
                rows.append((r, unit_mean(table, inner).value, tested.value, variance))
        columns = np.array(rows, dtype=float).reshape(-1, 4)
        return _Folds(columns[:, 0].astype(np.int64), columns[:, 1], columns[:, 2], columns[:, 3])
