"""What every direct method starts with: a trained model, fitted once if need be, and its labels as codes."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from unseen.core.arrays import Array
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model, is_fitted

__all__ = ["codes_of", "trained"]


def trained(model: Model | Fitted, data: Data, rng: np.random.Generator) -> tuple[Fitted, int, float]:
    """Return a trained model, how many fits that took (0 or 1) and the seconds."""
    if is_fitted(model):
        return cast(Fitted, model), 0, 0.0
    start = time.perf_counter()
    fitted = cast(Model, model).fit(data, int(rng.integers(2**31 - 1)))
    return fitted, 1, time.perf_counter() - start


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
