"""Errors of two models on the same splits (Larsen & Hansen, 1995; Nadeau & Bengio, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.notes import Note
from unseen.core.result import Result, plain

if TYPE_CHECKING:
    from unseen.core.distribution import ErrorDistribution

__all__ = ["DistributionComparison"]

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class DistributionComparison(Result):
    """Two models on the same splits: the differences of their errors d_j, first minus second.

    Parameters
    ----------
    first, second : ErrorDistribution
        Errors of the two models on the splits both completed.
    notes : tuple of Note
        Statistical weaknesses.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    first: ErrorDistribution
    second: ErrorDistribution
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return f"Errors of {' and '.join(self.names)}"

    @property
    def names(self) -> tuple[str, str]:
        """Descriptions of the two models."""
        return self.first.model or "first", self.second.model or "second"

    @cached_property
    def values(self) -> Floats:
        """Difference of each split."""
        return self.first.values - self.second.values

    @property
    def difference(self) -> float:
        """Mean difference over the splits."""
        return float(self.values.mean())

    @property
    def naive_std_error(self) -> float:
        """sqrt(sum (d_j - dbar)^2 / (J (J - 1))): takes overlapping splits for independent ones and is too small."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self.values)))

    @property
    def corrected_std_error(self) -> float:
        """sqrt((1/J + n2/n1) S^2), which allows for the overlap of training sets."""
        return float(self.values.std(ddof=1) * np.sqrt(1 / len(self.values) + self.first.n_test / self.first.n_train))

    @property
    def df(self) -> int:
        """Degrees of freedom of both t statistics, J - 1."""
        return len(self.values) - 1

    @property
    def prob_worse(self) -> float:
        """Share of splits on which the first model's error is larger; a statement about splits, not about data sets."""
        return float(np.mean(self.values > 0))

    def t(self, corrected: bool = True) -> float:
        """Return the difference in standard errors; NaN where all splits agree, which says nothing of their error."""
        error = self.corrected_std_error if corrected else self.naive_std_error
        return self.difference / error if error > ROUND_OFF * abs(self.difference) else float("nan")

    def p_value(self, corrected: bool = True) -> float:
        """Return the two-sided p-value of "no difference" by Student's t with J - 1 degrees of freedom."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.df, -abs(self.t(corrected))))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per standard error, the naive one marked as such."""
        shared = {"first": self.names[0], "second": self.names[1], "difference": self.difference}
        rest = {"prob_worse": self.prob_worse, "splits": len(self.values)}
        return [
            {**shared, "std_error": error, "kind": kind, "t": self.t(corrected), "p": self.p_value(corrected), **rest}
            for kind, error, corrected in (
                ("corrected", self.corrected_std_error, True),
                ("naive (too small: splits overlap)", self.naive_std_error, False),
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows, both distributions and the notes."""
        return {
            "comparison": plain(self.rows()),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "notes": plain(self.notes),
        }

    def __str__(self) -> str:
        return (
            f"{self.names[0]} minus {self.names[1]}: mean difference {self.difference:.4g}, "
            f"corrected standard error {self.corrected_std_error:.3g} (p {self.p_value():.3g}), "
            f"naive {self.naive_std_error:.3g}; the first is worse on {self.prob_worse:.0%} of {len(self.values)} splits"
        )
