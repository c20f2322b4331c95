"""The Vapnik-Chervonenkis bound on the true error (Vapnik & Chervonenkis, 1971; Ghane, 2022, equation 2.13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate, Interval, Target, check_level
from unseen.core.kinds import DirectMethod
from unseen.core.model import Fitted
from unseen.core.notes import Note, note
from unseen.core.registry import register
from unseen.core.training import codes_of, fit_once

__all__ = ["VcBound", "vc_radius"]


def vc_radius(n: int, dimension: int, level: float) -> float:
    """Return the tau at which 8 (n + 1)^V exp(-n tau^2 / 32) falls to 1 - level.

    Examples
    --------
    >>> tau = vc_radius(100_000, 3, 0.95)
    >>> round(float(8 * 100_001.0**3 * np.exp(-100_000 * tau**2 / 32)), 6)
    0.05
    """
    return float(np.sqrt(32 / n * (np.log(8) + dimension * np.log(n + 1) - np.log(1 - level))))


@register
@dataclass(frozen=True)
class VcBound(DirectMethod):
    """Training error plus tau: with probability `level` no classifier of the family has a larger error.

    The interval is training error -/+ tau, cut to [0, 1]; it holds for every distribution of the data, and is vacuous
    (note U014) unless there are very many rows.

    Parameters
    ----------
    dimension : int or None
        VC dimension of the classification rule; None takes d + 1 for a linear rule in d inputs and refuses others.

    References
    ----------
    Vapnik, V. N. and Chervonenkis, A. Y. (1971). On the uniform convergence of relative frequencies of events to
    their probabilities. Theory of Probability and its Applications 16, 264-280.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> e = unseen.estimate(LinearDiscriminantAnalysis(), X, y, method="vc-bound", random_state=0)
    >>> e.value > 1, [n.code for n in e.notes]
    (True, ['U014'])
    """

    dimension: int | None = None
    id: ClassVar[str] = "vc-bound"
    target: ClassVar[Target] = Target.MODEL
    in_assess: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U014"})

    def __post_init__(self) -> None:
        if self.dimension is not None and self.dimension < 1:
            raise InputError(f"{self.id}: dimension is {self.dimension!r}; a VC dimension is at least 1 here.")

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> Estimate:
        """Return the bound as value, and both sides of it as interval."""
        check_level(level)
        if data.classes is None or len(data.classes) != 2:
            raise NotApplicable(f"{self.id} is a bound for two classes; the target is of another kind.")
        if data.groups is not None:
            raise NotApplicable(f"{self.id} needs independent rows, and these are grouped.")
        training = fit_once(model, data, rng)
        fitted = training.fitted
        error = float(np.mean(codes_of(fitted.predict(data.X), data) != data.codes))
        tau = vc_radius(data.n, self.dimension or _linear_dimension(fitted), level)
        notes: tuple[Note, ...] = ()
        if error + tau > 1:
            notes = (note("U014", f"training error {error:.4g} plus {tau:.4g} is above 1"),)
        interval = Interval(error - tau, error + tau, level).clip(0.0, 1.0)
        target = self.target.at_share(data)
        return Estimate(
            value=error + tau,
            std_error=None,
            interval=interval,
            df=None,
            method=self.id,
            target=target,
            loss="zero-one",
            n_units=data.n_units,
            n_fits=training.n_fits,
            seconds=training.seconds,
            notes=notes,
        )


def _linear_dimension(fitted: Fitted) -> int:
    final = getattr(fitted.native, "steps", [(None, fitted.native)])[-1][1]
    coef = getattr(final, "coef_", None)
    if coef is None or np.ndim(coef) == 0 or np.size(coef) != np.shape(coef)[-1]:
        raise NotApplicable(
            f"vc-bound knows the VC dimension of linear rules only, and {type(final).__name__} is none; give dimension=."
        )
    return int(np.size(coef)) + 1
