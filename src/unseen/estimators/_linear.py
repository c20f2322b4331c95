"""What closed forms need of a linear model, taken from the fitted object and checked against its normal equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import NotApplicable
from unseen.core.estimate import Estimate
from unseen.core.model import Fitted
from unseen.core.notes import Note, note
from unseen.core.training import Training

__all__ = ["LinearFit", "closed_form", "features_and_final", "least_squares_only", "linear_fit"]

TOLERANCE = (
    1e-4  # of the slope at the solution, relative to its terms: what an iterative solver leaves, far below another loss
)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A least-squares or ridge fit: inputs as the final estimator saw them, residuals, penalty, intercept or none.

    Examples
    --------
    >>> Z = np.array([[-1.0], [0.0], [1.0]])
    >>> fit = LinearFit(Z, np.zeros(3), 0.0, True)
    >>> fit.effective, fit.leverages.round(4).tolist()
    (2.0, [0.8333, 0.3333, 0.8333])
    """

    Z: Floats
    residuals: Floats
    penalty: float
    intercept: bool

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.residuals)

    @property
    def mse(self) -> float:
        """Mean squared residual S_N."""
        return float(np.mean(np.square(self.residuals)))

    @cached_property
    def centred(self) -> Floats:
        """Inputs, centred if there is an intercept."""
        return self.Z - self.Z.mean(axis=0) if self.intercept else self.Z

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        u, s, _ = np.linalg.svd(self.centred, full_matrices=False)
        keep = s > (s.max(initial=0.0) * max(self.Z.shape) * np.finfo(float).eps)
        u, s = u[:, keep], s[keep]
        return u, np.square(s) / (np.square(s) + self.penalty)

    @cached_property
    def effective(self) -> float:
        """Effective parameters tr(H); the number of parameters if nothing is penalised."""
        return float(self.intercept + self._spectrum[1].sum())

    @cached_property
    def effective_squared(self) -> float:
        """tr(H H), the second count of effective parameters."""
        return float(self.intercept + np.square(self._spectrum[1]).sum())

    @cached_property
    def leverages(self) -> Floats:
        """Diagonal of the hat matrix H."""
        u, shrink = self._spectrum
        return np.asarray(np.square(u) @ shrink + self.intercept / self.n)


def features_and_final(fitted: Fitted, X: Any) -> tuple[Floats, Any]:
    """Return the inputs as the last step of a pipeline sees them, and that step."""
    final = fitted.native
    if hasattr(final, "steps"):
        if len(final.steps) > 1:
            X = final[:-1].transform(X)
        final = final.steps[-1][1]
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        return np.asarray(X, dtype=float), final
    except (TypeError, ValueError) as error:
        raise NotApplicable("a closed form needs numeric inputs; encode text columns in a pipeline.") from error


def linear_fit(method: str, fitted: Fitted, data: Data) -> LinearFit:
    """Return the linear fit behind a model, or refuse a model of any other kind.

    The class of the model does not matter: what is refused is a model whose residuals break the normal equations of
    (penalised) least squares.
    """
    if data.task != "regression":
        raise NotApplicable(f"{method} is a closed form for regression by least squares; the target has classes.")
    if data.groups is not None:
        raise NotApplicable(f"{method} needs independent rows, and these are grouped; use a resampling method.")
    final = getattr(fitted.native, "steps", [(None, fitted.native)])[-1][1]
    coef = getattr(final, "coef_", None)
    if (
        coef is None
        or np.ndim(coef) == 0
        or np.size(coef) != np.shape(coef)[-1]
        or np.ndim(getattr(final, "intercept_", 0.0)) > 1
    ):
        raise NotApplicable(f"{method} is for linear models; {type(final).__name__} has no vector of coefficients.")
    Z, final = features_and_final(fitted, data.X)
    coef = np.ravel(np.asarray(coef, dtype=float))
    if Z.shape[1] != len(coef):
        raise NotApplicable(f"{method}: {type(final).__name__} has {len(coef)} coefficients for {Z.shape[1]} inputs.")
    residuals = np.asarray(data.y - np.ravel(fitted.predict(data.X)), dtype=float)
    intercept = bool(getattr(final, "fit_intercept", np.any(np.asarray(getattr(final, "intercept_", 0.0)))))
    for penalty in _penalties(final):
        fit = LinearFit(Z, residuals, penalty, intercept)
        if _solves_normal_equations(fit, coef, np.abs(data.y).max()):
            break
    else:
        raise NotApplicable(
            f"{method} is for models fitted by least squares or ridge; {type(final).__name__} is another."
        )
    if fit.effective >= fit.n - 1e-9:
        raise NotApplicable(f"{method} needs more rows than parameters: there are {fit.n} rows.")
    return fit


def _penalties(final: Any) -> list[float]:
    values = [getattr(final, name, None) for name in ("alpha_", "alpha")]
    return [0.0, *(float(v) for v in values if isinstance(v, (int, float, np.number)) and v > 0)]


def _solves_normal_equations(fit: LinearFit, coef: Floats, largest: float) -> bool:
    slope = fit.centred.T @ fit.residuals - fit.penalty * coef
    scale = np.linalg.norm(np.abs(fit.centred).T @ np.abs(fit.residuals)) + fit.penalty * np.linalg.norm(coef)
    level = fit.residuals.sum() if fit.intercept else 0.0
    # A fit through all points leaves nothing but rounding: of targets, and of the products that add up to them.
    terms = np.sqrt(fit.n) * largest + np.linalg.norm(fit.centred) * np.linalg.norm(coef)
    rounding = np.finfo(float).eps * max(fit.Z.shape) * terms
    return bool(
        np.linalg.norm(slope) <= TOLERANCE * scale + rounding * np.linalg.norm(fit.centred)
        and abs(level) <= TOLERANCE * np.abs(fit.residuals).sum() + rounding * np.sqrt(fit.n)
    )


def least_squares_only(method: str, fit: LinearFit) -> None:
    """Refuse a penalised fit."""
    if fit.penalty > 0:
        raise NotApplicable(f"{method} is for plain least squares; use gpe or gcv for a ridge penalty.")


def closed_form(method: Any, data: Data, value: float, loss: str, training: Training, text: str = "") -> Estimate:
    """Return the estimate of a closed form, with the note on what it assumes."""
    words = text or "independent noise of one variance, and inputs that were not chosen with the target in sight"
    notes: tuple[Note, ...] = (note("U016", words),)
    target = method.target.at_share(data)
    return Estimate(
        value=value,
        std_error=None,
        interval=None,
        df=None,
        method=method.id,
        target=target,
        loss=loss,
        n_units=data.n_units,
        n_fits=training.n_fits,
        seconds=training.seconds,
        notes=notes,
    )
