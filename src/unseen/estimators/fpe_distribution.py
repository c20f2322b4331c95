"""The asymptotic law of the generalization error of a least-squares model (Larsen & Hansen, 1995)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.kinds import DirectMethod
from unseen.core.notes import note
from unseen.core.registry import register
from unseen.core.training import fit_once
from unseen.estimators._linear import closed_form, least_squares_only, linear_fit

__all__ = ["FpeDistribution", "FpeLaw"]


@dataclass(frozen=True, kw_only=True)
class FpeLaw(Estimate):
    """An estimate that is the mean of a law: G = sigma2 (1 + chi2(p) / N) over training sets.

    Parameters
    ----------
    sigma2 : float
        Noise variance, RSS / (N - p).
    p : float
        Number of parameters.

    Examples
    --------
    >>> from unseen.core.estimate import Target
    >>> law = FpeLaw(
    ...     value=1.1, std_error=None, interval=None, df=None, method="fpe-distribution", target=Target.ALGORITHM,
    ...     loss="squared", n_units=20, n_fits=1, sigma2=1.0, p=2.0,
    ... )
    >>> law.mean, law.std, round(law.fractile(0.5), 4)
    (1.1, 0.1, 1.0693)
    """

    sigma2: float = float("nan")
    p: float = float("nan")

    @property
    def mean(self) -> float:
        """sigma2 (1 + p / N)."""
        return self.sigma2 * (1 + self.p / self.n_units)

    @property
    def std(self) -> float:
        """sigma2 sqrt(2 p) / N."""
        return self.sigma2 * float(np.sqrt(2 * self.p)) / self.n_units

    def fractile(self, share: float) -> float:
        """Return the error that a share of training sets stays below; log(1 + .) of it is the fractile of log(1 + G)."""
        from scipy.special import chdtri

        if not 0 <= share < 1:
            raise InputError(f"fractile({share!r}): the share lies in [0, 1).")
        return self.sigma2 * (1 + float(chdtri(self.p, 1 - share)) / self.n_units)

    def cdf(self, errors: Array) -> Floats:
        """Return the share of training sets with an error of at most `errors`."""
        from scipy.special import chdtr

        scaled = (np.asarray(errors, dtype=float) - self.sigma2) * self.n_units / self.sigma2
        return np.asarray(chdtr(self.p, np.maximum(scaled, 0.0)))

    def density(self, errors: Array) -> Floats:
        """Return the density of G."""
        from scipy.stats import chi2

        scale = self.sigma2 / self.n_units
        return np.asarray(chi2.pdf((np.asarray(errors, dtype=float) - self.sigma2) / scale, self.p) / scale)

    def row(self) -> dict[str, Any]:
        """Return the shared columns, the spread and the fractiles .05, .25, .5, .75, .95."""
        fractiles = {f"q{100 * q:02.0f}": self.fractile(q) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
        return {**super().row(), "std": self.std, **fractiles}


@register
@dataclass(frozen=True)
class FpeDistribution(DirectMethod):
    """Mean and fractiles of sigma^2 (1 + chi2(p) / N), to compare with the leave-out distribution.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> law = unseen.estimate(LinearRegression(), X, y, method="fpe-distribution", random_state=0)
    >>> law.p, law.fractile(0.05) < law.value < law.fractile(0.95)
    (11.0, True)
    """

    id: ClassVar[str] = "fpe-distribution"
    in_assess: ClassVar[bool] = False
    whole_model: ClassVar[bool] = True
    note_codes: ClassVar[frozenset[str]] = frozenset({"U016", "U023"})

    def __call__(self, model: Any, data: Data, *, rng: np.random.Generator, level: float = 0.95) -> FpeLaw:
        """Return the law; its mean is the value."""
        training = fit_once(model, data, rng)
        fit = linear_fit(self.id, training.fitted, data)
        least_squares_only(self.id, fit)
        n, p = fit.n, fit.effective
        sigma2 = fit.mse * n / (n - p)
        plain = closed_form(self, data, sigma2 * (1 + p / n), "squared", training)
        plain = replace(plain, notes=(*plain.notes, note("U023", "the noise variance is RSS / (N - p)")))
        return FpeLaw(**vars(plain), sigma2=sigma2, p=p)
