"""Tolerance of noise: bootstrap, corrupt, retrain, and test on the clean units out of the bag."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model
from unseen.core.rng import stream
from unseen.designs.bootstrap import Bootstrap
from unseen.request.request import Request

__all__ = ["Corrupted", "NoiseTolerance", "noise_tolerance"]


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


def noise_tolerance(request: Request, samples: int, what: str, rates: tuple[float, ...]) -> NoiseTolerance | None:
    """Bootstrap, corrupt, retrain, and test on the clean units out of the bag."""
    if samples < 1 or request.data.order is not None:
        return None
    rows = []
    for rate in rates:
        means = (
            request.run(Bootstrap(samples), model=Corrupted(request.model, rate, what))
            .losses(request.loss)
            .split_means()
        )
        low, high = np.quantile(means, [(1 - request.level) / 2, (1 + request.level) / 2])
        rows.append((rate, float(means.mean()), float(low), float(high)))
    at, error, low_ends, high_ends = zip(*rows)
    return NoiseTolerance(what=what, rates=at, error=error, low=low_ends, high=high_ends, level=request.level)
