"""Gaussian naive Bayes on parts of the data, from class sums (Chan, Golub & LeVeque, 1983)."""

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

__all__ = ["NaiveBayes"]

CERTAIN = 27.0  # lead of the best class in logarithms; its probability is then within 1e-12 of one
ROUNDING = 1e-9  # of a log joint density; variances have kept at least ten digits


@register
@dataclass(frozen=True)
class NaiveBayes(Exact):
    """scikit-learn's GaussianNB, bare or behind scalers: means and variances of each class follow from sums.

    References
    ----------
    Chan, T. F., Golub, G. H. and LeVeque, R. J. (1983). Algorithms for computing the sample variance: analysis and
    recommendations. The American Statistician 37, 242-247.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> quick, slow = (unseen.run(GaussianNB(), X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "naive-bayes"
    learners: ClassVar[tuple[str, ...]] = ("GaussianNB",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.naive_bayes import GaussianNB

        return [GaussianNB(), GaussianNB(var_smoothing=0.1), GaussianNB(priors=[0.3, 0.7])]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        scaling = scaling_of(scalers, sample, fits)
        K = sample.n_classes
        priors = None if final.priors is None else np.asarray(final.priors, dtype=float)
        if scaling is None or (priors is not None and (priors.shape != (K,) or np.any(priors <= 0))):
            return None
        moments = class_moments(sample, fits, sample.codes, K)
        whole = class_moments(Sample(sample.X, sample.data), fits)
        there = moments.size > 0
        safe = moments.safe & whole.safe & scaling.safe
        if priors is not None:
            # scikit-learn refuses priors of classes that a part lacks; it says so itself when it refits
            safe &= there.all(axis=1) & bool(abs(priors.sum() - 1.0) < 1e-9)
        shares = moments.size / moments.size.sum(axis=1, keepdims=True) if priors is None else priors
        units = scaling.scale[:, None, :] ** 2
        spread = whole.squares / whole.size[:, :, None] / units
        smoothing = final.var_smoothing * spread.max(axis=2, keepdims=True)
        # in the units of X; a change of units is the same for all classes
        variance = moments.squares / np.where(there, moments.size, 1.0)[:, :, None] + smoothing * units
        safe &= np.all((variance > 0) | ~there[:, :, None], axis=(1, 2))
        weight = np.where(there[:, :, None], 1.0 / variance, 0.0)
        constant = np.where(there, np.log(shares) - 0.5 * np.log(2 * np.pi * variance).sum(axis=2), -np.inf)
        joint = constant[fits.fit] - 0.5 * squared_distances(fits, sample.X, moments.mean, weight)
        if fits.scores:
            # scikit-learn leaves probabilities next to one the rounding errors of their logarithms, by which an AUC would order them
            certain = np.sort(joint, axis=1)[:, -2] < joint.max(axis=1) - CERTAIN
            safe[fits.fit[certain]] = False
        size = np.where(np.isfinite(joint), np.abs(joint), 0.0).max(axis=1)
        return decide(
            fits, joint, ROUNDING * (1 + size), safe, exponentials(joint) if fits.scores else None, "probability"
        )
