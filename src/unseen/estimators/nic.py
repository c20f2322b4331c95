"""Network information criterion (Murata, Yoshizawa & Amari, 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import NotApplicable
from unseen.core.estimate import Estimate
from unseen.core.kinds import DirectMethod
from unseen.core.model import Fitted
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.estimators._linear import closed_form, features_and_final, linear_fit

__all__ = ["Nic", "nic_penalty"]

MOST_PARAMETERS = 2000  # the Hessian has as many rows and columns: 32 MB
# The slope left over, and what one more Newton step would gain beside the criterion's own correction.
SMALL_SHARE = 0.01


def nic_penalty(gradients: Floats, hessian: Floats) -> float:
    """Return tr(V Q^-1) / N: V the covariance of the rows' gradients, Q the mean Hessian with any penalty's share.

    Examples
    --------
    >>> round(nic_penalty(np.array([[1.0], [-1.0]]), np.array([[2.0]])), 6)
    0.25
    """
    n = len(gradients)
    centred = gradients - gradients.mean(axis=0)
    return float(np.trace(np.linalg.pinv(hessian, hermitian=True) @ (centred.T @ centred / n)) / n)


@register
@dataclass(frozen=True)
class Nic(DirectMethod):
    """Training loss plus tr(V Q^-1) / N, which allows for a model that is not the true one.

    For least squares and ridge the loss is the squared error; for logistic regression, two classes or many, penalised
    or not, it is the logarithmic loss.

    References
    ----------
    Murata, N., Yoshizawa, S. and Amari, S. (1994). Network information criterion: determining the number of hidden
    units for an artificial neural network model. IEEE Transactions on Neural Networks 5, 865-872.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> nic, resub = (unseen.estimate(LinearRegression(), X, y, method=m, random_state=0).value for m in ("nic", "resub"))
    >>> bool(1 + 0.5 * 11 / 442 < nic / resub < 1 + 4 * 11 / 442)
    True
    """

    id: ClassVar[str] = "nic"
    in_assess: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016"})

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the criterion."""
        training = fit_once(model, data, rng)
        fitted = training.fitted
        if data.task == "regression":
            value, loss = _squared_nic(self.id, fitted, data), "squared"
        else:
            value, loss = _logistic_nic(self.id, fitted, data), "log-loss"
        return closed_form(self, data, value, loss, training, "independent rows, and a sample that is large")


def _squared_nic(method: str, fitted: Fitted, data: Data) -> float:
    fit = linear_fit(method, fitted, data)
    Z, shape = _with_intercept(fit.Z, fit.intercept)
    hessian = 2 * (Z.T @ Z + fit.penalty * np.diag(shape)) / fit.n
    return fit.mse + nic_penalty(-2 * fit.residuals[:, None] * Z, hessian)


def _with_intercept(Z: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """Return the inputs with a column of ones first, and 1 for penalised columns, 0 for that one."""
    if not intercept:
        return Z, np.ones(Z.shape[1])
    return np.column_stack([np.ones(len(Z)), Z]), np.concatenate([[0.0], np.ones(Z.shape[1])])


def _logistic_nic(method: str, fitted: Fitted, data: Data) -> float:
    if data.groups is not None:
        raise NotApplicable(f"{method} needs independent rows, and these are grouped; use a resampling method.")
    final = getattr(fitted.native, "steps", [(None, fitted.native)])[-1][1]
    if not (hasattr(final, "coef_") and hasattr(final, "predict_proba")):
        raise NotApplicable(f"{method} is for linear and logistic regression; {type(final).__name__} is another model.")
    Z, final = features_and_final(fitted, data.X)
    coef = np.atleast_2d(np.asarray(final.coef_, dtype=float))
    Z, penalised = _with_intercept(Z, bool(getattr(final, "fit_intercept", True)))
    if len(coef) * Z.shape[1] > MOST_PARAMETERS:
        raise NotApplicable(f"{method}: {len(coef) * Z.shape[1]} parameters are more than {MOST_PARAMETERS}.")
    scores = fitted.scores(data.X)
    assert scores is not None
    chance = scores[0]
    truth = np.eye(chance.shape[1])[data.codes]
    active = chance.shape[1] if len(coef) > 1 else 1
    gradients = _per_class((chance - truth)[:, -active:], Z)
    weights = coef if Z.shape[1] == coef.shape[1] else np.column_stack([np.zeros(len(coef)), coef])
    curvature, ridge = _logistic_hessian(chance[:, -active:], Z), np.tile(penalised, active) / len(Z)
    train = -np.log(np.clip(np.sum(chance * truth, axis=1), np.finfo(float).eps, 1.0)).mean()
    for penalty in _strengths(final):
        hessian = curvature + penalty * np.diag(ridge)
        excess = nic_penalty(gradients, hessian)
        slope = gradients.mean(axis=0) + penalty * ridge * weights.ravel()
        flat = np.linalg.norm(slope) <= SMALL_SHARE * np.linalg.norm(np.abs(gradients).mean(axis=0))
        if flat and slope @ np.linalg.pinv(hessian, hermitian=True) @ slope / 2 <= SMALL_SHARE * excess:
            return float(train) + excess
    raise NotApplicable(
        f"{method} is for logistic regression by likelihood; {type(final).__name__} was fitted otherwise, or not to the end."
    )


def _per_class(gap: Floats, Z: Floats) -> Floats:
    return np.asarray((gap[:, :, None] * Z[:, None, :]).reshape(len(Z), -1))


def _strengths(final: Any) -> tuple[float, float]:
    """Return the penalties a fit may have had: none, or that of scikit-learn's inverse strength C."""
    strength = np.ravel(getattr(final, "C_", getattr(final, "C", np.inf)))
    return 0.0, float(1 / strength[0])


def _logistic_hessian(chance: Floats, Z: Floats) -> Floats:
    n_classes, p = chance.shape[1], Z.shape[1]
    hessian = np.empty((n_classes * p, n_classes * p))
    for a in range(n_classes):
        for b in range(n_classes):
            weight = chance[:, a] * ((a == b) - chance[:, b])
            hessian[a * p : (a + 1) * p, b * p : (b + 1) * p] = (Z * weight[:, None]).T @ Z / len(Z)
    return hessian
