"""Losses that exist for whole test parts only: what measures such as AUC, F1 or R^2 become inside this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, NotApplicable
from unseen.core.losses import Losses, LossTable
from unseen.core.notes import Note, merge_notes, note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unseen.core.data import Data
    from unseen.core.estimate import Estimate
    from unseen.core.table import Predictions, PredictionTable

__all__ = ["SetLossTable", "as_loss", "as_measure", "favoured", "measured_row", "scale_sentence", "set_losses"]


Value = TypeVar("Value", float, Floats)


def as_loss(measure: Any) -> tuple[str, float, float]:
    """Return the name of a measure's loss, and offset and sign with which loss = offset + sign * value.

    Examples
    --------
    >>> from unseen.measures.areas import Auc
    >>> as_loss(Auc())
    ('1 - auc', 1.0, -1.0)
    """
    if measure.direction == "lower":
        return measure.id, 0.0, 1.0
    high = float(measure.range[1])
    return (f"{high:g} - {measure.id}", high, -1.0) if np.isfinite(high) else (f"-{measure.id}", 0.0, -1.0)


def as_measure(loss: str, value: Value) -> tuple[str, Value]:
    """Return what a loss is shown as: the measure's name and value where it was made from a score, else itself.

    Examples
    --------
    >>> as_measure("1 - auc", 0.25), as_measure("-utility", 2.0), as_measure("zero-one", 0.1)
    (('auc', 0.75), ('utility', -2.0), ('zero-one', 0.1))
    """
    top, dash, name = loss.partition(" - ")
    if dash and top == "1":
        return name, 1.0 - value
    if loss.startswith("-"):
        return loss[1:], 0.0 - value
    return loss, value


def favoured(loss: str, *, most: bool = False) -> str:
    """Return what the better model has, in words: a smaller error, or a larger score where the loss was made from one.

    Examples
    --------
    >>> favoured("zero-one"), favoured("1 - auc", most=True), favoured("-d-prime")
    ('smaller error', 'largest auc', 'larger d-prime')
    """
    name = as_measure(loss, 0.0)[0]
    size, what = ("small", "error") if name == loss else ("large", name)
    return f"{size.removesuffix('e')}{'est' if most else 'er'} {what}"


def measured_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row on the scale of the measure: what was computed with as 1 - s is shown as s, its interval turned round.

    Examples
    --------
    >>> measured_row({"term": "1 - auc", "estimate": 0.25, "lower": 0.125, "upper": 0.5})
    {'term': 'auc', 'estimate': 0.75, 'lower': 0.5, 'upper': 0.875}
    """
    name, value = as_measure(row["term"], float(row["estimate"]))
    if name == row["term"]:
        return row
    ends = [None if row[k] is None else as_measure(row["term"], float(row[k]))[1] for k in ("upper", "lower")]
    return {**row, "term": name, "estimate": value, "lower": ends[0], "upper": ends[1]}


def scale_sentence(estimates: Mapping[str, Estimate]) -> str:
    """Say what errors are of where a score was asked for, and the scores themselves; empty for a plain loss."""
    rows = {name: measured_row(e.row()) for name, e in estimates.items()}
    loss, term = next(iter(estimates.values())).loss, next(iter(rows.values()))["term"]
    if loss == term:
        return ""
    each = ", ".join(f"{name} {row['estimate']:.4g}" for name, row in rows.items())
    return f"Errors are {loss}: a difference below zero means that a has the larger {term}. The {term} of each: {each}."


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
        text = f"{self.loss} does not exist on {len(self.undefined)} of {len(self.plan)} test parts; {then}"
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
        zero where two thirds of the variance are explained. So the test parts are pooled, and a split counts as the
        jackknife has it, by what leaving it out changes; the mean of these is the pooled loss itself.
        """
        if not self.pooled:
            return super().contributions(splits)
        there = [np.unique(table.test.split) for table in self.source]
        shared = there[0] if len(there) == 1 else np.intersect1d(there[0], there[1])
        kept = shared if splits is None else shared[splits[shared]]
        found = [_jackknifed(table, self.measure, kept) for table in self.source]
        if not all(np.isfinite(values).all() for values in found):
            return super().contributions(splits)
        return found[0] if len(found) == 1 else found[0] - found[1]

    def set_error(self, multiplicity: Floats) -> float:
        """Return the loss when each unit counts as often as given, as the estimate is made; NaN where it does not exist."""
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


def _jackknifed(table: PredictionTable, measure: Any, splits: Ints) -> Floats:
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
    """Return the loss of each split's part; NaN where it does not exist."""
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
