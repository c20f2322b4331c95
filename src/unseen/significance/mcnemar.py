"""McNemar's test on the units that one model gets right and the other wrong (McNemar, 1947)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Target
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.significance.paired import check_pair, comparison_of, without_interval

__all__ = ["McNemar", "mcnemar_p", "pooled_folds"]


def mcnemar_p(first: int, second: int, variant: str = "exact") -> float:
    """Return the two-sided p-value of two discordant counts under equal chances.

    Examples
    --------
    >>> round(mcnemar_p(5, 15), 4), round(mcnemar_p(5, 15, "mid-p"), 4), mcnemar_p(0, 0)
    (0.0414, 0.0266, 1.0)
    """
    from scipy.special import bdtr, binom

    n, least = first + second, min(first, second)
    if n == 0:
        return 1.0
    p = 2 * float(bdtr(least, n, 0.5))
    if variant == "mid-p":
        p -= float(binom(n, least)) * 0.5**n if n < 1000 else float(bdtr(least, n, 0.5) - bdtr(least - 1, n, 0.5))
    return min(p, 1.0)


def pooled_folds(difference: LossTable) -> tuple[Note, ...]:
    """Return the note on units tested by the models of different folds, if there are several."""
    if len(difference.completed) < 2:
        return ()
    text = f"units tested by the models of {len(difference.completed)} folds are pooled as if by one model"
    return (note("U016", text),)


@register
@dataclass(frozen=True)
class McNemar(PairedTest):
    """Counts of units that only one model gets wrong, against equal chances; exact by default.

    Parameters
    ----------
    variant : {"exact", "mid-p"}
        The binomial p-value, never liberal; or half the observed point's probability taken off, less conservative.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions. Psychometrika 12,
    153-157. Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data: mid-p
    and asymptotic are better than exact conditional. BMC Medical Research Methodology 13, 91.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> c = unseen.compare(GaussianNB(), DummyClassifier(), X, y, test="mcnemar", random_state=0)
    >>> c.pairs[0].p < 0.001, c.pairs[0].interval
    (True, None)
    """

    variant: str = "exact"
    id: ClassVar[str] = "mcnemar"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout", "kfold", "loo"})
    target: ClassVar[Target] = Target.MODEL
    weighted: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __post_init__(self) -> None:
        if self.variant not in ("exact", "mid-p"):
            raise InputError(f"variant is {self.variant!r}; give 'exact' or 'mid-p'.")

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the difference of the error rates and the p-value."""
        difference, level = check_pair(self, a, b, level)
        values, span = difference.test.value, difference.range[1]
        if not np.all(np.isin(np.concatenate([a.test.value, b.test.value]), a.range)):
            raise NotApplicable(f"{self.id} compares error counts; {a.loss} takes other values, so use permutation.")
        if difference.plan.grouped:
            raise NotApplicable(
                f"{self.id} counts rows as independent; with groups use permutation, which flips groups."
            )
        first, second = int((values == span).sum()), int((values == -span).sum())
        estimate = without_interval(self, difference, float(values.mean()), pooled_folds(difference))
        return comparison_of(
            difference,
            estimate,
            level,
            statistic=float(min(first, second)),
            reference=f"binomial({first + second}, 1/2){' mid-p' if self.variant == 'mid-p' else ''}",
            p=mcnemar_p(first, second, self.variant),
        )
