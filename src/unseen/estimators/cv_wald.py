"""Normal interval for k-fold cross-validation from the spread of the units' losses (Bayle et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.kfold import KFold
from unseen.estimators.unit_mean import unit_mean
from unseen.estimators.wald import few_units

__all__ = ["CvWald"]


@register
@dataclass(frozen=True)
class CvWald(TableMethod):
    """Mean over all units, each tested once, plus and minus z S / sqrt(n); with groups, S is that of group totals.

    Right for large n and stable learners. The losses of one run are correlated, so it is too narrow for small samples
    and unstable learners; `nested-cv` is made for those.

    References
    ----------
    Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020). Cross-validation confidence intervals for test error.
    Advances in Neural Information Processing Systems 33.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="cv-wald", random_state=0)
    >>> e.n_fits, e.value in e.interval
    (10, True)
    """

    id: ClassVar[str] = "cv-wald"
    designs: ClassVar[frozenset[str]] = frozenset({"kfold", "loo"})
    not_recommended: ClassVar[str] = "95% intervals covered .85 to .93 with 100 rows"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009", "U016"})

    def default_design(self, data: Data) -> KFold:
        """Return 10 folds, or as many as there are units."""
        return KFold(n_folds=min(10, data.n_units))

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the cross-validation error and its normal interval."""
        level = check_table(self, table, level)
        mean = unit_mean(table)
        if mean.n_units < 2:
            raise InputError(f"{self.id} needs at least 2 tested units to see a spread; there is {mean.n_units}.")
        effect = "a test rejected .17 at .05" if table.is_difference else "95% intervals covered .85 to .93"
        text = f"units tested by the models of one run count as independent; with unstable models on 100 units {effect}"
        notes = (*few_units(mean.n_units), note("U016", text))
        return normal_interval(self, table, mean.value, mean.std_error, level, notes)
