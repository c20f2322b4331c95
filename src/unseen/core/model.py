"""What the engine asks of a model; `unseen.models` makes one from whatever the user has."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data

__all__ = ["Fitted", "Model", "is_fitted"]


@runtime_checkable
class Fitted(Protocol):
    """A trained model.

    `native` is the object underneath; `predict` returns labels or numbers; `scores` returns probabilities or
    decision values with their kind, or None.
    """

    @property
    def native(self) -> Any:
        """The object underneath."""
        ...

    def predict(self, X: Any) -> Array:
        """Return one label or number per row."""
        ...

    def scores(self, X: Any) -> tuple[Floats, str] | None:
        """Return scores and "probability" or "decision"."""
        ...


@runtime_checkable
class Model(Protocol):
    """Something that can be trained, again and again, without being changed by it."""

    @property
    def name(self) -> str:
        """Description of the model."""
        ...

    def fit(self, data: Data, seed: int) -> Fitted:
        """Return a new trained model; the same data and seed give the same one."""
        ...


def is_fitted(model: object) -> bool:
    """Return whether an object is a `Fitted`; `isinstance` gives the same, ten times slower.

    Examples
    --------
    >>> is_fitted(print)
    False
    """
    return hasattr(model, "native") and hasattr(model, "predict") and hasattr(model, "scores")
