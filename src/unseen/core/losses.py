"""Losses of a run: a pure function of its predictions, kept long and viewed dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError
from unseen.core.notes import Note, merge_notes
from unseen.core.plan import Plan
from unseen.core.result import Result

if TYPE_CHECKING:
    from unseen.core.data import Data
    from unseen.core.table import PredictionTable

__all__ = ["LossTable", "Losses"]


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses in long form; `count` is the multiplicity of a training row (None: once)."""

    split: Ints
    row: Ints
    value: Floats
    count: Ints | None = None

    def sorted(self) -> Losses:
        """Return the rows ordered by split and row."""
        order = np.lexsort((self.row, self.split))
        return Losses(
            self.split[order],
            self.row[order],
            self.value[order],
            None if self.count is None else self.count[order],
        )

    def minus(self, other: Losses) -> Losses:
        """Return the differences on the (split, row) pairs both have."""
        a, b = self.sorted(), other.sorted()
        if len(a.row) != len(b.row) or not (np.array_equal(a.split, b.split) and np.array_equal(a.row, b.row)):
            shared = np.intersect1d(np.unique(a.split), np.unique(b.split))
            a, b = a._keep(shared), b._keep(shared)
        return Losses(a.split, a.row, a.value - b.value, a.count)

    def _keep(self, splits: Ints) -> Losses:
        mask = np.isin(self.split, splits)
        return Losses(
            self.split[mask],
            self.row[mask],
            self.value[mask],
            None if self.count is None else self.count[mask],
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LossTable(Result):
    """Losses of every test row of every split, with the table they came from.

    Parameters
    ----------
    source : tuple of PredictionTable
        One table, or the two of a difference.
    loss : str
        Id of the loss.
    range : tuple of float
        Smallest and largest possible value.
    test, train, full : Losses or None
        Losses on test rows, on training rows, and of the model fitted on all rows.
    measure : object or None
        The loss itself; None for a difference.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run(DecisionTreeClassifier(max_depth=1), X, y, design=unseen.designs.KFold(5), random_state=0)
    >>> losses = t.losses()
    >>> bool(losses.minus(losses).split_means().any())
    False
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    source: tuple[PredictionTable, ...]
    loss: str
    range: tuple[float, float]
    test: Losses
    train: Losses | None = None
    full: Losses | None = None
    measure: Any = None

    @property
    def plan(self) -> Plan:
        """The splits."""
        return self.source[0].plan

    @property
    def data(self) -> Data:
        """The rows without their features."""
        return self.source[0].data

    @property
    def by_split(self) -> bool:
        """Whether only the means of splits have a meaning, as for measures of whole sets."""
        return False

    @property
    def is_difference(self) -> bool:
        """Whether the values are differences of two models' losses."""
        return len(self.source) == 2

    @property
    def n_fits(self) -> int:
        """Models fitted for this table."""
        return sum(t.n_fits for t in self.source)

    @property
    def seconds(self) -> float:
        """Time of those fits."""
        return float(sum(t.seconds.sum() for t in self.source))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks of the tables it came from."""
        return merge_notes(*(t.notes for t in self.source))

    @property
    def completed(self) -> Ints:
        """Numbers of the splits that have test losses."""
        return np.unique(self.test.split)

    def _means(self, part: Losses) -> Floats:
        weight = np.ones(len(part.row)) if part.count is None else part.count.astype(float)
        if self.data.weights is not None:
            weight = weight * self.data.weights[part.row]
        size = len(self.plan)
        total = np.bincount(part.split, weights=weight, minlength=size)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.bincount(part.split, weights=weight * part.value, minlength=size) / total)

    def split_means(self) -> Floats:
        """Return the (weighted) mean test loss of each completed split."""
        return self._means(self.test)[self.completed]

    def contributions(self, splits: Array | None = None) -> Floats:
        """Return what each completed split (of a mask over the plan) adds to the estimate, which is their mean.

        For a loss of single examples that is the split's mean loss.
        """
        return self.split_means() if splits is None else self.split_means()[splits[self.completed]]

    def train_errors(self) -> Floats:
        """Return the mean training loss S_j of each completed split."""
        if self.train is None:
            raise InputError("this table kept no training predictions; make it with run(..., train=True).")
        return self._means(self.train)[self.completed]

    def optimism(self) -> Floats:
        """Return test minus training error, E_j - S_j, of each completed split."""
        return self.split_means() - self.train_errors()

    def full_error(self) -> float:
        """Return the training error of the model fitted on all rows."""
        if self.full is None:
            raise InputError("this table has no fit on all rows; make it with run(..., full=True).")
        return float(np.average(self.full.value, weights=self.row_weights(self.full.row)))

    def row_weights(self, rows: Ints) -> Floats:
        """Return the weights of rows; ones without weights."""
        return np.ones(len(rows)) if self.data.weights is None else self.data.weights[rows]

    def by_row(self) -> Floats:
        """Return each row's mean test loss over the splits that tested it; NaN where none did."""
        n = self.data.n
        with np.errstate(invalid="ignore"):
            return np.bincount(self.test.row, self.test.value, n) / np.bincount(self.test.row, minlength=n)

    def by_unit(self) -> Floats:
        """Return each unit's (weighted) mean test loss; a unit is a row, or a group of rows."""
        units = self.data.units[self.test.row]
        weight = self.row_weights(self.test.row)
        size = self.data.n_units
        with np.errstate(invalid="ignore"):
            return np.bincount(units, weight * self.test.value, size) / np.bincount(units, weight, size)

    def times_tested(self) -> Ints:
        """Return how often each row was tested."""
        return np.bincount(self.test.row, minlength=self.data.n).astype(np.int64)

    def dense(self) -> Floats:
        """Return the J x n matrix of losses, NaN where a row was not tested."""
        matrix = np.full((len(self.plan), self.data.n), np.nan)
        matrix[self.test.split, self.test.row] = self.test.value
        return matrix

    def minus(self, other: LossTable) -> LossTable:
        """Return the table of differences; both must come from the same plan and the same loss."""
        if self.plan.fingerprint != other.plan.fingerprint:
            raise InputError(
                f"the two tables come from different splits (plans {self.plan.fingerprint} and {other.plan.fingerprint}); "
                "run both models with the same data, design and random_state."
            )
        if self.loss != other.loss:
            raise InputError(f"the two tables hold different losses ({self.loss} and {other.loss}).")
        if not np.array_equal(self.data.y, other.data.y):
            raise InputError("the two tables have different targets; a difference needs the same rows.")
        both = (self.source[0], other.source[0])
        span = self.range[1] - self.range[0]
        train = self.train.minus(other.train) if self.train is not None and other.train is not None else None
        full = self.full.minus(other.full) if self.full is not None and other.full is not None else None
        return LossTable(
            source=both, loss=self.loss, range=(-span, span), test=self.test.minus(other.test), train=train, full=full
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per completed split: sizes, errors and optimism."""
        means = self.split_means()
        train = self.train_errors() if self.train is not None else np.full(len(means), np.nan)
        out = []
        for j, test, fit in zip(self.completed, means, train):
            s = self.plan.splits[j]
            out.append(
                {
                    "split": int(j),
                    "repeat": s.repeat,
                    "fold": s.fold,
                    "n_train": len(s.train),
                    "n_test": len(s.test),
                }
                | {"train_error": float(fit), "test_error": float(test), "optimism": float(test - fit)}
            )
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return the per-split table as plain values."""
        return {"loss": self.loss, "design": self.plan.design, "splits": self.rows()}

    def __str__(self) -> str:
        what = "differences of " if self.is_difference else ""
        return f"LossTable: {what}{self.loss}, {self.plan.design}, {len(self.completed)} splits, mean {self.split_means().mean():.4g}"
