"""The empirical distribution of the generalization error over splits (Larsen & Hansen, 1995), and two models on the same splits (Nadeau & Bengio, 2003)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.notes import Note, merge_notes, note
from unseen.core.result import Result, plain
from unseen.core.scale import RATES

__all__ = ["DistributionComparison", "ErrorDistribution"]


TRIM = 0.05  # share cut off at each end of the trimmed mean


@dataclass(frozen=True, eq=False)
class ErrorDistribution(Result):
    """Errors of the splits G_1..G_J as a distribution: location, dispersion, fractiles, transforms.

    Parameters
    ----------
    values : ndarray
        One error per completed split, in the order of the splits.
    loss : str
        Id of the loss.
    scale : str
        Scale the values are on: "identity", "log1p" or "box-cox(power)".
    plan : str
        Fingerprint of the splits; comparisons need the same one.
    n_train, n_test : float
        Mean sizes of a split.
    model : str
        Description of the model.
    splits : ndarray of int
        Numbers of the completed splits; all of them by default.
    notes : tuple of Note
        Statistical weaknesses.
    command : str
        Command line or call that made it, if it is known.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> d = ErrorDistribution(np.array([1.0, 2.0, 3.0, 10.0]), "squared")
    >>> d.avr, d.med, d.fractile(0.75), d.mad
    (4.0, 2.5, 3.0, 1.0)
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    values: Floats
    loss: str = ""
    _: KW_ONLY
    scale: str = "identity"
    plan: str = ""
    n_train: float = float("nan")
    n_test: float = float("nan")
    model: str = ""
    splits: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    notes: tuple[Note, ...] = ()
    command: str = ""

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
            raise InputError("a distribution of errors needs one finite number per split, and at least one split.")
        splits = np.asarray(self.splits, dtype=np.int64)
        if splits.size == 0:
            splits = np.arange(values.size, dtype=np.int64)
        if splits.shape != values.shape:
            raise InputError(f"{splits.size} split numbers were given for {values.size} errors; they must be equal.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "splits", splits)

    @cached_property
    def ordered(self) -> Floats:
        """Errors in ascending order."""
        return np.sort(self.values)

    @property
    def avr(self) -> float:
        """Mean."""
        return float(self.values.mean())

    @property
    def tavr(self) -> float:
        """Mean without 5% at each end: the integral of the quantile function over [.05, .95], divided by 0.9."""
        edges = np.linspace(0.0, 1.0, len(self.values) + 1)
        share = np.clip(np.minimum(edges[1:], 1 - TRIM) - np.maximum(edges[:-1], TRIM), 0.0, None)
        return float(share @ self.ordered / (1 - 2 * TRIM))

    @property
    def med(self) -> float:
        """Median."""
        return float(np.median(self.values))

    @property
    def std(self) -> float:
        """Standard deviation, divided by J - 1."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def mad(self) -> float:
        """Median absolute deviation from the median, without a consistency factor."""
        return float(np.median(np.abs(self.values - self.med)))

    @property
    def iqr(self) -> float:
        """Distance between the quartiles."""
        return self.fractile(0.75) - self.fractile(0.25)

    def fractile(self, share: float) -> float:
        """Return the smallest observed error with at least `share` of the splits at or below it."""
        if not 0 < share <= 1:
            raise InputError(f"fractile({share!r}): the share lies in (0, 1].")
        index = int(np.ceil(share * len(self.values) - 1e-9)) - 1
        return float(self.ordered[max(index, 0)])

    def cdf(self, error: float) -> float:
        """Return the share of splits with an error of at most `error`: P_emp(G)."""
        return float(np.searchsorted(self.ordered, error, side="right") / len(self.values))

    def log1p(self) -> ErrorDistribution:
        """Return the distribution of log(1 + G)."""
        return self._transform(np.log1p(self._above_minus_one()), "log1p")

    def box_cox(self, power: float) -> ErrorDistribution:
        """Return the distribution of ((1 + G)^power - 1) / power; power 0 is log(1 + G)."""
        if power == 0:
            return self.log1p()
        return self._transform(((1 + self._above_minus_one()) ** power - 1) / power, f"box-cox({power:g})")

    def _above_minus_one(self) -> Floats:
        if self.scale != "identity":
            raise InputError(f"this distribution is on the {self.scale} scale already; transform the original one.")
        if self.ordered[0] <= -1:
            raise InputError(f"log(1 + G) needs errors above -1; the smallest is {self.ordered[0]:.4g}.")
        return self.values

    def _transform(self, values: Floats, scale: str) -> ErrorDistribution:
        return replace(self, values=values, scale=scale)

    def prob_worse(self, other: ErrorDistribution) -> float:
        """Return the share of splits on which this error is larger; a statement about splits, not about data sets."""
        mine, its = self._pair_with(other)
        return float(np.mean(mine > its))

    def compare(self, other: ErrorDistribution) -> DistributionComparison:
        """Return this model's error minus the other's, split by split: mean, standard errors, share of splits worse.

        Examples
        --------
        >>> a = ErrorDistribution(np.array([1.0, 2.0, 4.0]), n_train=30, n_test=10)
        >>> b = ErrorDistribution(np.array([0.0, 2.0, 1.0]), n_train=30, n_test=10)
        >>> c = a.compare(b)
        >>> round(c.difference, 4), round(c.naive_std_error, 4), round(c.corrected_std_error, 4)
        (1.3333, 0.8819, 1.2472)
        """
        mine, its = self._pair_with(other)
        if len(mine) < 2:
            raise InputError("a comparison of two distributions needs at least 2 splits that both models completed.")
        notes = merge_notes(self.notes, other.notes)
        dropped = max(len(self.values), len(other.values)) - len(mine)
        if dropped:
            notes = (*notes, note("U025", f"{dropped} splits were completed by one model only and were left out"))
        shared = np.intersect1d(self.splits, other.splits)
        return DistributionComparison(
            replace(self, values=mine, splits=shared), replace(other, values=its, splits=shared), notes
        )

    def _pair_with(self, other: ErrorDistribution) -> tuple[Floats, Floats]:
        if self.plan != other.plan or (not self.plan and len(self.values) != len(other.values)):
            raise InputError(
                "the two distributions come from different splits; use the same data, design and random_state."
            )
        if (self.loss, self.scale) != (other.loss, other.scale):
            raise InputError(
                f"the two distributions differ in loss or scale: {self.loss or 'loss'} ({self.scale}) and "
                f"{other.loss or 'loss'} ({other.scale}); bring both to the same."
            )
        _, a, b = np.intersect1d(self.splits, other.splits, return_indices=True)
        if len(a) == 0:
            raise InputError("no split was completed by both models; nothing can be compared.")
        return self.values[a], other.values[b]

    def summary(self) -> dict[str, float]:
        """Return location, dispersion and the fractiles .05, .25, .75, .95."""
        measures = {name: getattr(self, name) for name in ("avr", "tavr", "med", "std", "mad", "iqr")}
        return {**measures, **{f"q{100 * q:02.0f}": self.fractile(q) for q in (0.05, 0.25, 0.75, 0.95)}}

    @property
    def sentence(self) -> str:
        """The median and the middle half of the errors in words.

        Examples
        --------
        >>> ErrorDistribution(np.array([0.1, 0.2, 0.3, 0.4]), "zero-one").sentence
        'Over 4 splits half of the errors lie between 10.0% and 30.0% (median 25.0%).'
        """
        rate = self.loss in RATES and self.scale == "identity"
        low, high, middle = (
            f"{100 * v:.1f}%" if rate else f"{v:.4g}" for v in (self.fractile(0.25), self.fractile(0.75), self.med)
        )
        of = "errors" if self.scale == "identity" else f"errors ({self.scale})"
        return f"Over {len(self.values)} splits half of the {of} lie between {low} and {high} (median {middle})."

    def rows(self) -> list[dict[str, Any]]:
        """Return the summary on this scale and, if all errors exceed -1, on the log(1 + G) scale."""
        out = [{"scale": self.scale, **self.summary()}]
        if self.scale == "identity" and self.ordered[0] > -1:
            out.append({"scale": "log1p", **self.log1p().summary()})
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, the summaries and the errors themselves."""
        return {
            "loss": self.loss,
            "model": self.model,
            "scale": self.scale,
            "n_splits": len(self.values),
            "n_train": plain(self.n_train),
            "n_test": plain(self.n_test),
            "summaries": plain(self.rows()),
            "values": self.values.tolist(),
            "notes": plain(self.notes),
        }

    def __str__(self) -> str:
        parts = ", ".join(f"{k} {v:.4g}" for k, v in self.summary().items())
        return f"distribution of {self.loss} over {len(self.values)} splits ({self.scale}): {parts}"


ROUND_OFF = 1e-12  # smaller differences of errors are those of the arithmetic


@dataclass(frozen=True, eq=False)
class DistributionComparison(Result):
    """Two models on the same splits: the differences of their errors d_j, first minus second.

    Parameters
    ----------
    first, second : ErrorDistribution
        Errors of the two models on the splits both completed.
    notes : tuple of Note
        Statistical weaknesses.
    command : str
        Command line that made it, if it is known.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    first: ErrorDistribution
    second: ErrorDistribution
    notes: tuple[Note, ...] = ()
    command: str = ""

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
        """Return the difference in standard errors; NaN if all splits agree, which says nothing of their error."""
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
