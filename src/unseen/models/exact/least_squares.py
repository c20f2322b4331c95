"""Least squares on parts of the data by the hat-matrix identity e_C = (I - H_CC)^-1 e_C (Cook & Weisberg, 1982)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample
from unseen.models.exact.linear import linear_predictions

__all__ = ["LeastSquares"]


@register
@dataclass(frozen=True)
class LeastSquares(Exact):
    """scikit-learn's LinearRegression, bare or behind scalers, which cannot change its predictions.

    Declines, so that the engine refits, for: positive weights only, columns that do not determine the weights or of which `tol`
    may drop a direction, an intercept left out behind a scaler that centres.

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
    learners: ClassVar[tuple[str, ...]] = ("LinearRegression",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.linear_model import LinearRegression

        return [LinearRegression(), LinearRegression(fit_intercept=False)]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        if final.positive:
            return None
        targets = np.asarray(sample.data.y, dtype=float)[:, None]
        # for releases before 1.9 the cutoff of dense rows is smaller
        cutoff = float(getattr(final, "tol", 0.0))
        made = linear_predictions(scalers, 0.0, bool(final.fit_intercept), sample, targets, fits, cutoff)
        return None if made is None else ManyAnswers(values=made[0][:, 0], safe=made[1])
