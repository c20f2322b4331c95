"""Recognises linear models whose fits on parts of the data follow exactly from one factorisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.plan import Split
from unseen.engine.threads import limited_threads
from unseen.models.exact.hat import factorize

__all__ = ["ExactFits", "LinearRule", "answer", "is_sklearn", "steps_of"]

MAX_WEIGHTS = 2000  # the normal equations then take 32 MB
MAX_PREDICTIONS = 200_000_000  # 1.6 GB of predictions; beyond that the engine refits split by split
MOST_UNSAFE = 0.2  # if more fits than this need refitting, the engine does it in parallel
# each maps a column x to a x + b, where a and b come from the training part
SHIFTING = {"StandardScaler": "with_mean", "RobustScaler": "with_centering", "MinMaxScaler": None}
SCALING = {"StandardScaler": "with_std", "RobustScaler": "with_scaling", "MinMaxScaler": None, "MaxAbsScaler": None}


class ExactFits:
    """A learner whose fits on parts of the data need no refitting; registers in the group `exact` for the engine."""

    group: ClassVar[str] = "exact"
    id: ClassVar[str] = ""

    def fit_many(
        self, model: Any, data: Data, splits: Sequence[Split], seeds: Sequence[int]
    ) -> list[tuple[Array, None]] | None:
        """Return every fit's predictions for all rows, or None if this model must be refitted."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinearRule:
    """Penalty and intercept of a is_sklearn model."""

    penalty: float
    intercept: bool


def steps_of(estimator: Any) -> tuple[list[Any], Any]:
    """Return the transformers and the final estimator of a pipeline, or of a bare estimator."""
    if type(estimator).__name__ == "Pipeline" and _from_sklearn(estimator):
        steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
        return (steps[:-1], steps[-1]) if steps else ([], None)
    return [], estimator


def _from_sklearn(thing: Any) -> bool:
    return type(thing).__module__.startswith("sklearn.")


def is_sklearn(thing: Any, name: str) -> bool:
    """Say whether an object is exactly the scikit-learn class of this name, not a class derived from it."""
    return _from_sklearn(thing) and type(thing).__name__ == name


def harmless(scalers: Sequence[Any], intercept: bool, may_scale: bool) -> bool:
    """Say whether scaling by the training part changes no prediction of the linear model behind it."""
    for scaler in scalers:
        name = type(scaler).__name__
        if not _from_sklearn(scaler) or name not in SCALING or getattr(scaler, "clip", False):
            return False
        shifts = name in SHIFTING and (SHIFTING[name] is None or bool(getattr(scaler, SHIFTING[name] or "")))
        scales = SCALING[name] is None or bool(getattr(scaler, SCALING[name] or ""))
        if (shifts and not intercept) or (scales and not may_scale):
            return False
    return True


def answer(
    rule: LinearRule, model: Any, data: Data, splits: Sequence[Split], seeds: Sequence[int]
) -> list[tuple[Array, None]] | None:
    """Return every fit's predictions for all rows, or None if refitting is the exact way."""
    X = _numbers(data.X)
    if X is None or len(splits) * data.n > MAX_PREDICTIONS or X.shape[1] > MAX_WEIGHTS:
        return None
    weights = data.weights
    if weights is not None and not np.all(weights > 0):
        return None
    # one thread, as every fit has, so that workers and the main process get the same bits
    with limited_threads(1):
        fit = factorize(X, np.asarray(data.y, dtype=float), rule.penalty, rule.intercept, weights)
        if fit is None:
            return None
        values, safe = fit.predictions(np.stack([np.bincount(s.train, minlength=data.n) for s in splits]))
        if np.mean(~safe) > MOST_UNSAFE:
            return None
        try:
            for j in map(int, np.flatnonzero(~safe)):
                values[j] = model.fit(data.take(splits[j].train), seeds[j]).predict(data.X)
        except Exception:  # the engine turns a failed fit into a row with a reason
            return None
    return [(row, None) for row in values]


def _numbers(X: Any) -> Floats | None:
    if X is None or hasattr(X, "tocsr"):
        return None
    if hasattr(X, "dtypes") and not all(getattr(kind, "kind", "O") in "fiu" for kind in X.dtypes):
        return None
    values = np.asarray(X)
    # single precision is fitted in single precision by scikit-learn, so its numbers are not these
    if values.dtype.kind not in "fiu" or values.dtype == np.float32 or not np.all(np.isfinite(values)):
        return None
    return values.astype(float)
