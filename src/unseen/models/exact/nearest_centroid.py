"""Nearest centroid on parts of the data, from class sums (Tibshirani et al., 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample, decide, exponentials
from unseen.models.exact.scaling import scaling_of
from unseen.models.exact.sums import class_moments, squared_distances

__all__ = ["Centroid"]

ROUNDING = 1e-11  # of a squared distance that is computed from squared norms, over the largest of these


@register
@dataclass(frozen=True)
class Centroid(Exact):
    """scikit-learn's NearestCentroid by Euclidean distance without shrinkage, bare or behind scalers.

    References
    ----------
    Tibshirani, R., Hastie, T., Narasimhan, B. and Chu, G. (2002). Diagnosis of multiple cancer types by shrunken
    centroids of gene expression. PNAS 99, 6567-6572.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = unseen.datasets.load("iris").xy
    >>> quick, slow = (unseen.run(NearestCentroid(), X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "nearest-centroid"
    learners: ClassVar[tuple[str, ...]] = ("NearestCentroid",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.neighbors import NearestCentroid

        return [NearestCentroid(), NearestCentroid(priors="empirical")]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        priors = getattr(final, "priors", "uniform")
        if final.metric != "euclidean" or final.shrink_threshold or not isinstance(priors, str):
            return None
        scaling = scaling_of(scalers, sample, fits)
        if scaling is None or np.all(sample.X[0] == sample.X):
            return None
        X, K = sample.X, sample.n_classes
        moments = class_moments(sample, fits, sample.codes, K)
        there = moments.size > 0
        present = there.sum(axis=1)
        # scikit-learn wants two classes; it says so itself when it refits
        safe = scaling.safe & (present > 1)
        n = moments.size.sum(axis=1)
        shares = np.where(there, moments.size / n[:, None] if priors == "empirical" else 1.0 / present[:, None], 0.0)
        even = np.all(np.isclose(shares, 1.0 / present[:, None]) | ~there, axis=1)
        within = moments.squares.sum(axis=1) / np.maximum(n - present, 1)[:, None]
        if fits.scores or not even.all():
            # a column without spread inside the classes leaves scikit-learn rounding errors to divide by
            safe &= moments.safe & np.all(within > 0, axis=1)
        by_spread = 1.0 / np.where(within > 0, within, scaling.scale**2)[:, None, :]
        by_scale = np.broadcast_to(1.0 / scaling.scale[:, None, :] ** 2, by_spread.shape)
        distance = squared_distances(fits, X, moments.mean, np.where(even[:, None, None], by_scale, by_spread))
        largest = ((np.abs(X).max(axis=0) + np.abs(scaling.shift)) ** 2 / scaling.scale**2).sum(axis=1)
        tolerance = np.where(even, np.broadcast_to(largest, even.shape), 0.0)[fits.fit] + distance.max(axis=1)
        absent = np.where(there, 0.0, -np.inf)[fits.fit]
        log_prior = 2 * np.log(np.where(there, shares, 1.0))
        joint = np.where(even[:, None], 0.0, log_prior)[fits.fit] - distance + absent
        scores = None
        if fits.scores:
            spread = squared_distances(fits, X, moments.mean, by_spread)
            scores = exponentials(log_prior[fits.fit] - spread + absent)
        return decide(fits, joint, ROUNDING * tolerance, safe, scores, "probability")
