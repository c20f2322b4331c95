"""Uncorrected t over resampled splits (criticised by Dietterich, 1998): for comparison only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, t_interval
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.monte_carlo import MonteCarlo

__all__ = ["ResampledT"]


@register
@dataclass(frozen=True)
class ResampledT(TableMethod):
    """Mean over splits with variance S^2 / J, as if overlapping splits were independent: far too narrow.

    Its variance is too small by the factor 1 + J rho/(1 - rho), rho the correlation of two splits' means; `corrected-t`
    mends it.

    References
    ----------
    Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
    algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run(GaussianNB(), X, y, design="monte-carlo", random_state=0)
    >>> naive, corrected = (unseen.estimate(t, method=m).interval.width for m in ("resampled-t", "corrected-t"))
    >>> round(corrected / naive, 3) == round(float(np.sqrt(1 + 25 / 9)), 3)
    True
    """

    id: ClassVar[str] = "resampled-t"
    designs: ClassVar[frozenset[str]] = frozenset({"kfold", "leave-out", "monte-carlo", "repeated-kfold"})
    liberal: ClassVar[bool] = True
    not_recommended: ClassVar[str] = "its variance leaves out the overlap of the splits"
    by_split: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U013"})
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> MonteCarlo:
        """Return 25 random 90/10 splits."""
        return MonteCarlo(fraction=0.1, n_splits=25)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean and its t interval with J - 1 degrees of freedom."""
        level = check_table(self, table, level)
        means = table.contributions()
        if means.size < 2:
            raise InputError(f"{self.id} needs at least 2 completed splits to see a spread; there is {means.size}.")
        se = float(means.std(ddof=1) / np.sqrt(means.size))
        remark = note("U013", f"{means.size} overlapping splits are treated as independent")
        return t_interval(self, table, float(means.mean()), se, level, float(means.size - 1), (remark,))
