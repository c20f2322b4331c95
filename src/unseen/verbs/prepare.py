"""The check at the front of every verb: what the user gave, as data, model, design and seed."""

from __future__ import annotations

from typing import Any

from unseen.adapt.sklearn import as_fitted, as_model
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.core.model import Fitted, Model
from unseen.core.plan import Plan
from unseen.core.rng import stream
from unseen.datasets.frame import as_data

__all__ = ["data_of", "fitted_of", "model_of", "plan_of"]


def data_of(X: Any, y: Any, columns: dict[str, Any]) -> Data:
    """Return checked data; `Data` passes through, and a missing y is refused."""
    if isinstance(X, Data):
        return X
    if X is None or y is None:
        raise InputError(
            "X and y are needed where a model is to be fitted; give both, or a saved table instead of the model."
        )
    return as_data(X, y, **columns)


def model_of(model: Any, data: Data) -> Model:
    """Return a model for a name or an object with fit and predict."""
    if isinstance(model, str):
        from unseen.learners.named import named_model

        return as_model(named_model(model, data), data, model)
    return as_model(model, data)


def fitted_of(model: Any, data: Data) -> Fitted:
    """Return something already trained as it is, never to be refitted."""
    return as_fitted(model, data.classes)


def plan_of(design: Any, data: Data, seed: int) -> Plan:
    """Return the plan a design draws for a seed: the same seed gives the same splits to every model."""
    return design.plan(data, stream(seed, "plan", design.id))
