"""Ridge regression on parts of the data by the same identity, with the penalty inside the hat matrix (Golub et al., 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.plan import Split
from unseen.core.registry import register
from unseen.models.exact.linear import ExactFits, LinearRule, answer, harmless, is_sklearn, steps_of

__all__ = ["RidgeRegression"]

DIRECT_SOLVERS = ("auto", "cholesky", "svd")


@register
@dataclass(frozen=True)
class RidgeRegression(ExactFits):
    """scikit-learn's Ridge with a direct solver, bare or behind a scaler that only centres.

    A scaler that divides by the training part's spread changes the penalty from split to split; such a pipeline is
    refitted.

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

    def fit_many(
        self, model: Any, data: Data, splits: Sequence[Split], seeds: Sequence[int]
    ) -> list[tuple[Array, None]] | None:
        """Return every fit's predictions for all rows, or None if this model must be refitted."""
        scalers, final = steps_of(getattr(model, "estimator", None))
        if data.task != "regression" or not is_sklearn(final, "Ridge"):
            return None
        if final.positive or final.solver not in DIRECT_SOLVERS or np.ndim(final.alpha) != 0 or not final.alpha >= 0:
            return None
        if not harmless(scalers, final.fit_intercept, may_scale=final.alpha == 0):
            return None
        return answer(LinearRule(float(final.alpha), bool(final.fit_intercept)), model, data, splits, seeds)
