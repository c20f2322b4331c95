"""The record of a run: every prediction of every fit, the losses derived from them, and the file they are kept in."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.notes import Note, merge_notes, note
from unseen.core.plan import Plan, Split
from unseen.core.registry import declare, find
from unseen.core.result import Result, plain
from unseen.core.scale import as_loss, as_measure, measure_name
from unseen.core.unpacking import check_archive
from unseen.core.writing import written_whole

__all__ = [
    "Failure",
    "LossTable",
    "Losses",
    "PredictionTable",
    "Predictions",
    "SetLossTable",
    "load_table",
    "save_table",
    "set_losses",
]


SCORES_AT_ONCE = (
    250_000_000  # bytes of scores from which losses are made in one piece; measures make several copies of them
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """Predictions in long form: what the model of each split predicts for each row.

    Parameters
    ----------
    split, row : ndarray of int
        Number of the split and of the row.
    value : ndarray
        Class code, or number.
    score : ndarray or None
        Probabilities (one column per class) or decision values.
    count : ndarray or None
        How often the row stood in the training sample; None means once.
    """

    split: Ints
    row: Ints
    value: Array
    score: Floats | None = None
    count: Ints | None = None

    def __len__(self) -> int:
        return len(self.row)

    def where(self, mask: Array) -> Predictions:
        """Return the rows of a mask or index array."""
        pick = {k: None if (v := getattr(self, k)) is None else v[mask] for k in ("score", "count")}
        return Predictions(split=self.split[mask], row=self.row[mask], value=self.value[mask], **pick)


@dataclass(frozen=True)
class Failure:
    """A fit that failed: its split and the last line of its traceback."""

    split: int
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionTable(Result):
    """Everything a run of the engine produced; estimates are made from it without refitting.

    Parameters
    ----------
    plan : Plan
        The splits.
    data : Data
        The rows without their features.
    test : Predictions
        Predictions of each split's model for its test rows.
    train, full : Predictions or None
        Predictions for its own training rows; of the model fitted on all rows for all rows.
    score_kind : {"probability", "decision", None}
        What the scores are.
    failures : tuple of Failure
        Fits that failed.
    seconds : ndarray
        Time of each fit.
    probes : mapping of str to list
        What named probes returned, by split.
    model, seed : str, int
        Description of the model and the run's seed.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    plan: Plan
    data: Data
    test: Predictions
    train: Predictions | None = None
    full: Predictions | None = None
    score_kind: str | None = None
    failures: tuple[Failure, ...] = ()
    seconds: Floats = field(default_factory=lambda: np.zeros(0))
    probes: Mapping[str, list[Any]] = field(default_factory=dict)
    model: str = ""
    seed: int = 0

    @property
    def n_fits(self) -> int:
        """Models fitted, the one on all rows included; splits with the same training rows share one, a split without any has none."""
        plan = self.plan
        first = [group[0] for group in plan.fits] if plan.shares_fits else slice(None)
        return int(np.count_nonzero(plan.train_sizes[first])) + (self.full is not None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the plan and on failed fits."""
        failed: tuple[Note, ...] = ()
        if self.failures:
            text = f"{len(self.failures)} of {len(self.plan)} fits failed; the first: {self.failures[0].reason}"
            failed = (note("U008", text),)
        return merge_notes(self.plan.notes, failed)

    def losses(self, loss: str | Any = "auto") -> LossTable:
        """Return the losses of this run: of single examples, or of whole test parts for measures such as auc.

        Parameters
        ----------
        loss : str or measure
            Id of a loss or measure, such as "zero-one", "squared" or "auc"; "auto" takes the task's default.

        Examples
        --------
        >>> import unseen
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = unseen.datasets.load("iris").xy
        >>> t = unseen.run(DecisionTreeClassifier(), X, y, design=unseen.designs.KFold(5), random_state=0)
        >>> t.losses("zero-one").split_means().shape
        (5,)
        """
        measure = self.measure(loss)
        if measure.kind == "set":
            return set_losses(self, measure)
        parts = {name: self._part(measure, getattr(self, name)) for name in ("test", "train", "full")}
        test = parts.pop("test")
        assert test is not None
        return LossTable(source=(self,), loss=measure.id, range=measure.range, test=test, **parts, measure=measure)

    def measure(self, loss: str | Any = "auto") -> Any:
        """Return the loss object for an id, checked against this table's task and scores."""
        if isinstance(loss, str) and loss == "auto":
            loss = "zero-one" if self.data.task == "classification" else "squared"
        else:
            # scorers and functions become measures there, which stands above this layer
            loss = importlib.import_module("unseen.measures.scoring").resolve_measure(loss)
        measure = find(loss, "measures")() if isinstance(loss, str) else loss
        declare(type(measure))
        if hasattr(measure, "for_data"):
            measure = measure.for_data(self.data)
        if measure.task not in (self.data.task, "any"):
            raise InputError(f"{measure.id} is a loss for {measure.task}, and this is a {self.data.task} table.")
        # a loss of single examples is one of probabilities; a measure of whole sets, such as auc, only orders the scores
        of_probabilities = measure.kind == "loss" or getattr(measure, "needs_probability", False)
        decisions = of_probabilities and self.score_kind == "decision"
        if measure.needs_score and (self.test.score is None or decisions):
            raise InputError(
                f"{measure.id} needs class probabilities; make the table with run(..., scores=True) and a model that has predict_proba."
            )
        return measure

    def _part(self, measure: Any, part: Predictions | None) -> Losses | None:
        if part is None:
            return None
        with np.errstate(over="ignore"):  # what overflows is refused below
            value = self._loss_of_rows(measure, part)
        if self.data.task == "regression" and np.any(np.isinf(value)):
            largest = float(max(np.abs(self.data.target[part.row]).max(), np.abs(part.value).max()))
            raise InputError(
                f"the {measure.id} loss of {np.count_nonzero(np.isinf(value))} predictions is too large for a number: targets or "
                f"predictions reach {largest:.2g}. Give the target in larger units."
            )
        return Losses(part.split, part.row, np.asarray(value, dtype=float), part.count)

    def _loss_of_rows(self, measure: Any, part: Predictions) -> Array:
        """Return the loss of each prediction; many scores, which may lie in a file, are read block by block."""
        step = len(part) if part.score is None else max(1, len(part) * SCORES_AT_ONCE // max(part.score.nbytes, 1))
        blocks = [slice(k, k + step) for k in range(0, len(part), step)] if step < len(part) else [slice(None)]
        made = [
            measure.per_example(
                self.data.target[part.row[b]], part.value[b], None if part.score is None else part.score[b]
            )
            for b in blocks
        ]
        return made[0] if len(made) == 1 else np.concatenate(made)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per split: sizes, training and test error, optimism, seconds."""
        return self.losses().rows()

    def to_dict(self) -> dict[str, Any]:
        """Return a summary; `save` keeps the table itself."""
        return {
            "model": self.model,
            "design": self.plan.design,
            "options": dict(self.plan.options),
            "fingerprint": self.plan.fingerprint,
            "n": self.data.n,
            "fits": self.n_fits,
            "failures": [{"split": f.split, "reason": f.reason} for f in self.failures],
            "seed": self.seed,
            "splits": self.rows(),
        }

    def __str__(self) -> str:
        return (
            f"PredictionTable: {self.model or 'model'}, {self.plan.design}, {len(self.plan)} splits of {self.data.n} rows, "
            f"{len(self.test)} test predictions, {len(self.failures)} failed fits"
        )

    def reorder(self, order: Ints) -> PredictionTable:
        """Return the table with its test rows in another order."""
        return replace(self, test=self.test.where(order))

    def save(self, path: str | PathLike[str]) -> str:
        """Write the table to an `.npz` file that holds plain arrays only (no pickle)."""

        return save_table(self, path)

    def probe(self, name: str) -> list[Any]:
        """Return what a named probe kept, by split."""
        if name not in self.probes:
            raise UnknownName("probe", name, self.probes)
        return self.probes[name]


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses in long form; `count` is the multiplicity of a training row (None: once)."""

    split: Ints
    row: Ints
    value: Floats
    count: Ints | None = None

    def sort_by_split(self) -> Losses:
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
        a, b = self.sort_by_split(), other.sort_by_split()
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
        """Remarks of the tables it came from, and which convention a measure follows if there are several."""
        convention = getattr(self.measure, "convention", "")
        told = (note("U045", convention),) if convention else ()
        return merge_notes(*(t.notes for t in self.source), told)

    @property
    def completed(self) -> Ints:
        """Numbers of the splits that have test losses."""
        return np.flatnonzero(np.bincount(self.test.split, minlength=len(self.plan)))

    def _means(self, part: Losses) -> Floats:
        weight = None if part.count is None else part.count.astype(float)
        if self.data.weights is not None:
            own = self.data.weights[part.row]
            weight = own if weight is None else weight * own
        value, size = part.value if weight is None else weight * part.value, len(self.plan)
        total = np.bincount(part.split, weights=weight, minlength=size)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.bincount(part.split, weights=value, minlength=size) / total)

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
        """Return each row's mean test loss over the splits that tested it; NaN if none did."""
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
        tested = self.source[0].test if self.by_split else self.test  # a measure of whole splits has no rows of its own
        return np.bincount(tested.row, minlength=self.data.n).astype(np.int64)

    def dense(self) -> Floats:
        """Return the J x n matrix of losses, NaN if a row was not tested."""
        matrix = np.full((len(self.plan), self.data.n), np.nan)
        matrix[self.test.split, self.test.row] = self.test.value
        return matrix

    def without_full(self) -> Self:
        """Return the table of the splits alone, which does not count the fit on all rows."""
        return replace(self, source=tuple(replace(t, full=None) for t in self.source), full=None)

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
        """Return one dict per completed split: sizes, errors and optimism; None for what training predictions would tell if none were kept."""
        means = self.split_means()
        train = self.train_errors().tolist() if self.train is not None else [None] * len(means)
        out = []
        for j, test, fit in zip(self.completed, means, train):
            s = self.plan.splits[j]
            out.append(
                {
                    "split": int(j),
                    "repeat": s.repeat,
                    "fold": s.fold,
                    "n_train": s.n_train,
                    "n_test": len(s.test),
                }
                | {
                    "train_error": fit,
                    "test_error": float(test),
                    "optimism": None if fit is None else float(test) - fit,
                }
            )
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return the per-split table as plain values."""
        return {"loss": self.loss, "design": self.plan.design, "splits": self.rows()}

    def __str__(self) -> str:
        what = "differences of " if self.is_difference else ""
        return f"LossTable: {what}{self.loss}, {self.plan.design}, {len(self.completed)} splits, mean {self.split_means().mean():.4g}"


@dataclass(frozen=True, eq=False, kw_only=True)
class SetLossTable(LossTable):
    """Losses of whole test parts: every row of a part carries the loss of the part, so that means over a part are right.

    Methods that work from the means of splits accept it; those that need the loss of each unit refuse it by name.

    Parameters
    ----------
    undefined : tuple of int
        Splits left out, as the measure does not exist on their test part (a class is missing, for example).
    """

    undefined: tuple[int, ...] = ()

    @property
    def by_split(self) -> bool:
        """Whether only the means of splits have a meaning."""
        return True

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks of the tables, and on splits left out."""
        if not self.undefined:
            return super().notes
        then = "figures of single parts leave them out" if self.pooled else "they were left out"
        called = measure_name(as_measure(self.loss, 0.0)[0])
        text = f"{called} does not exist on {len(self.undefined)} of {len(self.plan)} test parts; {then}"
        return merge_notes(super().notes, (note("U028", text),))

    def _refuse(self) -> Floats:
        raise NotApplicable(f"{self.loss} exists for whole test parts, not for single units.")

    def by_row(self) -> Floats:
        """Refuse: single rows have no such loss."""
        return self._refuse()

    def by_unit(self) -> Floats:
        """Refuse: single units have no such loss."""
        return self._refuse()

    def dense(self) -> Floats:
        """Refuse: single rows have no such loss."""
        return self._refuse()

    def minus(self, other: LossTable) -> LossTable:
        """Return the table of differences, on the splits where both exist."""
        plain = super().minus(other)
        lost = tuple(sorted({*self.undefined, *getattr(other, "undefined", ())}))
        return SetLossTable(
            source=plain.source,
            loss=plain.loss,
            range=plain.range,
            test=plain.test,
            train=plain.train,
            full=plain.full,
            measure=self.measure,
            undefined=lost,
        )

    @property
    def pooled(self) -> bool:
        """Whether the measure is one of predictions as they are, which mean the same whichever fit made them.

        Scores of different fits have no common scale, so that an area is taken part by part.
        """
        return self.measure is not None and not self.measure.needs_score

    def contributions(self, splits: Array | None = None) -> Floats:
        """Return what each split adds to the loss of all test predictions taken together.

        R^2 or F1 of a few cases is no unbiased estimate of that of many: the mean over parts of five cases can lie below
        zero although two thirds of the variance are explained. So the test parts are pooled, and a split counts as the
        jackknife has it, by what leaving it out changes; the mean of these is the pooled loss itself.
        """
        if not self.pooled:
            return super().contributions(splits)
        there = [np.unique(table.test.split) for table in self.source]
        shared = there[0] if len(there) == 1 else np.intersect1d(there[0], there[1])
        kept = shared if splits is None else shared[splits[shared]]
        found = [_jackknife(table, self.measure, kept) for table in self.source]
        if not all(np.isfinite(values).all() for values in found):
            return super().contributions(splits)
        return found[0] if len(found) == 1 else found[0] - found[1]

    def set_error(self, multiplicity: Floats) -> float:
        """Return the loss when each unit counts as often as given, as the estimate is made; NaN if it does not exist."""
        part = self.source[0].test
        weight = multiplicity[self.data.units[part.row]] * self.row_weights(part.row)
        if self.pooled:
            return float(_of_weights(self.source[0], self.measure, part, weight[None])[0])
        values = _values(self.source[0], self.measure, part, weight)
        return float(np.mean(values[np.isfinite(values)])) if np.isfinite(values).any() else float("nan")


def set_losses(table: PredictionTable, measure: Any) -> SetLossTable:
    """Return a measure of sets as a table of losses, one value per split."""
    name, offset, sign = as_loss(measure)
    ends = sorted(offset + sign * end for end in measure.range)
    made = {k: _part(table, measure, p) for k in ("train", "full") if (p := getattr(table, k)) is not None}
    values = _values(table, measure, table.test, table_weights(table, table.test))
    there = np.unique(table.test.split)
    lost = tuple(int(k) for k in there[~np.isfinite(values[there])])
    if len(lost) == len(there):
        raise InputError(
            f"{measure.id} does not exist on any test part of the design {table.plan.design!r} (is a class missing in each?); "
            "use larger test parts."
        )
    keep = np.isfinite(values[table.test.split])
    test = Losses(table.test.split[keep], table.test.row[keep], values[table.test.split[keep]])
    return SetLossTable(
        source=(table,), loss=name, range=(ends[0], ends[1]), test=test, measure=measure, undefined=lost, **made
    )


def table_weights(table: PredictionTable, part: Predictions) -> Floats:
    """Return the weight of each prediction: how often the row stood there, times its own weight."""
    weight = np.ones(len(part)) if part.count is None else part.count.astype(float)
    return weight if table.data.weights is None else weight * table.data.weights[part.row]


def _part(table: PredictionTable, measure: Any, part: Predictions) -> Losses:
    values = _values(table, measure, part, table_weights(table, part))
    return Losses(part.split, part.row, values[part.split], part.count)


def _positive(data: Data) -> int:
    if data.classes is None:
        return 1
    return len(data.classes) - 1 if data.positive is None else int(np.searchsorted(data.classes, data.positive))


def _of_weights(table: PredictionTable, measure: Any, part: Predictions, weights: Floats) -> Floats:
    """Return the loss of all predictions of a part together, for each row of weights."""
    _, offset, sign = as_loss(measure)
    y, positive = table.data.target[part.row], _positive(table.data)
    values = [measure.of_set(y[w > 0], part.value[w > 0], None, w[w > 0], positive) for w in weights if w.any()]
    return offset + sign * np.array(values) if len(values) == len(weights) else np.full(len(weights), np.nan)


def _jackknife(table: PredictionTable, measure: Any, splits: Ints) -> Floats:
    """Return the pooled loss of some splits, each moved by J - 1 times what leaving it out changes."""
    part, weight = table.test, table_weights(table, table.test)
    kept = np.isin(part.split, splits)
    whole = _of_weights(table, measure, part, (weight * kept)[None])[0]
    if len(splits) < 2:
        return np.full(len(splits), whole)
    without = np.array(
        [_of_weights(table, measure, part, (weight * (kept & (part.split != j)))[None])[0] for j in splits]
    )
    return np.asarray(whole - (len(splits) - 1) * (without - without.mean()))


def _values(table: PredictionTable, measure: Any, part: Predictions, weight: Floats) -> Floats:
    """Return the loss of each split's part; NaN if it does not exist."""
    _, offset, sign = as_loss(measure)
    data, positive = table.data, _positive(table.data)
    out = np.full(max(len(table.plan), 1), np.nan)
    order = np.argsort(part.split, kind="stable")
    starts = np.flatnonzero(np.diff(part.split[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        if len(rows) and weight[rows].sum() > 0:
            score = None if part.score is None else part.score[rows]
            y = data.target[part.row[rows]]
            out[part.split[rows[0]]] = offset + sign * measure.of_set(
                y, part.value[rows], score, weight[rows], positive
            )
    return out


FORMAT = 1  # of the file; raised when older versions could not read it
_PARTS = ("test", "train", "full")
_COLUMNS = ("split", "row", "value", "score", "count")
_DATA_ARRAYS = ("y", "classes", "groups", "weights", "order", "ids", "joined")


def _storable(array: Array) -> Array:
    return array.astype(str) if array.dtype == object else array


def save_table(table: PredictionTable, path: str | PathLike[str]) -> str:
    """Write `table` to `path`; the suffix `.npz` is added if it is missing."""
    target = Path(path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    arrays: dict[str, Array] = {"units": table.plan.units, "seconds": table.seconds}
    for side in ("train", "test"):
        sets = [getattr(s, side) for s in table.plan.splits]
        arrays[f"plan_{side}"] = np.concatenate([*sets, np.zeros(0, np.int64)])
        arrays[f"plan_{side}_len"] = np.array([len(s) for s in sets], dtype=np.int64)
    arrays["plan_labels"] = np.array([(s.repeat, s.fold, s.part) for s in table.plan.splits], dtype=np.int64).reshape(
        -1, 3
    )
    for name in _DATA_ARRAYS:
        if (value := getattr(table.data, name)) is not None:
            arrays[f"data_{name}"] = _storable(value)
    for part in _PARTS:
        if (rows := getattr(table, part)) is not None:
            for column in _COLUMNS:
                if (value := getattr(rows, column)) is not None:
                    arrays[f"{part}_{column}"] = value
    probes = _store_probes(table, arrays)
    arrays["meta"] = np.array(json.dumps({**_meta(table), "probes": probes}))
    with written_whole(target, "the table") as partial, partial.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return str(target)


def _store_probes(table: PredictionTable, arrays: dict[str, Array]) -> dict[str, list[bool]]:
    probes = {}
    for name, values in table.probes.items():
        probes[name] = [v is not None for v in values]
        for j, value in enumerate(values):
            if value is not None:
                arrays[f"probe_{name}_{j}"] = np.asarray(value)
    return probes


def _meta(table: PredictionTable) -> dict[str, Any]:
    data, plan = table.data, table.plan
    return {
        "format": FORMAT,
        "task": data.task,
        "names": list(data.names),
        "target_name": data.target_name,
        "group_name": data.group_name,
        "positive": plain(data.positive),
        "data_fingerprint": data.fingerprint,
        "design": plan.design,
        "options": plain(dict(plan.options)),
        "notes": [[n.code, n.text] for n in plan.notes],
        "score_kind": table.score_kind,
        "failures": [[f.split, f.reason] for f in table.failures],
        "model": table.model,
        "seed": table.seed,
    }


def load_table(path: str | PathLike[str]) -> PredictionTable:
    """Read a table written by `PredictionTable.save`; refuses pickled content."""
    try:
        # numpy leaves a damaged archive open if it opens the file itself
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            check_archive(file, path)
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] > FORMAT:
            raise InputError(f"{path} was written by a newer version (format {meta['format']}); update unseen.")
        return _read_table(arrays, meta)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except InputError:
        raise
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise InputError(f"{str(path)!r} is not a table saved by unseen: {error}") from error
    except Exception as error:  # zipfile and zlib raise their own kinds for damaged files
        raise InputError(f"{str(path)!r} is damaged: {error}") from error


def _read_table(arrays: dict[str, Array], meta: dict[str, Any]) -> PredictionTable:
    sides = {}
    for side in ("train", "test"):
        ends = np.cumsum(arrays[f"plan_{side}_len"])
        sides[side] = np.split(arrays[f"plan_{side}"], ends[:-1]) if len(ends) else []
    splits = tuple(
        Split(train, test, repeat=int(labels[0]), fold=int(labels[1]), part=int(labels[2]))
        for train, test, labels in zip(sides["train"], sides["test"], arrays["plan_labels"])
    )
    notes = tuple(Note(code, text) for code, text in meta["notes"])
    plan = Plan(meta["design"], splits, arrays["units"], options=meta["options"], notes=notes)
    columns: dict[str, Any] = {name: arrays.get(f"data_{name}") for name in _DATA_ARRAYS}
    y = columns.pop("y")
    assert y is not None
    data = Data(
        None,
        y,
        meta["task"],
        names=tuple(meta["names"]),
        target_name=meta["target_name"],
        group_name=meta.get("group_name", ""),
        positive=meta["positive"],
        fingerprint=meta["data_fingerprint"],
        **columns,
    )
    parts = {part: _read_predictions(arrays, part) for part in _PARTS}
    test = parts.pop("test")
    assert test is not None
    probes = {
        name: [arrays[f"probe_{name}_{j}"] if there else None for j, there in enumerate(mask)]
        for name, mask in meta["probes"].items()
    }
    failures = tuple(Failure(int(s), str(r)) for s, r in meta["failures"])
    return PredictionTable(
        plan=plan,
        data=data,
        test=test,
        **parts,
        score_kind=meta["score_kind"],
        failures=failures,
        seconds=arrays["seconds"],
        probes=probes,
        model=meta["model"],
        seed=meta["seed"],
    )


def _read_predictions(arrays: dict[str, Array], part: str) -> Predictions | None:
    if f"{part}_row" not in arrays:
        return None
    return Predictions(**{c: arrays[f"{part}_{c}"] for c in _COLUMNS if f"{part}_{c}" in arrays})
