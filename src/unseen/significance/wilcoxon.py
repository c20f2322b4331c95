"""Signed-rank test of paired losses or of paired errors on many data sets (Wilcoxon, 1945)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.comparison import Comparison
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Target
from unseen.core.kinds import PairedTest
from unseen.core.losses import LossTable
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.significance.mcnemar import pooled_folds
from unseen.significance.paired import check_pair, comparison_of, unit_values, without_interval

__all__ = ["Wilcoxon", "signed_rank"]

EXACT_UP_TO = 100  # there the normal approximation errs by 0.2% of p = .05, by 4% of p = .01


def signed_rank(differences: Floats, zeros: str = "drop") -> tuple[float, float, str]:
    """Return min(W+, W-), its two-sided p-value and how that was found; mid-ranks for ties.

    Exact up to 100 nonzero differences, with ties too: the distribution of W+ over all signs, given the ranks. Above
    that the normal approximation with the variance for ties.

    Parameters
    ----------
    differences : ndarray
        Paired differences.
    zeros : {"drop", "pratt"}
        Leave differences of 0 out before ranking, or (Pratt, 1959) after.

    Examples
    --------
    >>> signed_rank(np.array([1.0, 2.0, 3.0, -4.0, 5.0]))
    (4.0, 0.4375, '32 sign patterns')
    """
    from scipy.stats import rankdata

    kept = differences if zeros == "pratt" else differences[differences != 0]
    if not np.any(kept != 0):
        return 0.0, 1.0, "no differences"
    ranks = rankdata(np.abs(kept))[kept != 0]
    signs = np.sign(kept[kept != 0])
    plus, minus = float(ranks[signs > 0].sum()), float(ranks[signs < 0].sum())
    least = min(plus, minus)
    if len(ranks) <= EXACT_UP_TO:
        doubled = np.rint(2 * ranks).astype(np.int64)
        chances = np.ones(1)
        for rank in doubled:
            grown = np.zeros(len(chances) + rank)
            grown[: len(chances)] += chances / 2
            grown[rank:] += chances / 2
            chances = grown
        p = 2 * float(chances[: round(2 * least) + 1].sum())
        return least, min(p, 1.0), f"{2 ** len(ranks)} sign patterns" if len(ranks) < 40 else "all sign patterns"
    from scipy.special import ndtr

    z = (plus - minus) / np.sqrt(np.square(ranks).sum())
    return least, float(2 * ndtr(-abs(z))), f"normal approximation, {len(ranks)} differences"


@register
@dataclass(frozen=True)
class Wilcoxon(PairedTest):
    """Signed ranks of the units' loss differences: is one model's loss larger as often and as far as the other's?

    It tests symmetry of the differences about 0, not their mean; one huge loss counts as little more than a large one. So its
    verdict is about ranks: if losses are skewed, it may favour the model with the larger mean loss, which a note then says.
    For the errors of two models on many data sets, use `signed_rank` itself.

    Parameters
    ----------
    zeros : {"drop", "pratt"}
        What to do with units on which the losses are equal.

    References
    ----------
    Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80-83. Demsar, J. (2006).
    Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.dummy import DummyRegressor
    >>> c = unseen.compare(LinearRegression(), DummyRegressor(), X, y, test="wilcoxon", random_state=0)
    >>> c.pairs[0].p < 0.001
    True
    """

    zeros: str = "drop"
    id: ClassVar[str] = "wilcoxon"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout", "kfold", "loo"})
    target: ClassVar[Target] = Target.MODEL
    weighted: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __post_init__(self) -> None:
        if self.zeros not in ("drop", "pratt"):
            raise InputError(f"zeros is {self.zeros!r}; give 'drop' or 'pratt'.")

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, a: LossTable, b: LossTable, *, level: float = 0.95) -> Comparison:
        """Return the mean difference and the signed-rank p-value."""
        difference, level = check_pair(self, a, b, level)
        values = unit_values(difference)
        statistic, p, reference = signed_rank(values, self.zeros)
        notes, mean, ranks = pooled_folds(difference), float(values.mean()), _lean(values, self.zeros)
        if mean * ranks < 0:
            notes = (*notes, note("U016", "the signed ranks favour the model with the larger mean loss"))
        estimate = without_interval(self, difference, mean, notes)
        return replace(
            comparison_of(difference, estimate, level, statistic=statistic, reference=reference, p=p), ranks=ranks
        )


def _lean(differences: Floats, zeros: str) -> float:
    """Return W+ minus W-: below 0 if the first model's losses are the smaller ones by ranks."""
    from scipy.stats import rankdata

    kept = differences if zeros == "pratt" else differences[differences != 0]
    return float(np.sum(rankdata(np.abs(kept)) * np.sign(kept)))
