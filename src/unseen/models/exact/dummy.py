"""Guesses that ignore the features: the most frequent class, the mean or the median of the training part (James et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample, decide
from unseen.models.exact.scaling import harmless
from unseen.models.exact.sums import class_moments

__all__ = ["Dummy"]

ROUNDING = 1e-12  # of a sum of weights, over the sum of all


@register
@dataclass(frozen=True)
class Dummy(Exact):
    """scikit-learn's DummyClassifier and DummyRegressor that draw no random numbers: counts and means of the targets.

    References
    ----------
    James, G., Witten, D., Hastie, T. and Tibshirani, R. (2013). An introduction to statistical learning. Springer. Section 4.4.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> quick, slow = (unseen.run(DummyClassifier(), X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "dummy"
    learners: ClassVar[tuple[str, ...]] = ("DummyClassifier", "DummyRegressor")

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return [
            DummyClassifier(),
            DummyClassifier(strategy="most_frequent"),
            DummyRegressor(),
            DummyRegressor(strategy="median"),
        ]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        if not harmless(scalers):
            return None
        safe = np.ones(len(fits), dtype=bool)
        if not sample.n_classes:
            made = _guesses(final.strategy, sample, fits)
            return None if made is None else ManyAnswers(values=made[fits.fit], safe=safe)
        if final.strategy == "constant":
            return _always(final.constant, sample, fits)
        if final.strategy not in ("most_frequent", "prior"):
            return None
        if sample.weights is None:
            share = fits.class_counts / fits.sizes[:, None]
        else:
            column = Sample(np.zeros((len(sample.X), 1)), sample.data, sample.weights)
            size = class_moments(column, fits, sample.codes, sample.n_classes).size
            share = size / size.sum(axis=1, keepdims=True)
        # equal counts are equal shares to the last bit; sums of weights have rounding errors
        tolerance = -1.0 if sample.weights is None else ROUNDING
        certain = np.eye(sample.n_classes)[share.argmax(axis=1)]
        scores = share if final.strategy == "prior" else certain
        return decide(fits, share[fits.fit], tolerance, safe, scores[fits.fit], "probability")


def _always(constant: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
    """Return the same class for every row; scikit-learn refuses a part that lacks it, so that such a part is refitted."""
    classes = sample.data.classes
    given = np.atleast_1d(np.asarray(constant, dtype=None if classes is None else classes.dtype))
    found = np.flatnonzero(classes == given[0]) if given.size == 1 else np.zeros(0, dtype=np.int64)
    if len(found) != 1 or np.atleast_1d(np.asarray(constant)).ravel()[0] != given.ravel()[0]:
        return None
    code = int(found[0])
    scores = np.zeros((len(fits.row), sample.n_classes))
    scores[:, code] = 1.0
    return ManyAnswers(
        values=np.full(len(fits.row), code, dtype=np.int64),
        safe=np.asarray(fits.class_counts[:, code] > 0),
        scores=scores if fits.scores else None,
        score_kind="probability" if fits.scores else None,
    )


def _guesses(strategy: str, sample: Sample, fits: ManyFits) -> Floats | None:
    """Return the number that each fit predicts for every row."""
    y = np.asarray(sample.data.y, dtype=float)
    if strategy == "mean":
        return class_moments(Sample(y[:, None], sample.data, sample.weights), fits).mean[:, 0, 0]
    if strategy == "median" and sample.weights is None:
        return _medians(y, fits)
    return None


def _medians(y: Floats, fits: ManyFits) -> Floats:
    """Return the median of each training part: the middle of the sorted targets, counted as often as they are there."""
    order = np.argsort(y, kind="stable")
    upto: Array = np.cumsum(fits.counts[:, order], axis=1, dtype=np.int64)
    n = fits.sizes[:, None]
    low = (upto <= (n - 1) // 2).sum(axis=1)
    high = (upto <= n // 2).sum(axis=1)
    return np.asarray((y[order[low]] + y[order[high]]) / 2, dtype=float)
