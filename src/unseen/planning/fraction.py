"""`unseen.optimal_fraction`: how much to hold out, for the best estimate of one model's error (Larsen & Hansen, 1995)."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.result import Result, plain

__all__ = ["OptimalFraction", "holdout_mse", "optimal_fraction"]

# beta / n from which on the leading order is below 0.3 and the next orders matter
EXPANSION_HOLDS_BELOW = 0.5
# with at least so many units, and units per weight, the number must lie this near the share that minimises the error itself
PRECISE_FROM, PRECISE_RATIO, PRECISE_WITHIN = 50, 20, 0.02


class OptimalFraction(float, Result):
    """The share of the data to hold out: a number, with the other forms of it beside.

    Attributes
    ----------
    rule : {"leading order", "numerical"}
        Where the number comes from.
    beta : float
        4 p / (kurtosis - 1).
    root : float
        Root of the asymptotic expansion, 1 + b - sqrt(b + b^2) with b = beta / n.
    exact : float
        Share that minimises the mean squared error of the hold-out estimate among whole test sizes; NaN if its
        moments do not exist.
    n, p, kurtosis
        What was given.
    """

    rule: str
    beta: float
    root: float
    exact: float
    n: int
    p: int
    kurtosis: float

    def __new__(cls, value: float, **parts: Any) -> OptimalFraction:
        """Make the number and set the parts as attributes."""
        self = super().__new__(cls, value)
        for name, part in parts.items():
            setattr(self, name, part)
        return self

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: the share and its other forms."""
        names = ("rule", "root", "exact", "beta", "n", "p", "kurtosis")
        return [{"fraction": float(self), **{name: getattr(self, name) for name in names}}]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        result: dict[str, Any] = plain(self.rows()[0])
        return result

    def __str__(self) -> str:
        return (
            f"hold out {float(self):.3f} of {self.n} units ({self.rule}; root of the expansion {self.root:.3f}, "
            f"exact for Gaussian inputs {self.exact:.3f})"
        )


def holdout_mse(n_train: Any, n: int, p: int, kurtosis: float = 3.0) -> Any:
    """Return the mean squared error of the hold-out estimate of sigma^2 (1 + v), in units of sigma^4.

    A linear model with p weights is fitted on `n_train` Gaussian inputs, so that v ~ chi2_p / chi2_(n_train - p + 1);
    its second moment exists for n_train > p + 3.

    Examples
    --------
    >>> round(float(holdout_mse(31, 100, 5)), 4)
    0.0423
    """
    size = np.asarray(n_train, dtype=float)
    free = size - p + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        first = p / (free - 2)
        second = p * (p + 2) / ((free - 2) * (free - 4))
        mse = ((kurtosis - 1) + 4 * first + 2 * second) / (n - size)
    return np.where((free > 4) & (size < n), mse, np.inf)


def optimal_fraction(n: int, p: int, kurtosis: float = 3.0) -> OptimalFraction:
    """Return the share of the data to hold out so that the error of the model trained on the rest is best estimated.

    To leading order gamma = 1 - sqrt(beta / n) with beta = 4 p / (kurtosis - 1). If beta / n is 0.5 or more, the
    expansion fails, and the share that minimises the mean squared error itself is returned; likewise if, with 50 units or
    more and 20 or more per weight, the two differ by more than .02. The expansion keeps p fixed as n grows: with p / n = c
    fixed, the share trained on tends to (sqrt(c^2 + 8 c) - c) / 2 and not to sqrt(2 c), a gap of .024
    for Gaussian noise and c = 1/20.

    Parameters
    ----------
    n : int
        Number of units.
    p : int
        Number of weights of the model.
    kurtosis : float
        Fourth moment of the noise over its squared variance; 3 for Gaussian noise.

    Returns
    -------
    OptimalFraction
        A float that carries `root`, `exact`, `beta` and `rule`.

    References
    ----------
    Larsen, J. and Hansen, L. K. (1995). Empirical generalization assessment of neural network models. NNSP.

    Examples
    --------
    >>> gamma = optimal_fraction(100, 5)
    >>> round(gamma, 3), round(gamma.exact, 3), round(gamma.root, 3)
    (0.684, 0.69, 0.768)
    >>> optimal_fraction(20, 10).rule
    'numerical'
    """
    for name, given in (("n", n), ("p", p)):
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
            raise InputError(f"optimal_fraction: {name} is {given!r}; it must be a whole number of at least 1.")
    if not kurtosis > 1 or not np.isfinite(kurtosis):
        raise InputError(f"optimal_fraction: kurtosis is {kurtosis!r}; that of any noise exceeds 1 (Gaussian: 3).")
    beta = 4 * p / (kurtosis - 1)
    b = beta / n
    exact = _best_share(int(n), int(p), kurtosis)
    leading = 1 - np.sqrt(b)
    dense = n >= PRECISE_FROM and n >= PRECISE_RATIO * p
    if b < EXPANSION_HOLDS_BELOW and not (dense and abs(leading - exact) > PRECISE_WITHIN + 1e-9):
        value, rule = leading, "leading order"
    elif np.isfinite(exact):
        value, rule = exact, "numerical"
    else:
        raise InputError(
            f"optimal_fraction: with {n} units and {p} weights no split has an error with a finite variance "
            f"(training needs more than p + 3 = {p + 3} units); use more data or fewer weights."
        )
    parts = {"root": float(1 + b - np.sqrt(b + b * b)), "exact": exact, "beta": beta, "n": int(n), "p": int(p)}
    return OptimalFraction(float(value), rule=rule, kurtosis=float(kurtosis), **parts)


def _best_share(n: int, p: int, kurtosis: float) -> float:
    sizes = np.arange(p + 4, n)
    if sizes.size == 0:
        return float("nan")
    return float(1 - sizes[np.argmin(holdout_mse(sizes, n, p, kurtosis))] / n)
