"""How well probabilities are calibrated: bins of equal size and the parts of the Brier score (Murphy, 1973)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError

__all__ = ["BrierParts", "bins_of", "brier_decomposition"]


@dataclass(frozen=True, kw_only=True)
class BrierParts:
    """Mean squared error of probabilities and its parts: score = reliability - resolution + uncertainty + within."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float

    def sentence(self) -> str:
        """Return the score as the sum of its parts.

        Examples
        --------
        >>> print(BrierParts(score=0.2, reliability=0.01, resolution=0.05, uncertainty=0.25, within=-0.01).sentence())
        Brier score of this class 0.2 = reliability 0.01 − resolution 0.05 + uncertainty 0.25 − 0.01 within bins
        """
        parts = f"reliability {self.reliability:.4g} − resolution {self.resolution:.4g} + uncertainty {self.uncertainty:.4g}"
        within = f"{'−' if self.within < 0 else '+'} {abs(self.within):.4g} within bins"
        return f"Brier score of this class {self.score:.4g} = {parts} {within}"


def bins_of(probability: Floats, n_bins: int) -> Ints:
    """Return the bin of each probability: bins hold about as many cases each, equal probabilities share one.

    Examples
    --------
    >>> bins_of(np.array([0.1, 0.2, 0.2, 0.9]), 2).tolist()
    [0, 0, 0, 1]
    """
    if n_bins < 1:
        raise InputError(f"n_bins is {n_bins}; at least one bin is needed.")
    edges = np.quantile(probability, np.linspace(0, 1, n_bins + 1)[1:-1], method="inverted_cdf")
    raw = np.searchsorted(edges, probability, side="left")
    return np.unique(raw, return_inverse=True)[1].astype(np.int64).reshape(-1)


def brier_decomposition(
    positive: Array, probability: Floats, n_bins: int | None = None, weight: Floats | None = None
) -> BrierParts:
    """Split the Brier score of one class's probabilities into its parts.

    Parameters
    ----------
    positive : array of bool
        Which cases are of the class.
    probability : array
        Probabilities of the class.
    n_bins : int, optional
        Bins of equal size; by default every distinct probability is its own bin and `within` is 0 (Murphy, 1973).
        With bins, `within` collects the variation inside them, so that the parts still add up (Stephenson et al., 2008).
    weight : array, optional
        Weight of each case.

    Returns
    -------
    BrierParts
        Shares of few cases miss the true ones by chance, so reliability is above 0 for calibrated probabilities too: by
        about k/n p(1 - p) with k bins, which resolution gains likewise.

    References
    ----------
    Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied Meteorology 12, 595-600.
    Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in the Brier score
    decomposition. Weather and Forecasting 23, 752-757.

    Examples
    --------
    >>> b = brier_decomposition(np.array([1, 0, 1, 1], bool), np.array([0.5, 0.5, 0.9, 0.9]))
    >>> round(b.reliability - b.resolution + b.uncertainty, 4) == round(b.score, 4)
    True
    """
    positive, probability = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=float)
    if n_bins is None:
        bins = np.unique(probability, return_inverse=True)[1].reshape(-1)
    else:
        bins = bins_of(probability, n_bins)
    own = np.ones(len(bins)) if weight is None else np.asarray(weight, dtype=float)
    mass = np.bincount(bins, own)
    there = mass > 0
    share = (mass / own.sum())[there]
    rate = (np.bincount(bins, own * positive)[there]) / mass[there]
    mean = (np.bincount(bins, own * probability)[there]) / mass[there]
    base = float(own @ positive / own.sum())
    score = float(own @ np.square(probability - positive) / own.sum())
    reliability, resolution = float(share @ np.square(mean - rate)), float(share @ np.square(rate - base))
    uncertainty = base * (1 - base)
    return BrierParts(
        score=score,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within=score - reliability + resolution - uncertainty,
    )
