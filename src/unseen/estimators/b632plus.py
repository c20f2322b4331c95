"""The .632+ bootstrap (Efron & Tibshirani, 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, point_estimate
from unseen.core.registry import register
from unseen.designs.bootstrap import Bootstrap
from unseen.estimators.b632 import SHARE
from unseen.estimators.plain_means import mean_over_tested, untested_note

__all__ = ["B632Plus", "combine"]


def combine(train: float, outside: float, chance: float, *, capped: bool = True) -> float:
    """Return the .632+ error from training error, leave-one-out bootstrap error and no-information rate.

    Examples
    --------
    >>> combine(0.0, 0.5, 0.5), round(combine(0.1, 0.2, 0.5), 6)
    (0.5, 0.169604)
    """
    inside = min(outside, chance)
    overfit = min(max((inside - train) / (chance - train), 0.0), 1.0) if chance > train else 0.0
    share = SHARE / (1 - (1 - SHARE) * overfit)
    if capped:
        return (1 - share) * train + share * inside
    return (1 - SHARE) * train + SHARE * outside + (inside - train) * (share - SHARE)


@register
@dataclass(frozen=True)
class B632Plus(TableMethod):
    """Training error and leave-one-out bootstrap error, the latter weighing more the more the model overfits.

    With training error S, bootstrap error E1 and no-information rate g: E1' = min(E1, g), relative overfitting
    R = (E1' - S) / (g - S) in [0, 1] (0 if g <= S), w = .632 / (1 - .368 R), and the estimate is (1 - w) S + w E1'.

    Parameters
    ----------
    capped : bool
        False keeps the bootstrap error as it is in the .632 part, as in equation 32 of the paper, which can then
        exceed the no-information rate.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. Journal of the
    American Statistical Association 92, 548-560.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> parts = [unseen.estimate(KNeighborsClassifier(1), X, y, method=m, random_state=0).value
    ...          for m in ("632", "632plus", "bootstrap-loo")]
    >>> parts == sorted(parts)
    True
    """

    capped: bool = True
    id: ClassVar[str] = "632plus"
    designs: ClassVar[frozenset[str]] = frozenset({"bootstrap"})
    needs: ClassVar[frozenset[str]] = frozenset({"test", "full", "predictions"})
    linear: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})

    def default_design(self, data: Data) -> Bootstrap:
        """Return 100 bootstrap samples."""
        return Bootstrap(100)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the .632+ error."""
        check_table(self, table, level)
        full = table.source[0].full
        assert full is not None
        chance = table.measure.no_information(table.data.target[full.row], full.value, full.score)
        value = combine(table.full_error(), mean_over_tested(table), chance, capped=self.capped)
        return point_estimate(self, table, value, notes=untested_note(table), n_train=table.data.n_units)
