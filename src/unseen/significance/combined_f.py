"""Combined F test of five times two-fold cross-validation (Alpaydin, 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.cv5x2 import Cv5x2
from unseen.significance.paired import check_pair, comparison_of, without_interval

__all__ = ["CombinedF", "combined_f"]


def combined_f(differences: Floats) -> tuple[float, float]:
    """Return F = sum of all d^2 / (2 sum of s_i^2) and its p-value, from a 5 x 2 array of differences.

    Examples
    --------
    >>> f, p = combined_f(np.array([[0.1, 0.2], [0.1, 0.1], [0.2, 0.1], [0.0, 0.1], [0.1, 0.1]]))
    >>> round(f, 4), round(p, 4)
    (5.0, 0.0448)
    """
    from scipy.special import fdtrc

    spread = np.square(differences - differences.mean(axis=1, keepdims=True)).sum()
    if spread == 0:
        return (0.0, 1.0) if not differences.any() else (float("inf"), float("nan"))
    f = float(np.square(differences).sum() / (2 * spread))
    return f, float(fdtrc(differences.size, len(differences), f))


@register
@dataclass(frozen=True)
class CombinedF(PairedTest):
    """All ten half-sample differences instead of the first alone, referred to F with 10 and 5 degrees of freedom.

    References
    ----------
    Alpaydin, E. (1999). Combined 5x2 cv F test for comparing supervised classification learning algorithms. Neural
    Computation 11, 1885-1892.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("iris").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> c = unseen.compare(GaussianNB(), DummyClassifier(), X, y, test="combined-f", random_state=0)
    >>> c.pairs[0].p < 0.001, c.pairs[0].reference
    (True, 'F(10, 5)')
    """

    id: ClassVar[str] = "combined-f"
    designs: ClassVar[frozenset[str]] = frozenset({"5x2cv"})
    by_split: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U010"})

    def default_design(self, data: Data) -> Cv5x2:
        """Return five replications of two folds."""
        return Cv5x2()

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the mean of the ten differences and the p-value."""
        difference, level = check_pair(self, a, b, level)
        means = difference.split_means()
        if len(means) != 10:
            raise InputError(f"{self.id} needs all ten fits of both models; {10 - len(means)} are missing.")
        f, p = combined_f(means.reshape(5, 2))
        notes: tuple[Note, ...] = ()
        if not np.isfinite(f):
            notes = (note("U010", "both halves agree in every replication, so no p-value can be given"),)
        estimate = without_interval(self, difference, float(means.mean()), notes)
        return comparison_of(difference, estimate, level, statistic=f, reference="F(10, 5)", p=p)
