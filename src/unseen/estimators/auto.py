"""An interval method chosen by design (Schulz-Kuempel et al., 2024)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table
from unseen.core.notes import note
from unseen.core.registry import build, register
from unseen.designs.holdout import Holdout
from unseen.designs.repeated_kfold import FOLDS, RepeatedKFold, rounds_of_folds

__all__ = ["Auto"]

BY_DESIGN = {
    "5x2cv": ("5x2cv", "it is the test made for this design"),
    "bootstrap": ("out-of-bag", "it takes its standard error from the same bootstrap samples"),
    "kfold": ("cv-wald", "one round of folds shows no other spread than that of the units"),
    "leave-out": ("corrected-t", "it allows for the overlap of random splits"),
    "loo": ("cv-wald", "one round of folds shows no other spread than that of the units"),
    "monte-carlo": ("corrected-t", "it allows for the overlap of random splits"),
    "nested": ("nested-cv", "it measures what plain cross-validation misses"),
    "repeated-kfold": ("range-t", "it allows for the overlap of training parts and keeps the range"),
    "split-halves": ("conservative-z", "the halves give a variance that is not too small"),
}


@register
@dataclass(frozen=True)
class Auto(TableMethod):
    """The method that suits the design; `unseen.estimate` without a design gives what `unseen.assess` leads with.

    If a design is wanted for splits alone, it is repeated 10-fold cross-validation, rounds by the size of the sample; one hold-out
    if fewer than ten fits may be spent.

    Parameters
    ----------
    fits : int
        Fits that may be spent.

    References
    ----------
    Schulz-Kuempel, H., Fischer, S., Hornung, R., Boulesteix, A.-L., Nagler, T. and Bischl, B. (2024). Constructing
    confidence intervals for "the" generalization error: a comprehensive benchmark study. arXiv 2409.18836.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="auto", random_state=0)
    >>> e.method, e.notes[-1].text
    ('combined', 'combined: it came nearest to the true error on data sets that were left out')
    """

    fits: int = 100
    id: ClassVar[str] = "auto"
    designs: ClassVar[frozenset[str]] = frozenset({*BY_DESIGN, "holdout"})
    equivariant: ClassVar[bool] = False
    in_assess: ClassVar[bool] = False
    # U026 and the notes of the methods that it may choose
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009", "U012", "U015", "U016", "U026", "U040"})
    version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if self.fits < 1:
            raise InputError(f"fits is {self.fits!r}; at least 1 fit is needed.")

    def default_design(self, data: Data) -> Any:
        """Return the design the rules above choose."""
        if self.fits < FOLDS:
            return Holdout(fraction=1 / 3)
        rounds = min(rounds_of_folds(data.n_units), self.fits // FOLDS)
        return RepeatedKFold(n_folds=min(FOLDS, data.n_units), n_repeats=rounds)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the chosen method's estimate, with a note that says which and why."""
        level = check_table(self, table, level)
        name, reason = self._choice(table)
        made: Estimate = build(name, "estimators")(table, level=level)
        remark = note(
            "U026",
            f"{name} for {table.data.n_units} units and {len(table.plan.fits)} fits of {table.plan.design}: {reason}",
        )
        return replace(made, method=self.id, notes=(*made.notes, remark))

    def _choice(self, table: LossTable) -> tuple[str, str]:
        if table.is_difference and table.plan.design == "repeated-kfold":
            return "corrected-t", "it allows for the overlap of training parts"
        if table.plan.design != "holdout":
            return BY_DESIGN[table.plan.design]
        if not table.is_difference and np.all(np.isin(table.test.value, table.range)):
            return "wilson", "the loss is a rate on one held-out part"
        return "wald", "the loss is no rate, on one held-out part"
