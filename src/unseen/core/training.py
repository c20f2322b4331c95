"""What every direct method starts with: a trained model, fitted once if it is not yet, and its labels as codes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model, is_fitted

__all__ = ["Training", "codes_of", "fit_once"]


@dataclass(frozen=True)
class Training:
    """A trained model, how many fits that took, and how many seconds."""

    fitted: Fitted
    n_fits: int = 0
    seconds: float = 0.0

    def plus(self, n_fits: int, seconds: float) -> Training:
        """Return the same model with further fits and seconds counted, such as those of a calibration."""
        return replace(self, n_fits=self.n_fits + n_fits, seconds=self.seconds + seconds)


def fit_once(model: Model | Fitted, data: Data, rng: np.random.Generator) -> Training:
    """Return a trained model as it is, or fit the model once on all rows."""
    if is_fitted(model):
        return Training(cast(Fitted, model))
    start = time.perf_counter()
    fitted = cast(Model, model).fit(data, int(rng.integers(2**31 - 1)))
    return Training(fitted, 1, time.perf_counter() - start)


def codes_of(labels: Array, data: Data) -> Array:
    """Return predicted labels as class codes (or numbers as they are), refusing labels the data do not have."""
    if data.classes is None:
        return np.asarray(labels, dtype=float)
    codes = np.minimum(np.searchsorted(data.classes, labels), len(data.classes) - 1)
    wrong = data.classes[codes] != labels
    if np.any(wrong):
        raise InputError(
            f"the model predicts {labels.tolist()[int(np.argmax(wrong))]!r}, which is not among the labels {data.classes.tolist()}."
        )
    return codes.astype(np.int64)
