"""Error of repeated k-fold cross-validation (Burman, 1989)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.repeated_kfold import RepeatedKFold
from unseen.estimators._means import mean_over_rows

__all__ = ["RepeatedKFoldError"]


@register
@dataclass(frozen=True)
class RepeatedKFoldError:
    """Mean over all units and rounds; less noise from the shuffle than one round of k-fold.

    References
    ----------
    Burman, P. (1989). A comparative study of ordinary cross-validation, v-fold cross-validation and the repeated
    learning-testing methods. Biometrika 76, 503-514.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="repeated-kfold", random_state=0).n_fits
    50
    """

    id: ClassVar[str] = "repeated-kfold"
    designs: ClassVar[frozenset[str]] = frozenset({"repeated-kfold"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data: Data) -> RepeatedKFold:
        """Return five rounds of 10 folds, or of as many as there are units."""
        return RepeatedKFold(n_folds=min(10, data.n_units))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean loss over all tested rows of all rounds."""
        return mean_over_rows(self, table, level)
