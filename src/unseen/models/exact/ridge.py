"""Ridge regression on parts of the data by the same identity, with the penalty inside the hat matrix (Golub et al., 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample, decide
from unseen.models.exact.linear import linear_predictions

__all__ = ["RidgeRegression"]

DIRECT_SOLVERS = ("auto", "cholesky", "svd")
ROUNDING = 1e-9  # of a decision value, whose targets are -1 and 1


@register
@dataclass(frozen=True)
class RidgeRegression(Exact):
    """scikit-learn's Ridge and RidgeClassifier with a direct solver, bare or behind scalers.

    A scaler that divides by the training part's spread changes the penalty from split to split; each split then has its own
    equations. Declines, so that the engine refits, for: other solvers, positive weights only, weights of classes.

    References
    ----------
    Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
    parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.linear_model import Ridge
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> t = unseen.run(Ridge(0.1), X, y, design=unseen.designs.KFold(10), random_state=0)
    >>> s = t.plan.splits[3]
    >>> bool(np.allclose(t.test.value[t.test.split == 3], Ridge(0.1).fit(X[s.train], y[s.train]).predict(X[s.test])))
    True
    """

    id: ClassVar[str] = "ridge"
    learners: ClassVar[tuple[str, ...]] = ("Ridge", "RidgeClassifier")

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.linear_model import Ridge, RidgeClassifier

        return [
            Ridge(),
            Ridge(0.1, fit_intercept=False),
            Ridge(solver="svd"),
            RidgeClassifier(),
            RidgeClassifier(0.1, fit_intercept=False),
        ]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        if final.positive or final.solver not in DIRECT_SOLVERS or np.ndim(final.alpha) != 0 or not final.alpha >= 0:
            return None
        K = sample.n_classes
        if K and final.class_weight is not None:
            return None
        if not K:
            targets = np.asarray(sample.data.y, dtype=float)[:, None]
        else:
            targets = np.where(sample.codes[:, None] == (np.arange(K) if K > 2 else [1]), 1.0, -1.0)
        made = linear_predictions(scalers, float(final.alpha), bool(final.fit_intercept), sample, targets, fits)
        if made is None:
            return None
        values, safe = made
        if not K:
            return ManyAnswers(values=values[:, 0], safe=safe)
        # a class that a part lacks has no column of its own there
        safe = safe & np.all(fits.class_counts > 0, axis=1)
        joint = values if K > 2 else np.hstack([np.zeros_like(values), values])
        return decide(fits, joint, ROUNDING, safe, values, "decision")
