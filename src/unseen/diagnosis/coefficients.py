"""Coefficients of a model with intervals from its refits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.model import Fitted
from unseen.core.rng import task_seed
from unseen.core.training import fit_rows
from unseen.designs.bootstrap import Bootstrap
from unseen.request.request import Request

__all__ = ["Coefficients", "coefficients_of", "jackknife_coefficients", "read_coefficients"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Coefficients:
    """Coefficients of the model fitted on all rows, with intervals from refits.

    Parameters
    ----------
    names : tuple of str
        Features, or class: feature if there are several rows of coefficients.
    value, std_error, low, high : ndarray
        Coefficients of the fit on all rows and their uncertainty.
    method : str
        "delete-d jackknife" or "bootstrap quantiles".
    level : float
        Confidence level.
    """

    names: tuple[str, ...]
    value: Floats
    std_error: Floats
    low: Floats
    high: Floats
    method: str
    level: float

    @property
    def near_zero(self) -> Any:
        """Which coefficients cannot be distinguished from zero."""
        return (self.low <= 0) & (self.high >= 0)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per coefficient."""
        return [
            {
                "coefficient": name,
                "value": float(v),
                "std_error": float(s),
                "lower": float(a),
                "upper": float(b),
                "indistinguishable from zero": bool(z),
            }
            for name, v, s, a, b, z in zip(self.names, self.value, self.std_error, self.low, self.high, self.near_zero)
        ]


def read_coefficients(fitted: Fitted, train: Data, test: Data) -> Floats | None:
    """Return the flat coefficients of a fitted model, or of the last step of a pipeline; None if it has none."""
    native = fitted.native
    last = native.steps[-1][1] if hasattr(native, "steps") else native
    values = getattr(last, "coef_", None)
    if values is None or hasattr(values, "tocsr"):
        return None
    return np.atleast_2d(np.asarray(values, dtype=float)).reshape(-1)


def coefficient_names(fitted: Fitted, data: Data, size: int) -> tuple[str, ...]:
    """Return a name for each coefficient: the features as the last step sees them, with the class before them if several."""
    native = fitted.native
    names = list(data.names) or [f"x{k + 1}" for k in range(data.n_features)]
    if hasattr(native, "steps") and len(native.steps) > 1:
        try:
            given = None if hasattr(native, "feature_names_in_") else np.array(names, dtype=object)
            names = [str(n) for n in native[:-1].get_feature_names_out(given)]
        except (AttributeError, ValueError, NotImplementedError):
            names = names if size % len(names) == 0 else []
    if not names or size % len(names):
        return tuple(f"b{k + 1}" for k in range(size))
    several = size // len(names)
    if several == 1:
        return tuple(names)
    heads = (
        [str(c) for c in data.classes]
        if data.classes is not None and len(data.classes) == several
        else range(1, several + 1)
    )
    return tuple(f"{head}: {name}" for head in heads for name in names)


def jackknife_coefficients(
    values: Floats, full: Floats, names: tuple[str, ...], n_train: float, n_test: float, level: float
) -> Coefficients:
    """Return coefficients with delete-d jackknife errors: variance (n1 / n2) (1 / J) sum (b_j - mean)^2.

    The raw spread over overlapping splits is far too small, and is never shown as an interval.

    References
    ----------
    Shao, J. and Wu, C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17,
    1176-1197.
    """
    from scipy.special import ndtri

    se = np.sqrt(n_train / n_test * values.var(axis=0))
    half = float(ndtri((1 + level) / 2)) * se
    return Coefficients(
        names=names,
        value=full,
        std_error=se,
        low=full - half,
        high=full + half,
        method="delete-d jackknife",
        level=level,
    )


def quantile_coefficients(values: Floats, full: Floats, names: tuple[str, ...], level: float) -> Coefficients:
    """Return coefficients with quantiles of their values on bootstrap samples."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Coefficients(
        names=names,
        value=full,
        std_error=values.std(axis=0, ddof=1),
        low=low,
        high=high,
        method="bootstrap quantiles",
        level=level,
    )


def coefficients_of(request: Request, table: LossTable, how: str, samples: int) -> Coefficients | None:
    """Return the coefficients of the fit on all rows with their intervals; None if the model has none of a fixed number.

    `table` is a leave-out run with the probe `read_coefficients`; how="bootstrap" fits `samples` bootstrap samples instead.
    """
    trained = fit_rows(request.model, request.data, task_seed(request.seed, "fit", "full"))
    full = read_coefficients(trained, request.data, request.data)
    if full is None:
        return None
    if how == "bootstrap":
        table = request.run(Bootstrap(samples), probes={"coefficients": read_coefficients}).losses(request.loss)
    found = [b for b in table.source[0].probe("coefficients") if b is not None]
    if len(found) < 2 or any(len(b) != len(full) for b in found):
        return None
    names = coefficient_names(trained, request.data, len(full))
    if how == "bootstrap":
        return quantile_coefficients(np.array(found), full, names, request.level)
    sizes = table.plan.mean_sizes()
    return jackknife_coefficients(np.array(found), full, names, sizes[1], sizes[0], request.level)
