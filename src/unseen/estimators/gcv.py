"""Generalized cross-validation (Golub, Heath & Wahba, 1979)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.estimate import Estimate
from unseen.core.kinds import DirectMethod
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.estimators._linear import closed_form, linear_fit

__all__ = ["Gcv"]


@register
@dataclass(frozen=True)
class Gcv(DirectMethod):
    """S_N / (1 - tr(H) / N)^2 for least squares and ridge, H the hat matrix: leave-one-out with equal leverages.

    References
    ----------
    Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
    parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import Ridge
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> unseen.estimate(Ridge(0.1), X, y, method="gcv", random_state=0).n_fits
    1
    """

    id: ClassVar[str] = "gcv"
    whole_model: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the generalized cross-validation error."""
        training = fit_once(model, data, rng)
        fit = linear_fit(self.id, training.fitted, data)
        value = fit.mse / (1 - fit.effective / fit.n) ** 2
        return closed_form(self, data, value, "squared", training)
