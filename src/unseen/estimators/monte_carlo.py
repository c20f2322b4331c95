"""Monte-Carlo cross-validation error (Picard & Cook, 1984)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.monte_carlo import MonteCarlo
from unseen.estimators._means import mean_over_splits

__all__ = ["MonteCarloError"]


@register
@dataclass(frozen=True)
class MonteCarloError:
    """Mean over random splits, or over splits given by the user; `corrected-t` adds an interval.

    References
    ----------
    Picard, R. R. and Cook, R. D. (1984). Cross-validation of regression models. Journal of the American Statistical
    Association 79, 575-583.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="monte-carlo", random_state=0).n_fits
    25
    """

    id: ClassVar[str] = "monte-carlo"
    designs: ClassVar[frozenset[str]] = frozenset({"monte-carlo", "splits"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    by_split: ClassVar[bool] = True
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> MonteCarlo:
        """Return 25 random 90/10 splits."""
        return MonteCarlo(fraction=0.1, n_splits=25)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean of the splits' mean losses."""
        return mean_over_splits(self, table, level)
