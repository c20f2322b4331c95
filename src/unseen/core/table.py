"""The record of a run: every prediction of every fit, kept long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, UnknownName
from unseen.core.losses import Losses, LossTable
from unseen.core.notes import Note, merge_notes, note
from unseen.core.plan import Plan
from unseen.core.registry import declare, find
from unseen.core.result import Result

__all__ = ["Failure", "PredictionTable", "Predictions"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """Predictions in long form: which split's model said what of which row.

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
        """Models fitted, the one on all rows included; splits with the same training rows share one."""
        return len(self.plan.fits) + (self.full is not None)

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
            from unseen.core.set_losses import set_losses

            return set_losses(self, measure)
        parts = {name: self._part(measure, getattr(self, name)) for name in ("test", "train", "full")}
        test = parts.pop("test")
        assert test is not None
        return LossTable(source=(self,), loss=measure.id, range=measure.range, test=test, **parts, measure=measure)

    def measure(self, loss: str | Any = "auto") -> Any:
        """Return the loss object for an id, checked against this table's task and scores."""
        if loss == "auto":
            loss = "zero-one" if self.data.task == "classification" else "squared"
        measure = find(loss, "measures")() if isinstance(loss, str) else loss
        declare(type(measure))
        if measure.task not in (self.data.task, "any"):
            raise InputError(f"{measure.id} is a loss for {measure.task}, and this is a {self.data.task} table.")
        # a loss of single examples is one of probabilities; a measure of whole sets, such as auc, only orders the scores
        decisions = measure.kind == "loss" and self.score_kind == "decision"
        if measure.needs_score and (self.test.score is None or decisions):
            raise InputError(
                f"{measure.id} needs class probabilities; make the table with run(..., scores=True) and a model that has predict_proba."
            )
        return measure

    def _part(self, measure: Any, part: Predictions | None) -> Losses | None:
        if part is None:
            return None
        value = measure.per_example(self.data.target[part.row], part.value, part.score)
        return Losses(part.split, part.row, np.asarray(value, dtype=float), part.count)

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

    def reordered(self, order: Ints) -> PredictionTable:
        """Return the table with its test rows in another order."""
        return replace(self, test=self.test.where(order))

    def save(self, path: str | PathLike[str]) -> str:
        """Write the table to an `.npz` file that holds plain arrays only (no pickle)."""
        from unseen.core.table_file import save_table

        return save_table(self, path)

    def probe(self, name: str) -> list[Any]:
        """Return what a named probe kept, by split."""
        if name not in self.probes:
            raise UnknownName("probe", name, self.probes)
        return self.probes[name]
