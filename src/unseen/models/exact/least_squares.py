"""Least squares on parts of the data by the hat-matrix identity e_C = (I - H_CC)^-1 e_C (Cook & Weisberg, 1982)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.plan import Split
from unseen.core.registry import register
from unseen.models.exact.linear import ExactFits, LinearRule, answer, harmless, is_sklearn, steps_of

__all__ = ["LeastSquares"]


@register
@dataclass(frozen=True)
class LeastSquares(ExactFits):
    """scikit-learn's LinearRegression, bare or behind scalers, which cannot change its predictions.

    Declines, so that the engine refits, for: classes, sparse or single-precision features, positive weights only,
    columns that do not determine the weights, an intercept left out behind a scaler that centres.

    References
    ----------
    Cook, R. D. and Weisberg, S. (1982). Residuals and influence in regression. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> t = unseen.run(LinearRegression(), X, y, design=unseen.designs.LeaveOut(0.25, 500), random_state=0)
    >>> s = t.plan.splits[3]
    >>> bool(np.allclose(t.test.value[t.test.split == 3], LinearRegression().fit(X[s.train], y[s.train]).predict(X[s.test])))
    True
    """

    id: ClassVar[str] = "least-squares"

    def fit_many(
        self, model: Any, data: Data, splits: Sequence[Split], seeds: Sequence[int]
    ) -> list[tuple[Array, None]] | None:
        """Return every fit's predictions for all rows, or None if this model must be refitted."""
        scalers, final = steps_of(getattr(model, "estimator", None))
        if data.task != "regression" or not is_sklearn(final, "LinearRegression") or final.positive:
            return None
        if not harmless(scalers, final.fit_intercept, may_scale=True):
            return None
        return answer(LinearRule(0.0, bool(final.fit_intercept)), model, data, splits, seeds)
