"""Coefficients with intervals, tolerance of noise, and the test of any dependence at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model
from unseen.core.rng import stream

__all__ = [
    "Coefficients",
    "Corrupted",
    "Dependence",
    "NoiseTolerance",
    "coefficient_names",
    "jackknife_coefficients",
    "quantile_coefficients",
    "read_coefficients",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Coefficients:
    """Coefficients of the model fitted on all rows, with intervals from refits.

    Parameters
    ----------
    names : tuple of str
        Features, or class: feature where there are several rows of coefficients.
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
        """Which coefficients cannot be told from zero."""
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
    """Return the flat coefficients of a fitted model, or of the last step of a pipeline; None where it has none."""
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


@dataclass(frozen=True, eq=False)
class Corrupted:
    """A model whose training data are corrupted before every fit.

    Parameters
    ----------
    model : Model
        What is trained.
    rate : float
        Share of labels replaced by another class; for numbers and for features, the standard deviation of the added
        noise as a multiple of the column's own.
    what : {"labels", "features"}
        What is corrupted.
    """

    model: Model
    rate: float
    what: str = "labels"

    @property
    def name(self) -> str:
        """Description of the model."""
        return f"{self.model.name}, {self.what} corrupted at {self.rate:g}"

    def fit(self, data: Data, seed: int) -> Fitted:
        """Fit on corrupted rows; the same seed corrupts the same way."""
        rng = stream(seed, "corrupt", self.what)
        return self.model.fit(self._labels(data, rng) if self.what == "labels" else self._features(data, rng), seed)

    def _labels(self, data: Data, rng: np.random.Generator) -> Data:
        if data.classes is None:
            return replace(data, y=data.y + self.rate * data.y.std() * rng.standard_normal(data.n))
        hit = rng.random(data.n) < self.rate
        shift = rng.integers(1, len(data.classes), data.n)
        codes = np.where(hit, (data.codes + shift) % len(data.classes), data.codes)
        return replace(data, y=data.classes[codes])

    def _features(self, data: Data, rng: np.random.Generator) -> Data:
        X = data.X
        if hasattr(X, "tocsr"):
            raise InputError("noise in the features of a sparse matrix would fill it; corrupt the labels instead.")
        if not hasattr(X, "iloc"):
            return replace(data, X=X + self.rate * np.nanstd(X, axis=0) * rng.standard_normal(X.shape))
        frame = X.copy()
        for name in frame.columns[[d.kind in "fiu" if isinstance(d, np.dtype) else False for d in frame.dtypes]]:
            frame[name] = frame[name] + self.rate * frame[name].std() * rng.standard_normal(len(frame))
        return replace(data, X=frame)


@dataclass(frozen=True, kw_only=True)
class NoiseTolerance:
    """Out-of-bag error of models trained on bootstrap samples with growing noise.

    Parameters
    ----------
    what : str
        What was corrupted.
    rates, error, low, high : tuple of float
        Noise, mean error over the bootstrap samples and the limits of their middle `level`.
    level : float
        Share of the samples between the limits.
    """

    what: str
    rates: tuple[float, ...]
    error: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float


@dataclass(frozen=True, eq=False)
class Dependence:
    """Test of any dependence between features and target, by permuting the target.

    Parameters
    ----------
    error : float
        Cross-validated error on the data.
    permuted : ndarray
        The same on permuted targets.
    """

    error: float
    permuted: Floats

    @property
    def p(self) -> float:
        """Share of permutations with an error at most as large, the data counted among them."""
        return float((1 + np.sum(self.permuted <= self.error + 1e-12)) / (1 + len(self.permuted)))
