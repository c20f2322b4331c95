"""Normal interval for the error of one model on held-out units (Laplace, 1812)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate, Target
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, normal_interval
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators.unit_mean import for_this_model, unit_mean

__all__ = ["FEW_UNITS", "Wald", "few_units"]

FEW_UNITS = 30  # the usual size from which a mean counts as normal


def few_units(n: int) -> tuple[Note, ...]:
    """Return the note on a test part too small for a normal interval, if it is one."""
    return (note("U009", f"only {n} units were tested"),) if n < FEW_UNITS else ()


@register
@dataclass(frozen=True)
class Wald(TableMethod):
    """Mean loss on the held-out units, plus and minus z S / sqrt(n2); with groups, S is that of group totals.

    References
    ----------
    Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion. Statistical Science
    16, 101-133 (why `wilson` is better for a rate).

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> e = unseen.estimate(LinearRegression(), X, y, method="wald", random_state=0)
    >>> e.n_fits, str(e.target), e.value in e.interval
    (1, 'this model trained on 294 rows', True)
    """

    id: ClassVar[str] = "wald"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    target: ClassVar[Target] = Target.MODEL
    not_recommended: ClassVar[str] = (
        "95% intervals of error rates covered .92 to .94 with 34 held-out rows; wilson covered .95"
    )
    note_codes: ClassVar[frozenset[str]] = frozenset({"U009"})

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the held-out mean and its normal interval."""
        level = check_table(self, table, level)
        mean = unit_mean(table)
        if mean.n_units < 2:
            raise InputError(f"{self.id} needs at least 2 held-out units to see a spread; there is {mean.n_units}.")
        made = normal_interval(self, table, mean.value, mean.std_error, level, few_units(mean.n_units))
        return for_this_model(made, table)
