"""The best of several models, and what choosing it on the same data costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.estimate import Interval
from unseen.core.result import plain
from unseen.core.scale import as_measure, favoured

__all__ = ["Winner"]


@dataclass(frozen=True, kw_only=True)
class Winner:
    """The best of several models, and its error corrected for having been chosen.

    Errors are of `loss`, smaller being better, as everywhere inside; where that was made from a score such as AUC, the text,
    `measured` and the JSON give the score itself.

    Parameters
    ----------
    name : str
        The winner.
    naive : float
        Its error as if it had been the only one.
    corrected : float
        Expected error of whatever wins, by bootstrap bias-corrected cross-validation.
    interval : Interval or None
        Bootstrap percentile interval of the corrected error, from the units left out of each draw; where these never differ,
        as with no error at all, Clopper and Pearson's for the tested units, and None for a loss without bounds.
    n_models, n_bootstrap : int
        Models it was chosen from, and bootstrap draws.
    loss : str
        What the errors are, such as "zero-one" or "1 - auc".

    References
    ----------
    Tsamardinos, I., Greasidou, E. and Borboudakis, G. (2018). Bootstrapping the out-of-sample predictions for efficient
    and accurate cross-validation. Machine Learning 107, 1895-1922.

    Examples
    --------
    >>> from dataclasses import replace
    >>> interval = Interval(0.125, 0.375, 0.95)
    >>> svm = Winner(name="svm", naive=0.125, corrected=0.25, interval=interval, n_models=3, n_bootstrap=1000, loss="1 - auc")
    >>> print(svm)
    largest auc: svm, 0.875; corrected for the choice among 3 models 0.75, 95% interval [0.625, 0.875]
    >>> print(replace(svm, interval=None, loss="zero-one"))
    smallest error: svm, 0.125; corrected for the choice among 3 models 0.25
    """

    name: str
    naive: float
    corrected: float
    interval: Interval | None
    n_models: int
    n_bootstrap: int
    loss: str = ""

    @property
    def measured(self) -> dict[str, Any]:
        """Name of the measure that was asked for, and value, corrected value and interval on its scale."""
        name, naive = as_measure(self.loss, self.naive)
        ends = (None, None) if self.interval is None else sorted(as_measure(self.loss, v)[1] for v in self.interval)
        corrected = as_measure(self.loss, self.corrected)[1]
        return {"name": name, "naive": naive, "corrected": corrected, "lower": ends[0], "upper": ends[1]}

    @property
    def best(self) -> str:
        """What it is the best by, such as "smallest error" or "largest auc"."""
        return favoured(self.loss, most=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, what it is the best by, and the numbers on the scale of the measure that was asked for."""
        return {
            "name": self.name,
            "best": self.best,
            "loss": self.loss,
            "naive": plain(self.naive),
            "corrected": plain(self.corrected),
            "interval": plain(self.interval),
            "measure": plain(self.measured),
            "n_models": self.n_models,
            "n_bootstrap": self.n_bootstrap,
        }

    def __str__(self) -> str:
        m = self.measured
        span = (
            ""
            if self.interval is None
            else f", {100 * self.interval.level:g}% interval {Interval(m['lower'], m['upper'], self.interval.level)}"
        )
        return (
            f"{self.best}: {self.name}, {m['naive']:.4g}; corrected for the choice among {self.n_models} models "
            f"{m['corrected']:.4g}{span}"
        )
