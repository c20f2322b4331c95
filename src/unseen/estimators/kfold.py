"""k-fold cross-validation error (Stone, 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate, Target
from unseen.core.losses import LossTable
from unseen.core.registry import register
from unseen.designs.kfold import KFold
from unseen.estimators._means import mean_over_rows

__all__ = ["KFoldError"]


@register
@dataclass(frozen=True)
class KFoldError:
    """Mean over all units, each tested once by a model that did not see it; `cv-wald` and `nested-cv` add intervals.

    References
    ----------
    Stone, M. (1974). Cross-validatory choice and assessment of statistical predictions. JRSS B 36, 111-147.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> unseen.estimate(GaussianNB(), X, y, method="kfold", random_state=0).n_fits
    10
    """

    id: ClassVar[str] = "kfold"
    designs: ClassVar[frozenset[str]] = frozenset({"kfold", "splits"})
    target: ClassVar[Target] = Target.ALGORITHM
    needs: ClassVar[frozenset[str]] = frozenset({"test"})
    linear: ClassVar[bool] = True
    point_only: ClassVar[bool] = True
    equivariant: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    version: ClassVar[int] = 1

    def default_design(self, data: Data) -> KFold:
        """Return 10 folds, or as many as there are units."""
        return KFold(n_folds=min(10, data.n_units))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the mean loss over all tested rows."""
        return mean_over_rows(self, table, level)
