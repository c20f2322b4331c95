"""A model trained elsewhere, used as it is; and a copy of it trained again, as a calibration needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, KindError
from unseen.core.model import Fitted, Model, is_fitted

__all__ = ["Pretrained", "as_pretrained", "train_again"]


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A trained object or a function, never changed."""

    native: Any
    sample_shape: tuple[int, ...] = ()

    def predict(self, X: Any) -> Array:
        """Return one label per row."""
        X = _in_shape(X, self.sample_shape)
        return np.asarray(self.native.predict(X) if hasattr(self.native, "predict") else self.native(X))

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return class probabilities if the object has them."""
        if not hasattr(self.native, "predict_proba"):
            return None
        return np.asarray(self.native.predict_proba(_in_shape(X, self.sample_shape)), dtype=float), "probability"


def as_pretrained(model: Any) -> Fitted:
    """Return a trained model as it is; a plain function counts as its `predict`."""
    if is_fitted(model):
        return cast(Fitted, model)
    if isinstance(model, type) or not (callable(getattr(model, "predict", None)) or callable(model)):
        raise KindError(f"the fitted model is {model!r}; give an object with predict, or a function of X.")
    return Pretrained(model)


def train_again(model: Model | Fitted, data: Data, seed: int) -> Fitted:
    """Return the same kind of model trained anew on `data`."""
    if not isinstance(model, Fitted):
        return model.fit(data, seed)
    native = model.native
    if not hasattr(native, "get_params") or not hasattr(native, "fit"):
        raise InputError(
            f"calibration trains the model again, and {type(native).__name__} cannot be trained from here; use an "
            "uncalibrated method, or hand in an object with fit and get_params."
        )
    from sklearn.base import clone

    fresh = clone(native)
    unset = [k for k, v in fresh.get_params().items() if v is None and k.split("__")[-1] == "random_state"]
    fresh.set_params(**{name: (seed + j) % (2**31 - 1) for j, name in enumerate(sorted(unset))})
    shape = getattr(model, "sample_shape", ())
    return Pretrained(fresh.fit(_in_shape(data.X, shape), data.y), shape)


def _in_shape(X: Any, shape: tuple[int, ...]) -> Any:
    """Return flat rows as examples of the shape that a model of images reads."""
    return X.reshape(len(X), *shape) if shape else X
