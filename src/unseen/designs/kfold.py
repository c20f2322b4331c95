"""k-fold cross-validation, shuffled, stratified for classes (Stone, 1974; Kohavi, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.plan import Plan, Split
from unseen.core.registry import register
from unseen.designs._draw import check_count, fold_of_units, make_plan, rows_of

__all__ = ["KFold", "one_round"]


def one_round(data: Data, n_folds: int, stratify: bool | str, rng: np.random.Generator, repeat: int = 0) -> list[Split]:
    """Return the splits of one round of k-fold cross-validation."""
    fold = fold_of_units(data, n_folds, stratify, rng)
    return [
        Split(rows_of(data, np.flatnonzero(fold != k)), rows_of(data, np.flatnonzero(fold == k)), repeat, k)
        for k in range(n_folds)
    ]


@register
@dataclass(frozen=True)
class KFold:
    """Every unit is tested once by a model trained on the other folds.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    stratify : bool or "auto"
        Spread classes evenly over the folds; "auto" does so for classes without groups.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.datasets.load("iris")
    >>> len(KFold(5).plan(data, np.random.default_rng(0)))
    5
    """

    n_folds: int = 10
    stratify: bool | str = "auto"
    id: ClassVar[str] = "kfold"

    def plan(self, data: Data, rng: np.random.Generator) -> Plan:
        """Return one shuffled partition."""
        check_count(self.id, "n_folds", self.n_folds, 2)
        return make_plan(self, data, one_round(data, self.n_folds, self.stratify, rng))
