"""Student's t on the losses of one split (Nadeau & Bengio, 2003, table 1): for comparison only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable
from unseen.core.method import check_table, t_interval
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.designs.holdout import Holdout
from unseen.estimators.unit_mean import unit_mean

__all__ = ["TTest"]


@register
@dataclass(frozen=True)
class TTest(TableMethod):
    """Held-out mean with a t interval, read as the error of the algorithm: it leaves out the training set's own luck.

    Its variance is too small by the factor (s0 + (n2 - 1) s3)/(s0 - s3), where s0 is the variance of a loss and s3
    the covariance of two losses of one split.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(GaussianNB(), X, y, method="t-test", random_state=0)
    >>> e.df, e.notes[0].code
    (189.0, 'U013')
    """

    id: ClassVar[str] = "t-test"
    designs: ClassVar[frozenset[str]] = frozenset({"holdout"})
    liberal: ClassVar[bool] = True
    not_recommended: ClassVar[str] = "it leaves out what another training set would change"
    note_codes: ClassVar[frozenset[str]] = frozenset({"U013"})

    def default_design(self, data: Data) -> Holdout:
        """Return one split that holds out a third."""
        return Holdout()

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the held-out mean and its t interval with n2 - 1 degrees of freedom."""
        level = check_table(self, table, level)
        mean = unit_mean(table)
        if mean.n_units < 2:
            raise InputError(f"{self.id} needs at least 2 held-out units to see a spread; there is {mean.n_units}.")
        remark = note("U013", "one split cannot show how much the training set matters")
        return t_interval(self, table, mean.value, mean.std_error, level, float(mean.n_units - 1), (remark,))
