"""The empirical distribution of the generalization error over splits (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.show import Shown

__all__ = ["ErrorDistribution"]


@dataclass(frozen=True, eq=False)
class ErrorDistribution(Shown):
    """Errors of the splits G_1..G_J as a distribution: location, dispersion, fractiles, transforms.

    Parameters
    ----------
    values : ndarray
        One error per split, in the order of the splits.
    loss : str
        Id of the loss.
    scale : {"identity", "log1p"}
        Scale the values are on.
    plan : str
        Fingerprint of the splits; comparisons need the same one.
    n_train, n_test : float
        Mean sizes of a split.
    model : str
        Description of the model.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> d = ErrorDistribution(np.array([1.0, 2.0, 3.0, 10.0]), "squared")
    >>> d.avr, d.med, d.fractile(0.75), d.mad
    (4.0, 2.5, 3.0, 1.0)
    """

    values: Floats
    loss: str = ""
    scale: str = "identity"
    plan: str = ""
    n_train: float = float("nan")
    n_test: float = float("nan")
    model: str = ""

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
        share = np.clip(np.minimum(edges[1:], 0.95) - np.maximum(edges[:-1], 0.05), 0.0, None)
        return float(share @ self.ordered / 0.9)

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

    def log1p(self) -> ErrorDistribution:
        """Return the distribution of log(1 + G)."""
        if self.scale != "identity":
            raise InputError("this distribution is on the log(1 + G) scale already.")
        return ErrorDistribution(
            np.log1p(self.values), self.loss, "log1p", self.plan, self.n_train, self.n_test, self.model
        )

    def prob_worse(self, other: ErrorDistribution) -> float:
        """Return the share of splits on which this error is larger; a statement about splits, not about data sets."""
        if self.plan != other.plan or len(self.values) != len(other.values):
            raise InputError(
                "the two distributions come from different splits; use the same data, design and random_state."
            )
        return float(np.mean(self.values > other.values))

    def summary(self) -> dict[str, float]:
        """Return location, dispersion and the fractiles .05, .25, .75, .95."""
        measures = {name: getattr(self, name) for name in ("avr", "tavr", "med", "std", "mad", "iqr")}
        return {**measures, **{f"q{100 * q:02.0f}": self.fractile(q) for q in (0.05, 0.25, 0.75, 0.95)}}

    def rows(self) -> list[dict[str, Any]]:
        """Return the summary on this scale and, where all errors exceed -1, on the log(1 + G) scale."""
        out = [{"scale": self.scale, **self.summary()}]
        if self.scale == "identity" and self.ordered[0] > -1:
            out.append({"scale": "log1p", **self.log1p().summary()})
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, the summaries and the errors themselves."""
        return {
            "loss": self.loss, "model": self.model, "n_splits": len(self.values), "n_train": self.n_train, "n_test": self.n_test,
            "summaries": self.rows(), "values": self.values.tolist(),
        }  # fmt: skip

    def __str__(self) -> str:
        parts = ", ".join(f"{k} {v:.4g}" for k, v in self.summary().items())
        return f"distribution of {self.loss} over {len(self.values)} splits ({self.scale}): {parts}"
