"""Prediction errors of linear models in closed form: FPE (Akaike, 1970) and GPE (Moody, 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import DirectMethod
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.estimators._linear import closed_form, least_squares_only, linear_fit

__all__ = ["Fpe", "Gpe"]

FAMILY = ("fpe", "gpe")


@register
@dataclass(frozen=True)
class Fpe(DirectMethod):
    """S_N (N + p) / (N - p), with S_N the mean squared residual and p the number of parameters.

    Parameters
    ----------
    scale : {"identity", "log1p"}
        "log1p" gives the mean of log(1 + G) instead: log(1 + s2) + s2 p / ((1 + s2) N), s2 = RSS / (N - p).

    References
    ----------
    Akaike, H. (1970). Statistical predictor identification. Annals of the Institute of Statistical Mathematics 22,
    203-217.
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> e = unseen.estimate(LinearRegression(), X, y, method="fpe", random_state=0)
    >>> rss = np.sum((y - LinearRegression().fit(X, y).predict(X)) ** 2)
    >>> bool(np.isclose(e.value, rss / 442 * (442 + 11) / (442 - 11)))
    True
    """

    scale: str = "identity"
    id: ClassVar[str] = "fpe"
    whole_model: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __post_init__(self) -> None:
        if self.scale not in ("identity", "log1p"):
            raise InputError(f"{self.id}: scale is {self.scale!r}; it is 'identity' or 'log1p'.")

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the final prediction error."""
        training = fit_once(model, data, rng)
        fit = linear_fit(self.id, training.fitted, data)
        least_squares_only(self.id, fit)
        n, p = fit.n, fit.effective
        if self.scale == "identity":
            return closed_form(self, data, fit.mse * (n + p) / (n - p), "squared", training)
        s2 = fit.mse * n / (n - p)
        value = float(np.log1p(s2) + s2 * p / ((1 + s2) * n))
        return closed_form(self, data, value, "log(1 + squared)", training)


@register
@dataclass(frozen=True)
class Gpe(DirectMethod):
    """Final prediction error with effective parameters, for ridge; for plain least squares it is `fpe`.

    Parameters
    ----------
    form : {"moody", "fper"}
        "moody": S_N + 2 s2 p / N with p = tr(H) and s2 = S_N N / (N - p), hence S_N (N + p) / (N - p). "fper", the
        regularised FPE of Larsen and Hansen: S_N (N + p2) / (N - 2 p + p2) with p2 = tr(H H), which uses the exact
        mean of the training error of a biasless smoother.

    References
    ----------
    Moody, J. E. (1992). The effective number of parameters. Advances in Neural Information Processing Systems 4.
    Larsen, J. and Hansen, L. K. (1994). Generalization performance of regularized neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> values = [unseen.estimate(LinearRegression(), X, y, method=m, random_state=0).value for m in ("gpe", "fpe")]
    >>> bool(np.isclose(*values))
    True
    """

    form: str = "moody"
    id: ClassVar[str] = "gpe"
    whole_model: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __post_init__(self) -> None:
        if self.form not in ("moody", "fper"):
            raise InputError(f"{self.id}: form is {self.form!r}; it is 'moody' or 'fper'.")

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the generalized prediction error."""
        training = fit_once(model, data, rng)
        fit = linear_fit(self.id, training.fitted, data)
        n, p, p2 = fit.n, fit.effective, fit.effective_squared
        value = fit.mse * ((n + p) / (n - p) if self.form == "moody" else (n + p2) / (n - 2 * p + p2))
        text = f"{p:.4g} effective parameters; independent noise of one variance; the bias of shrinking is left out"
        return closed_form(self, data, value, "squared", training, text)
